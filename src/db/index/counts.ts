import type { SqliteConnection } from "../sqlite/connection.ts";
import { statement } from "./statement.ts";

interface CastCounts {
  readonly fid: number;
  likes: number;
  recasts: number;
  replies: number;
}

interface FollowCounts {
  followers: number;
  following: number;
}

const addCast = statement<
  unknown,
  [id: number, fid: number, likes: number, recasts: number, replies: number]
>(
  "counts.add-cast",
  `INSERT INTO cast_counts (id, fid, likes, recasts, replies) VALUES (?1, ?2, ?3, ?4, ?5)
   ON CONFLICT (id) DO UPDATE SET likes = likes + ?3, recasts = recasts + ?4, replies = replies + ?5`,
);
const dropEmptyCast = statement<unknown, [id: number]>(
  "counts.drop-empty-cast",
  "DELETE FROM cast_counts WHERE id = ? AND likes = 0 AND recasts = 0 AND replies = 0",
);
const moveCast = statement<unknown, [oldId: number, newId: number]>(
  "counts.move-cast",
  "UPDATE cast_counts SET id = ?2 WHERE id = ?1",
);
const addFollow = statement<unknown, [fid: number, followers: number, following: number]>(
  "counts.add-follow",
  `INSERT INTO follow_counts (fid, followers, following) VALUES (?1, ?2, ?3)
   ON CONFLICT (fid) DO UPDATE SET followers = followers + ?2, following = following + ?3`,
);
const dropEmptyFollow = statement<unknown, [fid: number]>(
  "counts.drop-empty-follow",
  "DELETE FROM follow_counts WHERE fid = ? AND followers = 0 AND following = 0",
);

/**
 * Changes of `cast_counts` and `follow_counts` in one transaction, written once and in order of keys as its last step. Nothing
 * in a transaction reads these tables.
 */
export class CountChanges {
  readonly #casts = new Map<number, CastCounts>();
  readonly #follows = new Map<number, FollowCounts>();

  /** Adds to the counts of the cast `id` of `fid`, which may be missing. */
  cast(id: number, fid: number, by: { likes?: number; recasts?: number; replies?: number }): void {
    let counts = this.#casts.get(id);
    if (!counts) {
      counts = { fid, likes: 0, recasts: 0, replies: 0 };
      this.#casts.set(id, counts);
    }
    counts.likes += by.likes ?? 0;
    counts.recasts += by.recasts ?? 0;
    counts.replies += by.replies ?? 0;
  }

  /** Moves the counts of a cast to its new id, which has none. */
  moveCast(db: SqliteConnection, oldId: number, newId: number): void {
    db.run(moveCast, oldId, newId);
    const changes = this.#casts.get(oldId);
    if (!changes) return;
    this.#casts.delete(oldId);
    this.cast(newId, changes.fid, changes);
  }

  /** Adds to the counts of live follows to and from an fid. */
  follow(fid: number, by: { followers?: number; following?: number }): void {
    let counts = this.#follows.get(fid);
    if (!counts) {
      counts = { followers: 0, following: 0 };
      this.#follows.set(fid, counts);
    }
    counts.followers += by.followers ?? 0;
    counts.following += by.following ?? 0;
  }

  /** Discards the changes of a transaction that was rolled back. */
  clear(): void {
    this.#casts.clear();
    this.#follows.clear();
  }

  flush(db: SqliteConnection): void {
    for (const [id, { fid, likes, recasts, replies }] of sorted(this.#casts)) {
      if (likes === 0 && recasts === 0 && replies === 0) continue;
      db.run(addCast, id, fid, likes, recasts, replies);
      if (likes < 0 || recasts < 0 || replies < 0) db.run(dropEmptyCast, id);
    }
    for (const [fid, { followers, following }] of sorted(this.#follows)) {
      if (followers === 0 && following === 0) continue;
      db.run(addFollow, fid, followers, following);
      if (followers < 0 || following < 0) db.run(dropEmptyFollow, fid);
    }
    this.clear();
  }
}

function sorted<T>(changes: ReadonlyMap<number, T>): [number, T][] {
  const entries = [...changes];
  return entries.length > 1 ? entries.sort(([a], [b]) => a - b) : entries;
}
