import { Cron } from "croner";
import type { Maintenance } from "./maintenance.ts";

const EVERY_MINUTE = "* * * * *";

/**
 * Runs maintenance now and then at every time of `pattern` (cron, in UTC). A run that takes longer than until the next
 * time is not overtaken: that time is passed over.
 *
 * @returns ends the schedule; resolves when the run under way has ended, which it does after its present step.
 */
export function scheduleMaintenance(maintenance: Maintenance, pattern = EVERY_MINUTE): () => Promise<void> {
  const ended = new AbortController();
  let underWay: Promise<void> | undefined;
  const runOnce = () => {
    underWay ??= maintenance.run(ended.signal).finally(() => {
      underWay = undefined;
    });
  };
  const job = new Cron(pattern, { timezone: "UTC" }, runOnce);
  runOnce();
  return async () => {
    job.stop();
    ended.abort();
    await underWay;
  };
}
