import { setImmediate } from "node:timers/promises";
import type { BatchFid } from "./fids.ts";

/**
 * Answers a batch one fid at a time: the whole of it can be a million rows, which neither need be in memory together
 * nor may hold up other requests. What is asked of one fid is read on one snapshot.
 */
export function streamByFid(fids: readonly BatchFid[], listOf: (fid: number) => unknown): Response {
  const encoder = new TextEncoder();
  let next = 0;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode("{"));
    },
    async pull(controller) {
      // The reader may be faster than we are; others get their turn between two fids.
      await setImmediate();
      const asked = fids[next];
      if (asked === undefined) {
        controller.enqueue(encoder.encode("}"));
        controller.close();
        return;
      }
      const comma = next === 0 ? "" : ",";
      next += 1;
      controller.enqueue(encoder.encode(`${comma}"${asked.digits}":${JSON.stringify(listOf(asked.fid))}`));
    },
  });
  return new Response(body, {
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}
