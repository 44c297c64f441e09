import { brotliCompressSync, constants } from "node:zlib";

/** The supported content codings. If a client gives several the same weight, the first one in this list is used. */
const CODINGS = ["zstd", "br", "gzip"] as const;

export type ContentCoding = (typeof CODINGS)[number];

/** A smaller body is not compressed: it fits into one packet anyway. */
export const MIN_CODED_BYTES = 1024;

/** Longer headers are parsed each time. Clients of one kind send the same header, so few distinct ones exist. */
const MAX_CACHED_CHARS = 128;
const MAX_CACHED_HEADERS = 256;

/** A body and its compressed forms. Each coding is computed once. */
export interface CodedBody {
  readonly body: Uint8Array;
  readonly coded: Map<ContentCoding, Uint8Array>;
}

/** A body and its ETag, which is the same for every content coding. */
export interface TaggedBody extends CodedBody {
  readonly etag: string;
}

/**
 * Chooses the content coding of a response (RFC 9110, 12.5.3); undefined for none. The result is also undefined if
 * the client refuses every coding and `identity` as well: the header is a preference, and an uncompressed body is
 * better than an error.
 */
export type ChooseCoding = (acceptEncoding: string | null) => ContentCoding | undefined;

/** Creates a `ChooseCoding` that caches its results by header. */
export function createChooseCoding(): ChooseCoding {
  const cached = new Map<string, ContentCoding | undefined>();
  return (acceptEncoding) => {
    if (acceptEncoding === null || acceptEncoding === "") return undefined;
    if (cached.has(acceptEncoding)) return cached.get(acceptEncoding);
    const coding = chooseCoding(acceptEncoding);
    if (acceptEncoding.length <= MAX_CACHED_CHARS && cached.size < MAX_CACHED_HEADERS) {
      cached.set(acceptEncoding, coding);
    }
    return coding;
  };
}

/** RFC 9110, 12.4.2. */
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

function chooseCoding(acceptEncoding: string): ContentCoding | undefined {
  const weights = new Map<string, number>();
  for (const item of acceptEncoding.toLowerCase().split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
    const weightText = parameters.find((parameter) => parameter.startsWith("q="));
    // An item with an invalid weight is ignored.
    const weight = weightText === undefined ? 1 : Number(WEIGHT.exec(weightText)?.[1] ?? Number.NaN);
    if (!Number.isNaN(weight)) weights.set(name === "x-gzip" ? "gzip" : name, weight);
  }
  const any = weights.get("*") ?? 0;
  // `identity` has the lowest weight unless the header names it.
  let best = weights.get("identity") ?? 0;
  let chosen: ContentCoding | undefined;
  for (const coding of CODINGS) {
    const weight = weights.get(coding) ?? any;
    if (weight <= 0 || weight < best || (weight === best && chosen !== undefined)) continue;
    best = weight;
    chosen = coding;
  }
  return chosen;
}

/**
 * Returns the bytes of a body in a coding, compressed at the first call. The levels have the best ratio of time to
 * saved bytes, measured on pages of 1 to 135 KB: 5 to 120 us with zstd, 7 to 260 us with gzip.
 */
export function codedBytes({ body, coded }: CodedBody, coding: ContentCoding): Uint8Array {
  let bytes = coded.get(coding);
  if (bytes === undefined) {
    bytes = compress(body, coding);
    coded.set(coding, bytes);
  }
  return bytes;
}

function compress(body: Uint8Array, coding: ContentCoding): Uint8Array {
  if (coding === "zstd") return Bun.zstdCompressSync(body, { level: 3 });
  if (coding === "gzip")
    return Bun.gzipSync(body as Uint8Array<ArrayBuffer>, { level: 1, library: "libdeflate" });
  return brotliCompressSync(body, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 1,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
    },
  });
}
