import type { IndexDatabase } from "../db/index/database.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { HydrationCache } from "./hydrate/cache.ts";
import { type Hydration, type HydrationRequest, hydrate } from "./hydrate/hydrate.ts";
import type { Presenters } from "./present/presenters.ts";

/** The dependencies of reads in every dialect: connection, clock, and the settings that bound or shape responses. */
export interface ReadSource {
  readonly db: IndexDatabase;
  /** Object states that earlier reads of this connection loaded. */
  readonly cache: HydrationCache;
  readonly clock: Clock;
  /** The longest list of ids that a request may contain. */
  readonly maxIds: number;
  /** The window in seconds that groups reactions to one cast, or follows, into one notification. */
  readonly notificationWindowSecs: number;
  /** Whether the words of casts are indexed. */
  readonly fullText: boolean;
}

/** The dependencies of the reads of one dialect. */
export interface Reads extends ReadSource {
  /** The presenters of the dialect of the prefix. */
  readonly present: Presenters;
}

/**
 * Runs a read on one snapshot of the index. `skeleton` finds ids and their order. `requestOf` names the objects to
 * hydrate, which a few statements load. `present` builds the result from them without another read of the database.
 */
export function runQuery<Skeleton, Result>(
  reads: ReadSource,
  skeleton: (db: IndexDatabase) => Skeleton,
  requestOf: (skeleton: Skeleton) => HydrationRequest,
  present: (skeleton: Skeleton, hydration: Hydration) => Result,
): Result {
  const { db, cache, clock } = reads;
  const read = () => {
    const found = skeleton(db);
    return { found, hydration: hydrate(db, requestOf(found), nowSecs(clock), cache) };
  };
  // Most reads follow no commit. A read that finds all objects in the cache then runs no statement.
  let result = cache.isCurrent() ? db.snapshot(read) : undefined;
  if (!result || !cache.isCurrent()) {
    result = db.snapshot(() => {
      cache.sync(db);
      return read();
    });
  }
  return present(result.found, result.hydration);
}
