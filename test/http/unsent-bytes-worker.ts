import { UnsentBytes } from "../../src/http/unsent-bytes.ts";

declare const self: Worker;

/** Reserves and releases concurrently with other workers; reports the highest observed reservation. */
self.onmessage = ({ data }: MessageEvent<SharedArrayBuffer>) => {
  const budget = new UnsentBytes(data, 1000);
  let granted = 0;
  for (let n = 0; n < 50_000; n++) {
    if (!budget.reserve(300)) continue;
    granted += 1;
    budget.release(300);
  }
  postMessage(granted);
};
