import { brotliCompressSync, constants } from "node:zlib";
import type { CodedFile, WebFile } from "./web-build.ts";

/**
 * Compresses a file.
 * @param brotliQuality undefined for no Brotli: the best quality takes about a millisecond per KB.
 */
export function compressFile(
  { name, contentType, body }: WebFile,
  brotliQuality: number | undefined,
): CodedFile {
  const bytes = body as Uint8Array<ArrayBuffer>;
  const gzip = Bun.gzipSync(bytes, { level: 9 });
  const file = { name, contentType };
  if (gzip.byteLength >= body.byteLength) return { ...file, body, gzip: undefined, br: undefined };
  if (brotliQuality === undefined) return { ...file, body: undefined, gzip, br: undefined };
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
  };
  const br = new Uint8Array(brotliCompressSync(body, { params }));
  return { ...file, body: undefined, gzip, br: br.byteLength < gzip.byteLength ? br : undefined };
}
