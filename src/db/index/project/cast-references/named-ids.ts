import type { IndexDatabase } from "../../database.ts";
import { statement } from "../../statement.ts";

const liveCast = statement<{ id: number }, [hash: Uint8Array, fid: number]>(
  "named-ids.live-cast",
  "SELECT id FROM casts WHERE substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1 AND fid = ?2",
);
const missingCast = statement<{ id: number }, [hash: Uint8Array, fid: number]>(
  "named-ids.missing-cast",
  "SELECT id FROM missing_casts WHERE substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1 AND fid = ?2",
);
const lowestMissing = statement<{ id: number | null }>(
  "named-ids.lowest-missing",
  "SELECT min(id) AS id FROM missing_casts",
);
const insertMissing = statement<unknown, [id: number, hash: Uint8Array, fid: number]>(
  "named-ids.insert-missing",
  "INSERT INTO missing_casts (id, hash, fid) VALUES (?, ?, ?)",
);
const urlByText = statement<{ id: number }, [url: string]>(
  "named-ids.url",
  "SELECT id FROM urls WHERE url = ?",
);
const insertUrl = statement<unknown, [url: string]>(
  "named-ids.insert-url",
  "INSERT INTO urls (url) VALUES (?)",
);
const urlById = statement<{ url: string }, [id: number]>(
  "named-ids.url-by-id",
  "SELECT url FROM urls WHERE id = ?",
);

/** Returns the id of a live cast of this author. */
export function findLiveCastId(db: IndexDatabase, fid: number, hash: Uint8Array): number | undefined {
  const recent = db.recentCasts.idOf(fid, hash);
  if (recent !== undefined) return recent;
  const id = db.get(liveCast, hash, fid)?.id;
  if (id !== undefined) db.recentCasts.add(id, fid, hash);
  return id;
}

/** Returns the id of a cast in `missing_casts`. */
export function findMissingCastId(db: IndexDatabase, fid: number, hash: Uint8Array): number | undefined {
  const id = db.get(missingCast, hash, fid)?.id;
  // While the rows of a cast are being repointed, it can have a row here for both of its ids.
  return id !== undefined && id < 0 ? (db.repoints.newIdOf(db, id) ?? id) : id;
}

/** Returns the id of a cast that is live or that a live row names; undefined for any other cast. */
export function findCastId(db: IndexDatabase, fid: number, hash: Uint8Array): number | undefined {
  return findLiveCastId(db, fid, hash) ?? findMissingCastId(db, fid, hash);
}

/**
 * Returns the id by which rows name a cast, live or not. A cast that was never stored here gets a row in `missing_casts`
 * with a negative id. Call it only to write a row that names the cast. After such a row is deleted, call `db.unnamed.cast`.
 */
export function castIdOf(db: IndexDatabase, fid: number, hash: Uint8Array): number {
  const known = findCastId(db, fid, hash);
  if (known !== undefined) return known;
  const id = Math.min(db.get(lowestMissing)?.id ?? 0, 0) - 1;
  db.run(insertMissing, id, hash, fid);
  return id;
}

/** Keeps the id of a cast that is no longer live because other rows name it. */
export function keepMissingCast(db: IndexDatabase, id: number, fid: number, hash: Uint8Array): void {
  db.run(insertMissing, id, hash, fid);
}

/** Returns the id of a URL that a live row names. */
export function findUrlId(db: IndexDatabase, url: string): number | undefined {
  return db.get(urlByText, url)?.id;
}

/**
 * Returns the id by which rows name a URL. Call it only to write such a row. After such a row is deleted, call
 * `db.unnamed.url`.
 */
export function urlIdOf(db: IndexDatabase, url: string): number {
  return findUrlId(db, url) ?? db.insert(insertUrl, url);
}

/** Returns the URL whose id a live row contains. */
export function urlOf(db: IndexDatabase, id: number): string {
  const row = db.get(urlById, id);
  if (!row) throw new Error("a row names a URL that is not stored");
  return row.url;
}
