import type { Clock } from "../process/clock.ts";
import type { Logger } from "../process/logger.ts";
import { StateUnavailable } from "./unavailable.ts";

const INTERVAL_MS = 60_000;

/** Logs faults of work that is tried again. */
export type FaultLog = (cause: unknown, fields: Readonly<Record<string, unknown>>, message: string) => void;

/**
 * Logs every fault as an error, but of those that say that the state is unavailable one a minute, as a warning: while it
 * is, everything that writes meets it.
 */
export function createFaultLog({ log, clock }: { readonly log: Logger; readonly clock: Clock }): FaultLog {
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  return (cause, fields, message) => {
    if (!(cause instanceof StateUnavailable)) return log.error({ err: cause, ...fields }, message);
    const nowMs = clock.nowMs();
    // A clock that went back must not silence it for longer.
    if (nowMs < quietUntilMs && nowMs >= quietUntilMs - INTERVAL_MS) return;
    quietUntilMs = nowMs + INTERVAL_MS;
    log.warn({ reason: cause.message, ...fields }, "The state cannot be written: what waits is tried again");
  };
}
