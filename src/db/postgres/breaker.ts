import type { Logger } from "../../runtime/log/logger.ts";
import { StateUnavailable } from "../state/unavailable.ts";

/** The pause between two probes. */
const PROBE_INTERVAL_MS = 500;
/** The reason where another thread knows more. */
export const NO_ANSWER = "PostgreSQL does not respond";

/** Whether PostgreSQL is reachable, for all pools of a thread. What another thread finds counts, too. */
export interface Breaker extends Disposable {
  /** @throws StateUnavailable while the breaker is open. */
  check(): void;
  /** Opens the breaker: calls fail at once until a probe succeeds. */
  trip(reason: string): void;
  readonly open: { readonly reason: string; readonly sinceMs: number } | undefined;
  /** Calls `listener` each time the breaker opens. */
  onTrip(listener: () => void): void;
}

export interface BreakerDeps {
  /** Succeeds when the server responds and takes writes. Bounded in time. */
  probe(): Promise<void>;
  readonly log: Logger;
  /** Shared by the threads of a node: what one of them finds counts for all. */
  readonly shared: { awaySinceMs: number | undefined };
  readonly probeIntervalMs?: number;
}

/** Creates a closed breaker. While it is open, it probes the server until a probe succeeds. */
export function createBreaker(deps: BreakerDeps): Breaker {
  const { probe, log, shared, probeIntervalMs = PROBE_INTERVAL_MS } = deps;
  const listeners: (() => void)[] = [];
  let open: Breaker["open"];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function probeLater(): void {
    timer = setTimeout(async () => {
      try {
        await probe();
      } catch {
        if (open) probeLater();
        return;
      }
      if (!open) return;
      log.info({ secs: Math.round((Date.now() - open.sinceMs) / 1000) }, "PostgreSQL responds again");
      open = undefined;
      shared.awaySinceMs = undefined;
    }, probeIntervalMs);
  }

  function away(): Breaker["open"] {
    const { awaySinceMs } = shared;
    return open ?? (awaySinceMs === undefined ? undefined : { reason: NO_ANSWER, sinceMs: awaySinceMs });
  }

  return {
    check() {
      const now = away();
      if (now) throw new StateUnavailable(now.reason, { mayHaveHappened: false });
    },
    trip(reason) {
      if (open) return;
      open = { reason, sinceMs: Date.now() };
      shared.awaySinceMs = open.sinceMs;
      log.warn({ reason }, "PostgreSQL does not respond: calls that need the state are refused");
      for (const listener of listeners) listener();
      probeLater();
    },
    get open() {
      return away();
    },
    onTrip: (listener) => void listeners.push(listener),
    [Symbol.dispose]() {
      clearTimeout(timer);
      if (open) shared.awaySinceMs = undefined;
      open = undefined;
    },
  };
}
