import { brotliCompressSync, constants } from "node:zlib";
import type { WebFile } from "./web-build.ts";

/**
 * Returns a file with its compressed forms, as far as they are smaller.
 * @param brotliQuality undefined for none: the best one takes a millisecond per KB.
 */
export function compressFile(file: WebFile, brotliQuality: number | undefined): WebFile {
  const body = file.body as Uint8Array<ArrayBuffer>;
  const smaller = (bytes: Uint8Array) => (bytes.byteLength < body.byteLength ? bytes : undefined);
  const gzip = smaller(Bun.gzipSync(body, { level: 9 }));
  if (brotliQuality === undefined) return { ...file, gzip };
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
  };
  return { ...file, gzip, br: smaller(brotliCompressSync(body, { params })) };
}
