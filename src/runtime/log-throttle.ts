import type { Clock } from "./clock.ts";

/** Logs through `write`, which is told how many lines were left out since the one before; or leaves this one out. */
export type LogThrottle = (write: (others: { readonly suppressed?: number }) => void) => void;

/** Lets at most one log line through in each interval, for what can happen as often as somebody likes. */
export function createLogThrottle({ clock, intervalMs }: { clock: Clock; intervalMs: number }): LogThrottle {
  let lastMs: number | undefined;
  let suppressed = 0;
  return (write) => {
    const nowMs = clock.nowMs();
    // A clock that went back must not silence it for longer.
    if (lastMs !== undefined && nowMs >= lastMs && nowMs < lastMs + intervalMs) {
      suppressed += 1;
      return;
    }
    lastMs = nowMs;
    write(suppressed > 0 ? { suppressed } : {});
    suppressed = 0;
  };
}
