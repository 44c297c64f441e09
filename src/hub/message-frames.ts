/** Of a gRPC message on the wire: a byte for its compression, and its length as 32 bits. */
const HEADER_BYTES = 5;

/**
 * Messages of a stream that are written at once: a write costs the thread more than the bytes of a dozen small messages. The library
 * frames what a method serializes as one message, from the two members below; this writes all frames itself, also the first one.
 */
export class MessageFrames {
  readonly #messages: readonly Uint8Array[];
  /** The bytes of all frames, without the header that the library adds. */
  readonly byteLength: number;

  /** @param messages at least one. */
  constructor(messages: readonly Uint8Array[]) {
    this.#messages = messages;
    let bytes = -HEADER_BYTES;
    for (const { byteLength } of messages) bytes += HEADER_BYTES + byteLength;
    this.byteLength = bytes;
  }

  /** Writes the frames over the header that the library has written, too. */
  copy(target: Buffer, start: number): void {
    let at = start - HEADER_BYTES;
    for (const message of this.#messages) {
      target[at] = 0;
      target.writeUInt32BE(message.byteLength, at + 1);
      target.set(message, at + HEADER_BYTES);
      at += HEADER_BYTES + message.byteLength;
    }
  }
}
