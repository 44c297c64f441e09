import type { IndexDatabase } from "../index/database.ts";
import { type Clock, nowSecs } from "../process/clock.ts";
import type { Hash } from "./hydrate/casts.ts";
import { type Hydration, hydrate, type Wanted } from "./hydrate/hydrate.ts";
import { type Cast, presentCast } from "./present/cast.ts";
import { presentUser, type User } from "./present/user.ts";

/** What a read works with: its connection, the time, and the settings that bound or shape answers. */
export interface Reads {
  readonly db: IndexDatabase;
  readonly clock: Clock;
  /** The longest list of ids that is taken. */
  readonly maxIds: number;
  /** Within how many seconds reactions to one cast, or follows, are one notification. */
  readonly notificationWindowSecs: number;
}

/**
 * Answers a read on one snapshot of the index: `skeleton` finds ids and their order, everything they refer to is
 * loaded in a few statements, and `present` makes the answer of it without another look at the database.
 */
export function answer<Skeleton, Answer>(
  reads: Reads,
  skeleton: (db: IndexDatabase) => Skeleton,
  wanted: (skeleton: Skeleton) => Wanted,
  present: (skeleton: Skeleton, hydration: Hydration) => Answer,
): Answer {
  const { db, clock } = reads;
  return db.snapshot(() => {
    const found = skeleton(db);
    return present(found, hydrate(db, wanted(found), nowSecs(clock)));
  });
}

/** The users among `fids` that exist, in the order given. */
export function presentUsers(fids: readonly number[], hydration: Hydration): User[] {
  return fids.flatMap((fid) => presentUser(fid, hydration) ?? []);
}

/** The casts among `hashes` that are live, in the order given. */
export function presentCasts(hashes: readonly Hash[], hydration: Hydration): Cast[] {
  return hashes.flatMap((hash) => presentCast(hash, hydration) ?? []);
}
