import type { Common } from "../common.ts";
import type { Spans } from "./span.ts";

/** How long a stopping thread waits for the collector. */
export const SPANS_GRACE_MS = 1_000;

/** Opens the spans of a thread; undefined while traces are off, so that none of their code is loaded. */
export async function openSpans(
  common: Pick<Common, "config" | "log" | "clock">,
  counts: SharedArrayBuffer | undefined,
): Promise<Spans | undefined> {
  return counts && (await import("./export-traces.ts")).startTraces(common, counts);
}

/** Gives each read of a request a child span. */
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
