import { setImmediate } from "node:timers/promises";
import { JsonStream } from "../../../http/json-stream.ts";
import type { BatchFid } from "./fids.ts";

/**
 * Streams the response of a batch, one fid at a time. The whole response can have a million rows, which must neither
 * be in memory together nor block other requests. Each fid is read on its own snapshot: one snapshot over all fids
 * would stay open as long as a slow client reads, and the write-ahead log could not be reset in that time.
 */
export function streamByFid(fids: readonly BatchFid[], listOf: (fid: number) => unknown): JsonStream {
  async function* pieces() {
    let open = "{";
    for (const { digits, fid } of fids) {
      yield `${open}"${digits}":`;
      // Text takes less memory than rows. A list has at most 10,000 entries, so dividing it would gain little.
      yield JSON.stringify(listOf(fid));
      open = ",";
      await setImmediate();
    }
    yield fids.length === 0 ? "{}" : "}";
  }
  return new JsonStream(pieces());
}
