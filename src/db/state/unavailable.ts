import type { Clock } from "../../runtime/clock.ts";
import { createLogThrottle, type LogThrottle } from "../../runtime/log/log-throttle.ts";
import type { Logger } from "../../runtime/log/logger.ts";

/**
 * Thrown when the state cannot be read or written, or did not respond in time. A write may or may not have been committed,
 * unless it is known that it was not sent, so the caller must not treat this as "not done".
 */
export class StateUnavailable extends Error {
  override name = "StateUnavailable";
  /** Whether the call may have been carried out. */
  readonly mayHaveHappened: boolean;
  /** Whether the disk refused writes. */
  readonly isStorageFault: boolean;

  constructor(
    message: string,
    options: ErrorOptions & { readonly mayHaveHappened?: boolean; readonly isStorageFault?: boolean } = {},
  ) {
    super(message, options);
    this.mayHaveHappened = options.mayHaveHappened ?? true;
    this.isStorageFault = options.isStorageFault ?? false;
  }
}

const INTERVAL_MS = 60_000;
/** Identical errors are logged once in this time, because work is retried each second or more often. */
const EQUAL_INTERVAL_MS = 10_000;
/** Number of different errors that are remembered. */
const MAX_REMEMBERED = 64;

/** Logs errors of work that is retried. */
type FaultLog = (cause: unknown, fields: Readonly<Record<string, unknown>>, message: string) => void;

/**
 * Creates a log for errors of retried work. It logs each distinct error, but identical ones only once per 10 seconds; an
 * unavailable state, which makes every write fail, is one warning per minute.
 */
export function createFaultLog({ log, clock }: { readonly log: Logger; readonly clock: Clock }): FaultLog {
  const throttled = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  const equal = new Map<string, LogThrottle>();
  const throttleOf = (text: string): LogThrottle => {
    const known = equal.get(text);
    if (known) return known;
    if (equal.size >= MAX_REMEMBERED) equal.clear();
    const made = createLogThrottle({ clock, intervalMs: EQUAL_INTERVAL_MS });
    equal.set(text, made);
    return made;
  };
  return (cause, fields, message) => {
    if (!(cause instanceof StateUnavailable)) {
      const text = `${message} ${JSON.stringify(fields)} ${cause instanceof Error ? cause.message : cause}`;
      throttleOf(text)((others) => log.error({ err: cause, ...fields, ...others }, message));
      return;
    }
    throttled((others) =>
      log.warn(
        { reason: cause.message, ...fields, ...others },
        "The state cannot be written: pending writes are retried",
      ),
    );
  };
}
