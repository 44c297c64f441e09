import { setImmediate } from "node:timers/promises";
import { JsonStream } from "../../../http/json-stream.ts";
import type { BatchFid } from "./fids.ts";

/**
 * The response to a batch, made one fid at a time: the whole of it can be a million rows, which neither need be in memory
 * together nor may hold up other requests. What is asked of one fid is read on one snapshot; a snapshot over all of them
 * would last as long as a slow reader likes, and the write-ahead log could not be reset meanwhile.
 */
export function streamByFid(fids: readonly BatchFid[], listOf: (fid: number) => unknown): JsonStream {
  async function* pieces() {
    let open = "{";
    for (const { digits, fid } of fids) {
      yield `${open}"${digits}":`;
      // Text takes less memory than rows, and there is little to gain by cutting a list of at most 10,000.
      yield JSON.stringify(listOf(fid));
      open = ",";
      await setImmediate();
    }
    yield fids.length === 0 ? "{}" : "}";
  }
  return new JsonStream(pieces());
}
