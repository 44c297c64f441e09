import type { Clock } from "../clock.ts";

/** Calls `write` with the number of lines suppressed since the last call, or suppresses this line. */
export type LogThrottle = (write: (others: { readonly suppressed?: number }) => void) => void;

/** Allows at most one log line per interval, for events that clients can cause at any rate. */
export function createLogThrottle({ clock, intervalMs }: { clock: Clock; intervalMs: number }): LogThrottle {
  let lastMs: number | undefined;
  let suppressed = 0;
  return (write) => {
    const nowMs = clock.nowMs();
    // If the clock was set back, lines must not be suppressed for longer.
    if (lastMs !== undefined && nowMs >= lastMs && nowMs < lastMs + intervalMs) {
      suppressed += 1;
      return;
    }
    lastMs = nowMs;
    write(suppressed > 0 ? { suppressed } : {});
    suppressed = 0;
  };
}
