import type { Common } from "../common.ts";
import type { Spans } from "./span.ts";

/** The time that a thread which stops waits for the collector. */
export const SPANS_GRACE_MS = 1_000;

/** Opens the spans of a thread; undefined while traces are off, which then loads no code of theirs. */
export async function openSpans(
  common: Pick<Common, "config" | "log" | "clock">,
  counts: SharedArrayBuffer | undefined,
): Promise<Spans | undefined> {
  return counts && (await import("./export-traces.ts")).startTraces(common, counts);
}

/** Gives each read of a request a span below that of the request. */
export function spansOfReads(spans: Spans): <T>(work: () => T) => T {
  return <T>(work: () => T) => {
    const span = spans
      .active()
      ?.child({ name: "read index", kind: "internal", attributes: { "db.system.name": "sqlite" } });
    if (!span) return work();
    let isOver = true;
    try {
      const result = work();
      if (!(result instanceof Promise)) return result;
      isOver = false;
      return result.finally(() => span.end()) as T;
    } finally {
      if (isOver) span.end();
    }
  };
}
