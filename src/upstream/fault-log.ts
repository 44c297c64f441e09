import type { Clock } from "../process/clock.ts";
import type { Logger } from "../process/logger.ts";
import type { Rejection } from "../protocol/rejection.ts";

/** Logs what goes wrong while following, which an upstream can make happen as often as it likes. */
export interface FaultLog {
  /** Something failed and is tried again. */
  fault(what: string, cause: unknown): void;
  /** A record breaks the protocol's rules and was passed over. */
  refused(rejection: Rejection): void;
}

const INTERVAL_MS = 10_000;

/** At most one line of either kind each ten seconds; it tells how many there were since the one before. */
export function createFaultLog({ log, clock }: { log: Logger; clock: Clock }): FaultLog {
  const bounded = () => {
    let quietUntilMs = Number.NEGATIVE_INFINITY;
    let unsaid = 0;
    return (say: (others: { readonly unsaid?: number }) => void) => {
      const nowMs = clock.nowMs();
      if (nowMs < quietUntilMs) {
        unsaid += 1;
        return;
      }
      quietUntilMs = nowMs + INTERVAL_MS;
      say(unsaid > 0 ? { unsaid } : {});
      unsaid = 0;
    };
  };
  const [faults, refusals] = [bounded(), bounded()];
  return {
    fault: (what, cause) => faults((others) => log.warn({ err: cause, ...others }, `Tried again: ${what}`)),
    refused: ({ code, reason }) =>
      refusals((others) => log.warn({ code, reason, ...others }, "Passed over a record of the upstream")),
  };
}
