import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/** The `accept-encoding` of a client that inflates bodies with `inflateUpTo`. */
export const INFLATED_ENCODINGS = "gzip, deflate, br";

/** Options for truncated bodies: inflate what the bytes contain. */
const CUT_OFF = { finishFlush: constants.Z_SYNC_FLUSH };

const INFLATERS = {
  gzip: () => createGunzip(CUT_OFF),
  "x-gzip": () => createGunzip(CUT_OFF),
  deflate: () => createInflate(CUT_OFF),
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
} as const;

/**
 * Inflates a body. Never more than the limit plus one chunk of the inflater is in memory, however far the bytes expand.
 *
 * @param encoding the `content-encoding` of the body; null or `identity` for none.
 * @returns undefined for any other encoding, for more than one, and for bytes that are invalid in it.
 */
export async function inflateUpTo(
  body: Uint8Array<ArrayBuffer>,
  encoding: string | null,
  maxBytes: number,
): Promise<{ readonly body: Uint8Array<ArrayBuffer>; readonly truncated: boolean } | undefined> {
  const name = encoding?.trim().toLowerCase() ?? "";
  if (name === "" || name === "identity")
    return { body: body.subarray(0, maxBytes), truncated: body.length > maxBytes };
  if (!Object.hasOwn(INFLATERS, name)) return undefined;
  const inflater = INFLATERS[name as keyof typeof INFLATERS]();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    inflater.end(body);
    // Leaving the loop early destroys the stream.
    for await (const chunk of inflater as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) break;
    }
  } catch {
    return undefined;
  }
  return {
    body: new Uint8Array(Bun.concatArrayBuffers(chunks, maxBytes, false)),
    truncated: length > maxBytes,
  };
}
