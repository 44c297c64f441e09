/**
 * The URLs of the workers' entry files. This file stays in the folder that build.ts names as the root of the entry points:
 * a compiled binary resolves these paths against its entry point, not against this module.
 */
export const workerUrls = {
  starting: new URL("./workers/starting.worker.ts", import.meta.url).href,
  state: new URL("./workers/state.worker.ts", import.meta.url).href,
  ingest: new URL("./workers/ingest.worker.ts", import.meta.url).href,
  http: new URL("./workers/http.worker.ts", import.meta.url).href,
  hub: new URL("./workers/hub.worker.ts", import.meta.url).href,
  maintenance: new URL("./workers/maintenance.worker.ts", import.meta.url).href,
  matching: new URL("./workers/matching.worker.ts", import.meta.url).href,
  delivery: new URL("./workers/delivery.worker.ts", import.meta.url).href,
  fanOut: new URL("./workers/fan-out.worker.ts", import.meta.url).href,
  writes: new URL("./workers/writes.worker.ts", import.meta.url).href,
  ranking: new URL("./workers/ranking.worker.ts", import.meta.url).href,
  upstream: new URL("./workers/upstream.worker.ts", import.meta.url).href,
  verifier: new URL("./workers/verifier.worker.ts", import.meta.url).href,
};
