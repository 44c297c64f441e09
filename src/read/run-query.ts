import type { IndexDatabase } from "../db/index/database.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { HydrationCache } from "./hydrate/cache.ts";
import { type Hydration, type HydrationRequest, hydrate } from "./hydrate/hydrate.ts";
import type { Presenters } from "./present/presenters.ts";

/** What the reads of every dialect share: their connection, the time, and the settings that bound or shape answers. */
export interface ReadSource {
  readonly db: IndexDatabase;
  /** What earlier answers of the connection were made of. */
  readonly cache: HydrationCache;
  readonly clock: Clock;
  /** The longest list of ids that is taken. */
  readonly maxIds: number;
  /** Within how many seconds reactions to one cast, or follows, are one notification. */
  readonly notificationWindowSecs: number;
}

/** What a read works with. */
export interface Reads extends ReadSource {
  /** The answers in the dialect of the prefix. */
  readonly present: Presenters;
}

/**
 * Answers a read on one snapshot of the index: `skeleton` finds ids and their order, everything they refer to is
 * loaded in a few statements, and `present` makes the answer of it without another look at the database.
 */
export function runQuery<Skeleton, Answer>(
  reads: ReadSource,
  skeleton: (db: IndexDatabase) => Skeleton,
  wanted: (skeleton: Skeleton) => HydrationRequest,
  present: (skeleton: Skeleton, hydration: Hydration) => Answer,
): Answer {
  const { db, cache, clock } = reads;
  return db.snapshot(() => {
    cache.sync(db);
    const found = skeleton(db);
    return present(found, hydrate(db, wanted(found), nowSecs(clock), cache));
  });
}
