import type { IndexDatabase } from "../../index/database.ts";
import { type CastState, type Hash, loadCasts } from "./casts.ts";
import { loadUsers, type UserState } from "./users.ts";

/** All that presentation may look at: what was asked for and what that refers to. */
export interface Hydration {
  readonly users: ReadonlyMap<number, UserState>;
  readonly casts: ReadonlyMap<Hash, CastState>;
  /** The time of the answer, in unix seconds; decides what has expired. */
  readonly nowSecs: number;
}

/** What a skeleton names. */
export interface Wanted {
  readonly fids?: Iterable<number>;
  readonly hashes?: Iterable<Hash>;
}

/**
 * Loads everything that the skeleton names and everything that those objects show: quoted casts one level deep,
 * authors and mentioned people. At most five statements, whatever the number of objects.
 */
export function hydrate(db: IndexDatabase, wanted: Wanted, nowSecs: number): Hydration {
  const casts = loadCasts(db, wanted.hashes ?? []);
  const quoted = loadCasts(db, quotedHashes(casts));
  for (const [hash, cast] of quoted) casts.set(hash, cast);
  const fids = new Set(wanted.fids ?? []);
  for (const cast of casts.values()) {
    fids.add(cast.fid);
    for (const [fid] of cast.mentions) fids.add(fid);
  }
  return { users: loadUsers(db, fids), casts, nowSecs };
}

function* quotedHashes(casts: ReadonlyMap<Hash, CastState>): Iterable<Hash> {
  for (const cast of casts.values()) {
    for (const embed of cast.embeds) if ("hash" in embed && !casts.has(embed.hash)) yield embed.hash;
  }
}
