import { signal } from "@preact/signals";

/** How long a request took, and the size of its decoded body. */
export interface RequestTiming {
  readonly durationMs: number;
  readonly bytes: number;
}

const MAX_KEPT = 100;
const timings = signal<ReadonlyMap<string, RequestTiming>>(new Map());

new PerformanceObserver((list) => {
  const next = new Map(timings.peek());
  for (const entry of list.getEntries() as PerformanceResourceTiming[]) {
    if (entry.initiatorType !== "fetch") continue;
    const path = entry.name.slice(location.origin.length);
    next.delete(path);
    next.set(path, { durationMs: entry.responseEnd - entry.requestStart, bytes: entry.decodedBodySize });
  }
  for (const path of next.keys()) {
    if (next.size <= MAX_KEPT) break;
    next.delete(path);
  }
  timings.value = next;
}).observe({ type: "resource", buffered: true });

/** What the browser measured of the last request of a path with its query. */
export const timingOf = (path: string): RequestTiming | undefined => timings.value.get(path);
