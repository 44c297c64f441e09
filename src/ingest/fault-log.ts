import { StorageError } from "../db/sqlite/storage-error.ts";
import type { Clock } from "../runtime/clock.ts";
import { createLogThrottle } from "../runtime/log-throttle.ts";
import type { Logger } from "../runtime/logger.ts";

const INTERVAL_MS = 60_000;

/**
 * Logs the faults of the writer. While the database cannot be written every commit fails, so these are logged at most
 * once a minute. A fault that a single record causes is always logged.
 */
export function createIngestFaultLog({
  log,
  clock,
}: {
  log: Logger;
  clock: Clock;
}): (cause: unknown) => void {
  const throttled = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  return (cause) => {
    if (cause instanceof StorageError)
      throttled((others) => log.error({ err: cause, ...others }, "The index could not be written"));
    else log.error({ err: cause }, "A record could not be stored");
  };
}
