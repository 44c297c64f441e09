/**
 * A JSON body that a handler produces in pieces because it may be large. Concatenated, the pieces are one JSON text.
 * They are pulled one by one; pulling stops when the client disconnects.
 */
export class JsonStream {
  readonly pieces: AsyncIterator<string> | Iterator<string>;

  constructor(pieces: AsyncIterator<string> | Iterator<string>) {
    this.pieces = pieces;
  }
}
