/** Frames that no HTTP/2 client sends by itself. */

/** What a client sends first: the preface, and its settings. */
export const opening = (): Buffer =>
  Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame("settings", 0, 0)]);

export const FRAME_TYPES = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6 } as const;
export const END_STREAM = 1;
export const END_HEADERS = 4;
const FRAME_HEAD_BYTES = 9;

export function frame(
  type: keyof typeof FRAME_TYPES,
  flags: number,
  stream: number,
  payload: Uint8Array = new Uint8Array(),
): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.byteLength, 0, 3);
  head.writeUInt8(FRAME_TYPES[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header without compression. With `isIndexed`, later headers can repeat it. */
export function headerField(name: string, value: string, { isIndexed = false } = {}): Buffer {
  return Buffer.concat([Buffer.of(isIndexed ? 0x40 : 0), headerText(name), headerText(value)]);
}

/** The header that was indexed last, in one byte. */
export const LAST_INDEXED = 0x80 + 62;

export function callHeaders(path: string, authority: string): Buffer {
  const headers = {
    ":method": "POST",
    ":scheme": "http",
    ":path": path,
    ":authority": authority,
    "content-type": "application/grpc",
    te: "trailers",
  };
  return Buffer.concat(Object.entries(headers).map(([name, value]) => headerField(name, value)));
}

/** The types and streams of the whole frames that a server has sent. */
export function framesIn(bytes: Buffer): { readonly type: number; readonly stream: number }[] {
  const frames: { type: number; stream: number }[] = [];
  let at = 0;
  while (bytes.byteLength >= at + FRAME_HEAD_BYTES) {
    const end = at + FRAME_HEAD_BYTES + bytes.readUIntBE(at, 3);
    if (bytes.byteLength < end) break;
    frames.push({ type: bytes.readUInt8(at + 3), stream: bytes.readUInt32BE(at + 5) });
    at = end;
  }
  return frames;
}

const SHORT_TEXT_BYTES = 127;

/** A text with its length (RFC 7541, 5.1 and 5.2). */
function headerText(value: string): Buffer {
  const bytes = Buffer.from(value);
  if (bytes.byteLength < SHORT_TEXT_BYTES) return Buffer.concat([Buffer.of(bytes.byteLength), bytes]);
  const length = [SHORT_TEXT_BYTES];
  let rest = bytes.byteLength - SHORT_TEXT_BYTES;
  for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}
