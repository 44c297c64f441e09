import { reasonOf } from "../lib/failure.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { ApiKeyStore, UsageCounts, UsageRow } from "./api-key-store.ts";

const FLUSH_MS = 10_000;
const SECS_PER_DAY = 86_400;
/** Rows that wait for the state. Beyond that, uses of further keys and routes are not counted. */
const MAX_ROWS = 20_000;

/** What one request adds to the usage of a key. */
export interface KeyUse {
  readonly apiKeyId: string;
  /** Template of the route, or `unmatched`. */
  readonly route: string;
  readonly units: number;
  readonly writes: number;
  readonly status: number;
}

/** Counts the uses of API keys in memory, and adds the counts to the state every ten seconds. */
export interface UsageRecorder {
  record(use: KeyUse): void;
  /** Adds what is counted to the state now. */
  flush(): Promise<void>;
  /** Ends the timer and flushes. */
  stop(): Promise<void>;
}

type Counting = { -readonly [Name in keyof UsageCounts]: number };

export function startUsageRecorder(deps: {
  readonly store: Pick<ApiKeyStore, "addUsage">;
  readonly clock: Clock;
  readonly log: Logger;
}): UsageRecorder {
  const { store, clock, log } = deps;
  let counting = new Map<string, UsageRow & { readonly counts: Counting }>();
  let flushing: Promise<void> = Promise.resolve();

  function record({ apiKeyId, route, units, writes, status }: KeyUse): void {
    const day = Math.floor(nowSecs(clock) / SECS_PER_DAY);
    const name = `${apiKeyId} ${day} ${route}`;
    let row = counting.get(name);
    if (row === undefined) {
      if (counting.size >= MAX_ROWS) return;
      const counts = { requests: 0, units: 0, writes: 0, errors: 0, limited: 0 };
      row = { apiKeyId, day, route, counts };
      counting.set(name, row);
    }
    add(row.counts, {
      requests: 1,
      units,
      writes,
      errors: status >= 400 && status !== 429 ? 1 : 0,
      limited: status === 429 ? 1 : 0,
    });
  }

  async function flushOnce(): Promise<void> {
    if (counting.size === 0) return;
    const rows = [...counting.values()];
    counting = new Map();
    try {
      await store.addUsage(rows, nowSecs(clock));
    } catch (cause) {
      // They may have been added; counting them twice would be worse than not at all.
      log.warn({ reason: reasonOf(cause), rows: rows.length }, "The usage of API keys was not stored");
    }
  }

  const flush = () => {
    flushing = flushing.then(flushOnce);
    return flushing;
  };
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();
  return {
    record,
    flush,
    stop() {
      clearInterval(timer);
      return flush();
    },
  };
}

function add(sum: Counting, more: UsageCounts): void {
  sum.requests += more.requests;
  sum.units += more.units;
  sum.writes += more.writes;
  sum.errors += more.errors;
  sum.limited += more.limited;
}
