import type { Clock } from "../../runtime/clock.ts";
import { createLogThrottle } from "../../runtime/log-throttle.ts";
import type { Logger } from "../../runtime/logger.ts";
import { StateUnavailable } from "./unavailable.ts";

const INTERVAL_MS = 60_000;

/** Logs faults of work that is tried again. */
export type FaultLog = (cause: unknown, fields: Readonly<Record<string, unknown>>, message: string) => void;

/**
 * Logs every fault as an error, but of those that say that the state is unavailable one a minute, as a warning: while it
 * is, everything that writes meets it.
 */
export function createFaultLog({ log, clock }: { readonly log: Logger; readonly clock: Clock }): FaultLog {
  const throttled = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  return (cause, fields, message) => {
    if (!(cause instanceof StateUnavailable)) return log.error({ err: cause, ...fields }, message);
    throttled((others) =>
      log.warn(
        { reason: cause.message, ...fields, ...others },
        "The state cannot be written: what waits is tried again",
      ),
    );
  };
}
