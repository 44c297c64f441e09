import type { IndexDatabase } from "./database.ts";
import { statement } from "./statement.ts";

/** What is ranked: live casts, by hash, and channels, by id. */
export type RankingKind = "casts" | "channels";

export interface RankedRef {
  /** The hash of a cast, or the UTF-8 of a channel's id. */
  readonly ref: Uint8Array;
  readonly score: number;
}

/** Everything that one refresh ranked, best first. `snapshot` is its time, unix milliseconds. */
export interface RankingSnapshot {
  readonly snapshot: number;
  readonly rankings: Readonly<Record<RankingKind, readonly RankedRef[]>>;
}

/** How long a walk may stay in the ranking in which it began, once newer ones are there. */
const KEPT_MS = 3_600_000;

/**
 * Rank 0 holds no entry: its row says that the snapshot exists, so that a ranking of nothing replaces the one before
 * it too. Entries begin at 1.
 */
const HEAD_RANK = 0;
const EMPTY = new Uint8Array();

const newest = statement<{ snapshot: number }, [kind: string]>(
  "rankings.newest",
  "SELECT snapshot FROM rankings WHERE kind = ? ORDER BY snapshot DESC LIMIT 1",
);
const insertEntry = statement<
  unknown,
  [kind: string, snapshot: number, rank: number, ref: Uint8Array, score: number]
>("rankings.insert", "INSERT INTO rankings (kind, snapshot, rank, ref, score) VALUES (?, ?, ?, ?, ?)");
const dropOld = statement<unknown, [kind: string, oldest: number]>(
  "rankings.drop-old",
  "DELETE FROM rankings WHERE kind = ? AND snapshot < ?",
);
const dropFrom = statement<unknown, [kind: string, snapshot: number]>(
  "rankings.drop-from",
  "DELETE FROM rankings WHERE kind = ? AND snapshot >= ?",
);

/** The newest snapshot of a kind, unix milliseconds; undefined before the first. */
export function newestSnapshot(db: IndexDatabase, kind: RankingKind): number | undefined {
  return db.get(newest, kind)?.snapshot;
}

/**
 * Stores a snapshot and drops those that no walk may be in any more. One that calls itself newer was made while the
 * clock was wrong, and would stay the newest for as long: it goes too.
 */
export function storeRankings(db: IndexDatabase, { snapshot, rankings }: RankingSnapshot): void {
  db.transaction(() => {
    for (const kind of ["casts", "channels"] as const) {
      db.run(dropFrom, kind, snapshot);
      db.run(dropOld, kind, snapshot - KEPT_MS);
      db.run(insertEntry, kind, snapshot, HEAD_RANK, EMPTY, 0);
      rankings[kind].forEach(({ ref, score }, at) => {
        db.run(insertEntry, kind, snapshot, HEAD_RANK + 1 + at, ref, score);
      });
    }
  });
}
