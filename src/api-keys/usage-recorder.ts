import { reasonOf } from "../lib/failure.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log/logger.ts";
import type { ApiKeyStore, UsageCounts, UsageRow } from "./api-key-store.ts";

const FLUSH_MS = 10_000;
const SECS_PER_DAY = 86_400;
/** Maximum number of rows that wait for the state. Beyond it, uses of further keys and routes are not counted. */
const MAX_ROWS = 20_000;

/** Usage of a key by one request. */
export interface KeyUse {
  readonly apiKeyId: string;
  /** Route template, or `unmatched`. */
  readonly route: string;
  readonly units: number;
  readonly writes: number;
  readonly status: number;
}

/** Counts the uses of API keys in memory, and adds the counts to the state every ten seconds. */
export type UsageRecorder = ReturnType<typeof startUsageRecorder>;

type Counting = { -readonly [Name in keyof UsageCounts]: number };

export function startUsageRecorder(deps: {
  readonly store: Pick<ApiKeyStore, "addUsage">;
  readonly clock: Clock;
  readonly log: Logger;
}) {
  const { store, clock, log } = deps;
  /** Counts of `countedDay` by key, then by route. */
  let counting = new Map<string, Map<string, Counting>>();
  let countedDay = 0;
  /** Rows of previous days. */
  let ended: UsageRow[] = [];
  let size = 0;
  let flushing: Promise<void> = Promise.resolve();

  function rowsOfDay(): UsageRow[] {
    return [...counting].flatMap(([apiKeyId, byRoute]) =>
      [...byRoute].map(([route, counts]) => ({ apiKeyId, day: countedDay, route, counts })),
    );
  }

  function startDay(day: number): void {
    ended.push(...rowsOfDay());
    counting = new Map();
    countedDay = day;
  }

  function record({ apiKeyId, route, units, writes, status }: KeyUse): void {
    const day = Math.floor(nowSecs(clock) / SECS_PER_DAY);
    if (day !== countedDay) startDay(day);
    let counts = counting.get(apiKeyId)?.get(route);
    if (counts === undefined) {
      if (size >= MAX_ROWS) return;
      size += 1;
      counts = { requests: 0, units: 0, writes: 0, errors: 0, limited: 0 };
      const byRoute = counting.get(apiKeyId) ?? new Map<string, Counting>();
      counting.set(apiKeyId, byRoute.set(route, counts));
    }
    counts.requests += 1;
    counts.units += units;
    counts.writes += writes;
    if (status === 429) counts.limited += 1;
    else if (status >= 400) counts.errors += 1;
  }

  async function flushOnce(): Promise<void> {
    if (size === 0) return;
    startDay(countedDay);
    const rows = ended;
    ended = [];
    size = 0;
    try {
      await store.addUsage(rows, nowSecs(clock));
    } catch (cause) {
      // The rows may have been added. Counting them twice would be worse than losing them.
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
    /** Adds the current counts to the state. */
    flush,
    /** Stops the timer and flushes. */
    stop(): Promise<void> {
      clearInterval(timer);
      return flush();
    },
  };
}
