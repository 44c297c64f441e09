import { ApiError } from "../../../http/errors.ts";
import { parseFid } from "../../../http/params.ts";

/** An fid of a batch: its digits as they were sent, which key the answer, and its number. */
export interface BatchFid {
  readonly digits: string;
  /** `UNKNOWN_FID` above 2^53 - 1. */
  readonly fid: number;
}

/** What JSON.parse tells a reviver of a primitive value: its text in the document. */
interface Source {
  readonly source?: string;
}

/**
 * Reads the `fids` of a body that the schema accepted again from its bytes, digit for digit: a plain JSON.parse rounds
 * a number above 2^53 to somebody else's fid. Each fid once, in the order of first mention.
 * @throws ApiError `badRequest` for a number that is not written as a u64, such as `1.0`, `1e3` or 2^64.
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
