import type { Maintenance } from "./maintenance.ts";

const INTERVAL_MS = 60_000;

/**
 * Runs maintenance now and at fixed intervals of real time, independent of changes to the system clock. Skips an interval
 * while a run is in progress.
 *
 * @returns stops the schedule; resolves when the run in progress has finished its current step.
 */
export function scheduleMaintenance(maintenance: Maintenance, intervalMs = INTERVAL_MS): () => Promise<void> {
  const ended = new AbortController();
  let underWay: Promise<void> | undefined;
  const runOnce = () => {
    underWay ??= maintenance.run(ended.signal).finally(() => {
      underWay = undefined;
    });
  };
  const timer = setInterval(runOnce, intervalMs);
  runOnce();
  return async () => {
    clearInterval(timer);
    ended.abort();
    await underWay;
  };
}
