import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { type Hash, hex } from "./casts.ts";

/** Conversion between hashes, by which clients name casts, and the ids of rows, which never leave the process. */

interface HashRow {
  at: number;
  hash: Uint8Array;
}

// The index has the first 6 bytes of a hash. The row has the others.
const byHash = statement<{ id: number; fid: number }, [hash: Uint8Array]>(
  "hydrate.cast-by-hash",
  "SELECT id, fid FROM casts WHERE substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1",
);
const hashRows = statement<HashRow, [idsJson: string]>(
  "hydrate.hashes-of-casts",
  "SELECT j.key AS at, c.hash FROM json_each(?) j CROSS JOIN casts c ON c.id = j.value",
);
const missingHashRows = statement<HashRow, [idsJson: string]>(
  "hydrate.hashes-of-missing-casts",
  "SELECT j.key AS at, m.hash FROM json_each(?) j CROSS JOIN missing_casts m ON m.id = j.value",
);

/** A live cast by its row. */
export interface CastRef {
  readonly id: number;
}

/** Returns the id and the author of a live cast. */
export function castByHash(db: IndexDatabase, hash: Hash): { id: number; fid: number } | undefined {
  return db.get(byHash, bytesOf(hash));
}

/** Returns the hashes of live casts, in the order of `ids`. */
export function hashesOfCasts(db: IndexDatabase, ids: readonly number[]): Hash[] {
  const hashes: Hash[] = new Array(ids.length).fill("0x");
  for (const { at, hash } of db.all(hashRows, JSON.stringify(ids))) hashes[at] = hex(hash);
  return hashes;
}

/** Returns the hashes of casts, live or missing, in the order of `ids`; "0x" for an id of no cast. */
export function hashesOfAnyCasts(db: IndexDatabase, ids: readonly number[]): Hash[] {
  const hashes = hashesOfCasts(db, ids);
  const missing = hashes.flatMap((hash, at) => (hash === "0x" ? [at] : []));
  if (missing.length === 0) return hashes;
  const json = JSON.stringify(missing.map((at) => ids[at]));
  for (const { at, hash } of db.all(missingHashRows, json)) hashes[missing[at] ?? 0] = hex(hash);
  return hashes;
}

/** Returns the bytes of a hash. */
export function bytesOf(hash: Hash): Buffer {
  return Buffer.from(hash.slice(2), "hex");
}
