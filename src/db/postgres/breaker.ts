import type { Logger } from "../../runtime/logger.ts";
import { StateUnavailable } from "../state/unavailable.ts";

/** The pause between two probes. */
const PROBE_INTERVAL_MS = 500;

/** Whether PostgreSQL is reachable, for all pools of a thread. */
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
  /** Succeeds when the server answers and takes writes. Bounded in time. */
  probe(): Promise<void>;
  readonly log: Logger;
  /** Shared by the threads of a node: what one of them finds counts for all. */
  readonly shared: { isAway: boolean };
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
      log.info({ secs: Math.round((Date.now() - open.sinceMs) / 1000) }, "PostgreSQL answers again");
      open = undefined;
      shared.isAway = false;
    }, probeIntervalMs);
  }

  return {
    check() {
      const reason = open?.reason ?? (shared.isAway ? "PostgreSQL does not answer" : undefined);
      if (reason !== undefined) throw new StateUnavailable(reason, { mayHaveHappened: false });
    },
    trip(reason) {
      if (open) return;
      open = { reason, sinceMs: Date.now() };
      shared.isAway = true;
      log.warn({ reason }, "PostgreSQL does not answer: calls that need the state are refused");
      for (const listener of listeners) listener();
      probeLater();
    },
    get open() {
      return open;
    },
    onTrip: (listener) => void listeners.push(listener),
    [Symbol.dispose]() {
      clearTimeout(timer);
      if (open) shared.isAway = false;
      open = undefined;
    },
  };
}
