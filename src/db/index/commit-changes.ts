import type { SqliteConnection } from "../sqlite/connection.ts";
import { searchText } from "./search/search-text.ts";
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
const countsOfCast = statement<{ likes: number; recasts: number; replies: number }, [id: number]>(
  "counts.of-cast",
  "SELECT likes, recasts, replies FROM cast_counts WHERE id = ?",
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
 * Changes of `cast_counts` and `follow_counts` in one transaction, written once, in order of keys, as its last step. A
 * transaction reads these tables only through `ofCast`.
 */
export class CountChanges {
  readonly #casts = new Map<number, CastCounts>();
  readonly #follows = new Map<number, FollowCounts>();

  /** Adds to the counts of the cast `id` of `fid`. The cast may be missing. */
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

  /** Returns the counts of a cast, including the changes of the transaction. */
  ofCast(db: SqliteConnection, id: number): Omit<CastCounts, "fid"> {
    const [stored, changes] = [db.get(countsOfCast, id), this.#casts.get(id)];
    const sum = (name: "likes" | "recasts" | "replies") => (stored?.[name] ?? 0) + (changes?.[name] ?? 0);
    return { likes: sum("likes"), recasts: sum("recasts"), replies: sum("replies") };
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

const insertText = statement<unknown, [id: number, text: string]>(
  "search.insert",
  "INSERT INTO casts_fts (rowid, text) VALUES (?, ?)",
);
const textAt = statement<{ one: number }, [id: number]>(
  "search.at",
  "SELECT 1 AS one FROM casts_fts WHERE rowid = ?",
);
const deleteText = statement<unknown, [id: number]>("search.delete", "DELETE FROM casts_fts WHERE rowid = ?");

/**
 * The full-text changes of one transaction. The full-text index ends a segment at each id that is not above the previous
 * one, so the transaction writes the changes in order of ids as its last step.
 */
export class SearchChanges {
  /** Whether the full-text index is maintained. */
  isOn = true;
  readonly #added = new Map<number, string>();
  readonly #dropped = new Set<number>();

  add(castId: number, text: string): void {
    if (this.isOn) this.#added.set(castId, text);
  }

  /** Reports whether the index has the words of a cast, or will have them at the end of the transaction. */
  has(db: SqliteConnection, castId: number): boolean {
    if (this.#added.has(castId)) return true;
    return !this.#dropped.has(castId) && db.get(textAt, castId) !== undefined;
  }

  drop(castId: number): void {
    if (!this.isOn) return;
    if (!this.#added.delete(castId)) this.#dropped.add(castId);
  }

  /** Discards the changes of a transaction that was rolled back. */
  clear(): void {
    this.#added.clear();
    this.#dropped.clear();
  }

  flush(db: SqliteConnection): void {
    // Deletions first, because another cast may have been given a deleted id.
    for (const id of [...this.#dropped].sort(ascending)) db.run(deleteText, id);
    const added = [...this.#added].sort(([a], [b]) => ascending(a, b));
    for (const [id, text] of added) db.run(insertText, id, searchText(text));
    this.clear();
  }
}

const ascending = (a: number, b: number) => a - b;

/** Maximum number of rows that one commit moves to other cast ids. */
const MAX_REPOINTED_ROWS = 1000;

export interface Repoint {
  readonly oldId: number;
  readonly newId: number;
}

const allRepoints = statement<Repoint>(
  "repoints.all",
  "SELECT old_id AS oldId, new_id AS newId FROM cast_repoints",
);
const insertRepoint = statement<unknown, [oldId: number, newId: number]>(
  "repoints.insert",
  "INSERT INTO cast_repoints (old_id, new_id) VALUES (?, ?)",
);
const deleteRepoint = statement<unknown, [oldId: number]>(
  "repoints.delete",
  "DELETE FROM cast_repoints WHERE old_id = ?",
);

/** The rows of `cast_repoints`, read once, and the number of rows that the current transaction may still move. */
export class PendingRepoints {
  /** Old ids by new ids; undefined until they are read. */
  #oldIds: Map<number, number> | undefined;
  readonly #newIds = new Map<number, number>();
  /** Maximum per transaction. Tests lower it. */
  rowsPerTransaction = MAX_REPOINTED_ROWS;
  #rowsLeft = MAX_REPOINTED_ROWS;

  startTransaction(): void {
    this.#rowsLeft = this.rowsPerTransaction;
  }

  /** Number of rows that the current transaction may still move. */
  get rowsLeft(): number {
    return this.#rowsLeft;
  }

  /** Counts rows that the current transaction has moved. */
  use(rows: number): void {
    this.#rowsLeft -= rows;
  }

  all(db: SqliteConnection): Repoint[] {
    return [...this.#loaded(db)].map(([newId, oldId]) => ({ oldId, newId }));
  }

  /** Reports whether rows are left to move. */
  areAny(db: SqliteConnection): boolean {
    return this.#loaded(db).size > 0;
  }

  /** Returns the old id under which rows may still name this cast. */
  oldIdOf(db: SqliteConnection, newId: number): number | undefined {
    return this.#loaded(db).get(newId);
  }

  /** Returns the id of a cast that arrived while rows named it by `oldId`. */
  newIdOf(db: SqliteConnection, oldId: number): number | undefined {
    this.#loaded(db);
    return this.#newIds.get(oldId);
  }

  add(db: SqliteConnection, { oldId, newId }: Repoint): void {
    this.#loaded(db).set(newId, oldId);
    this.#newIds.set(oldId, newId);
    db.run(insertRepoint, oldId, newId);
  }

  remove(db: SqliteConnection, { oldId, newId }: Repoint): void {
    this.#loaded(db).delete(newId);
    this.#newIds.delete(oldId);
    db.run(deleteRepoint, oldId);
  }

  /** Discards what a rolled-back transaction may have changed. */
  clear(): void {
    this.#oldIds = undefined;
  }

  #loaded(db: SqliteConnection): Map<number, number> {
    if (this.#oldIds) return this.#oldIds;
    this.#oldIds = new Map();
    this.#newIds.clear();
    for (const { oldId, newId } of db.all(allRepoints)) {
      this.#oldIds.set(newId, oldId);
      this.#newIds.set(oldId, newId);
    }
    return this.#oldIds;
  }
}
