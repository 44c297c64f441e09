import type { Maintenance } from "./maintenance.ts";

const INTERVAL_MS = 60_000;

/**
 * Runs maintenance now and then at intervals of real time, whatever the clock of the machine does. A run that takes
 * longer is not overtaken.
 *
 * @returns ends the schedule; resolves when the run under way has ended, which it does after its present step.
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
