/**
 * A JSON body that a handler makes in pieces, because the whole may be large: concatenated, the pieces are one JSON
 * text. They are asked for one after the other, and no further when the client has gone.
 */
export class JsonStream {
  readonly pieces: AsyncIterator<string> | Iterator<string>;

  constructor(pieces: AsyncIterator<string> | Iterator<string>) {
    this.pieces = pieces;
  }
}
