import type { Clock } from "../../runtime/clock.ts";
import { createLogThrottle } from "../../runtime/log-throttle.ts";
import type { Logger } from "../../runtime/logger.ts";
import { StateUnavailable } from "./unavailable.ts";

const INTERVAL_MS = 60_000;

/** Logs errors of work that is retried. */
export type FaultLog = (cause: unknown, fields: Readonly<Record<string, unknown>>, message: string) => void;

/**
 * Logs every error, but an unavailable state as one warning a minute, because every write fails then.
 */
export function createFaultLog({ log, clock }: { readonly log: Logger; readonly clock: Clock }): FaultLog {
  const throttled = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  return (cause, fields, message) => {
    if (!(cause instanceof StateUnavailable)) return log.error({ err: cause, ...fields }, message);
    throttled((others) =>
      log.warn(
        { reason: cause.message, ...fields, ...others },
        "The state cannot be written: pending writes are retried",
      ),
    );
  };
}
