import { createReadStream } from "node:fs";

/** A file of an archive. */
export interface TarFile {
  readonly path: string;
  /** The name in the archive, at most 100 ASCII bytes. */
  readonly name: string;
  readonly bytes: number;
  /** Unix seconds. */
  readonly modifiedAt: number;
}

const BLOCK = 512;
const CHUNK_BYTES = 256 * 1024;
/** The limit of 11 octal digits; larger sizes are written in binary, as by GNU tar and bsdtar. */
const MAX_OCTAL = 8 ** 11;

/**
 * Yields a tar archive (POSIX ustar), one file after the other, while they are read.
 *
 * @throws Error if a file is shorter than announced.
 */
export async function* tarOf(files: readonly TarFile[]): AsyncGenerator<Uint8Array, void> {
  for (const file of files) {
    yield headerOf(file);
    let left = file.bytes;
    if (left > 0)
      for await (const chunk of createReadStream(file.path, { end: left - 1, highWaterMark: CHUNK_BYTES })) {
        left -= (chunk as Uint8Array).byteLength;
        yield chunk as Uint8Array;
      }
    if (left > 0) throw new Error(`${file.name} has become shorter`);
    yield new Uint8Array((BLOCK - (file.bytes % BLOCK)) % BLOCK);
  }
  yield new Uint8Array(2 * BLOCK);
}

function headerOf({ name, bytes, modifiedAt }: TarFile): Uint8Array {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    header.write(value.toString(8).padStart(length - 1, "0"), at, "latin1");
  header.write(name, 0, 100, "latin1");
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  if (bytes < MAX_OCTAL) octal(bytes, 124, 12);
  else {
    header[124] = 0x80;
    header.writeBigUInt64BE(BigInt(bytes), 128);
  }
  octal(Math.max(0, modifiedAt), 136, 12);
  header.write("        0", 148, "latin1");
  header.write("ustar\u000000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148, "latin1");
  return header;
}
