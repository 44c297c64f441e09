import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

/** The kinds of ranking: live casts by hash, channels by id, topics by their words and authors. */
export type RankingKind = "casts" | "channels" | "topics";

export interface RankedRef {
  /** The hash of a cast, or the UTF-8 bytes of a channel's id. */
  readonly ref: Uint8Array;
  readonly score: number;
}

/**
 * Interval between snapshots in milliseconds. Snapshots are at multiples of it, so every node has snapshots of the same
 * times, and a cursor from one node names a snapshot that other nodes have too.
 */
export const SNAPSHOT_INTERVAL_MS = 60_000;

/** Returns the time of the newest snapshot that can exist at a time, both in Unix milliseconds. */
export function snapshotTimeAt(nowMs: number): number {
  return Math.floor(nowMs / SNAPSHOT_INTERVAL_MS) * SNAPSHOT_INTERVAL_MS;
}

/** The rankings of one refresh, best first. `snapshot` is its time in Unix milliseconds, as returned by `snapshotTimeAt`. */
export interface RankingSnapshot {
  readonly snapshot: number;
  readonly rankings: Readonly<Record<"casts" | "channels", readonly RankedRef[]>>;
}

/** The topics of an hour, best first. `snapshot` is the start of the hour in Unix milliseconds. */
export interface TopicRanking {
  readonly snapshot: number;
  readonly topics: readonly RankedRef[];
}

/** A word or a pair of words, with some of the accounts that wrote it. */
export interface RankedTopic {
  readonly name: string;
  readonly authors: readonly number[];
}

export function encodeTopic({ name, authors }: RankedTopic): Uint8Array {
  return Buffer.from(`${name}\n${authors.join(",")}`);
}

export function decodeTopic(ref: Uint8Array): RankedTopic {
  const [name = "", authors = ""] = Buffer.from(ref).toString().split("\n");
  return { name, authors: authors === "" ? [] : authors.split(",").map(Number) };
}

/** How long, in milliseconds, a snapshot stays readable for clients that page through it after newer ones exist. */
export const RETENTION_MS = 3_600_000;

/**
 * Rank 0 is not an entry. Its row marks that the snapshot exists, so that an empty ranking also replaces the previous one.
 * Entries start at rank 1.
 */
const HEAD_RANK = 0;
const EMPTY = new Uint8Array();

const newest = statement<{ snapshot: number }, [kind: string]>(
  "rankings.newest",
  "SELECT snapshot FROM rankings WHERE kind = ? ORDER BY snapshot DESC LIMIT 1",
);
const notAfter = statement<{ snapshot: number }, [kind: string, at: number]>(
  "rankings.not-after",
  "SELECT snapshot FROM rankings WHERE kind = ? AND snapshot <= ? ORDER BY snapshot DESC LIMIT 1",
);
const notBefore = statement<{ snapshot: number }, [kind: string, at: number]>(
  "rankings.not-before",
  "SELECT snapshot FROM rankings WHERE kind = ? AND snapshot >= ? ORDER BY snapshot LIMIT 1",
);
const rankOf = statement<{ rank: number }, [kind: string, snapshot: number, ref: Uint8Array]>(
  "rankings.rank-of",
  "SELECT rank FROM rankings WHERE kind = ? AND snapshot = ? AND ref = ? ORDER BY rank LIMIT 1",
);
const insertEntry = statement<
  unknown,
  [kind: string, snapshot: number, rank: number, ref: Uint8Array, score: number]
>("rankings.insert", "INSERT INTO rankings (kind, snapshot, rank, ref, score) VALUES (?, ?, ?, ?, ?)");
const dropAll = statement<unknown>("rankings.drop-all", "DELETE FROM rankings WHERE kind >= ''");
const dropOld = statement<unknown, [kind: string, oldest: number]>(
  "rankings.drop-old",
  "DELETE FROM rankings WHERE kind = ? AND snapshot < ?",
);
const dropFrom = statement<unknown, [kind: string, snapshot: number]>(
  "rankings.drop-from",
  "DELETE FROM rankings WHERE kind = ? AND snapshot >= ?",
);

/** Returns the time of the newest snapshot of a kind in Unix milliseconds; undefined before the first. */
export function newestSnapshot(db: IndexDatabase, kind: RankingKind): number | undefined {
  return db.get(newest, kind)?.snapshot;
}

/** Returns the time of the snapshot of a kind that is nearest to a time; undefined if none is within `RETENTION_MS`. */
export function nearestSnapshot(db: IndexDatabase, kind: RankingKind, atMs: number): number | undefined {
  const before = db.get(notAfter, kind, atMs)?.snapshot ?? Number.NEGATIVE_INFINITY;
  if (before === atMs) return before;
  const after = db.get(notBefore, kind, atMs)?.snapshot ?? Number.POSITIVE_INFINITY;
  const nearest = atMs - before <= after - atMs ? before : after;
  return Math.abs(nearest - atMs) <= RETENTION_MS ? nearest : undefined;
}

/** Returns the rank of an entry in a snapshot, which is read from its start; undefined if the entry is not in it. */
export function rankIn(
  db: IndexDatabase,
  kind: RankingKind,
  { snapshot, ref }: { readonly snapshot: number; readonly ref: Uint8Array },
): number | undefined {
  return db.get(rankOf, kind, snapshot, ref)?.rank;
}

/** Deletes all rankings. Call it in a transaction. */
export function deleteRankings(db: IndexDatabase): void {
  db.run(dropAll);
}

/**
 * Stores a snapshot and deletes those past their retention. A stored snapshot with a later time was created while the clock
 * was wrong. It would remain the newest until that time, so it is deleted too.
 */
export function storeRankings(db: IndexDatabase, { snapshot, rankings }: RankingSnapshot): void {
  db.transaction(() => {
    for (const kind of ["casts", "channels"] as const) storeRanking(db, kind, snapshot, rankings[kind]);
  });
}

/** Stores the topics of an hour in place of those of all earlier hours except the previous one. */
export function storeTopics(db: IndexDatabase, { snapshot, topics }: TopicRanking): void {
  db.transaction(() => storeRanking(db, "topics", snapshot, topics));
}

function storeRanking(
  db: IndexDatabase,
  kind: RankingKind,
  snapshot: number,
  ranked: readonly RankedRef[],
): void {
  db.run(dropFrom, kind, snapshot);
  db.run(dropOld, kind, snapshot - RETENTION_MS);
  db.run(insertEntry, kind, snapshot, HEAD_RANK, EMPTY, 0);
  ranked.forEach(({ ref, score }, at) => {
    db.run(insertEntry, kind, snapshot, HEAD_RANK + 1 + at, ref, score);
  });
}
