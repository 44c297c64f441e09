import { ApiError } from "../../../http/errors.ts";
import { parseFid } from "../../../http/params.ts";

/** An fid of a batch: its digits as sent, which are its key in the response, and its number. */
export interface BatchFid {
  readonly digits: string;
  /** `UNKNOWN_FID` above 2^53 - 1. */
  readonly fid: number;
}

/** The context argument that JSON.parse passes to a reviver for a primitive value: its source text. */
interface Source {
  readonly source?: string;
}

/**
 * Reads the `fids` of a validated body again from its bytes, digit for digit: plain JSON.parse would round a number
 * above 2^53 to another user's fid. Returns each fid once, in the order of first mention.
 * @throws ApiError `badRequest` for a number that is not written as a u64, such as `1.0`, `1e3` or 2^64
 */
export function exactFids(body: Uint8Array): BatchFid[] {
  const sourceOf = (_key: string, value: unknown, context?: Source) =>
    typeof value === "number" ? context?.source : value;
  const { fids } = JSON.parse(new TextDecoder().decode(body), sourceOf) as { fids: readonly string[] };
  const unique = new Map<string, BatchFid>();
  for (const text of fids) {
    const fid = parseFid(text);
    if (fid === undefined) throw new ApiError("badRequest", "fids must be unsigned 64-bit integers");
    unique.set(text, { digits: text, fid });
  }
  return [...unique.values()];
}
