import { timestampOfCastId } from "../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { decodeRest } from "../../db/index/messages/fields.ts";
import { embedsOf, mentionsOf, type StoredEmbed } from "../../db/index/project/casts.ts";
import { statement } from "../../db/index/statement.ts";

export type Hash = `0x${string}`;

/** The state of a Cast object without its users. Times are in Unix seconds. */
export interface CastState extends CastContent, CastCounts {}

/** The parts of a cast that its message and its thread determine. */
export interface CastContent {
  readonly hash: Hash;
  readonly fid: number;
  readonly timestamp: number;
  readonly text: string;
  readonly parent: { readonly fid: number; readonly hash: Hash } | undefined;
  readonly parentUrl: string | null;
  readonly threadHash: Hash;
  readonly rootParentUrl: string | null;
  readonly mentions: readonly Mention[];
  readonly embeds: readonly StoredEmbed[];
}

/** The state of a live cast with the id of its row, which never leaves the process. */
export interface StoredCast extends CastState {
  readonly id: number;
}

/** Numbers of reactions and replies to a cast. */
interface CastCounts {
  readonly likes: number;
  readonly recasts: number;
  readonly replies: number;
}

/** A mentioned fid and its byte offset in the UTF-8 text. The stored text does not contain the name. */
export type Mention = readonly [fid: number, byteOffset: number];

interface CastRow {
  id: number;
  hash: Uint8Array;
  fid: number;
  text: string;
  parentFid: number | null;
  parentHash: Uint8Array | null;
  parentUrl: string | null;
  rootHash: Uint8Array | null;
  rootUrl: string | null;
  rest: Uint8Array | null;
  likes: number | null;
  recasts: number | null;
  replies: number | null;
}

/** Selects the casts that a condition finds for each entry of a JSON array. */
const selectCasts = (isCast: string) =>
  `SELECT c.id, c.hash, c.fid, c.text, c.parent_fid AS parentFid, c.parent_hash AS parentHash, p.url AS parentUrl,
     c.root_hash AS rootHash, r.url AS rootUrl, c.rest, n.likes, n.recasts, n.replies
   FROM json_each(?) j
   CROSS JOIN casts c ON ${isCast}
   LEFT JOIN urls p ON p.id = c.parent_url_id
   LEFT JOIN urls r ON r.id = c.root_url_id
   LEFT JOIN cast_counts n ON n.id = c.id`;
const rowsById = statement<CastRow, [idsJson: string]>("hydrate.casts", selectCasts("c.id = j.value"));
// The index has the first 6 bytes of a hash. The row has the others.
const rowsByHash = statement<CastRow, [hashesJson: string]>(
  "hydrate.casts-by-hash",
  selectCasts("substr(c.hash, 1, 6) = substr(unhex(j.value), 1, 6) AND c.hash = unhex(j.value)"),
);

const HASH_INDEX_BYTES = 6;
/** Reads only the index. */
const idsByHash = statement<CastRef, [hashesJson: string]>(
  "hydrate.ids-by-hash",
  `SELECT c.id FROM json_each(?) j CROSS JOIN casts c
   ON substr(c.hash, 1, ${HASH_INDEX_BYTES}) = substr(unhex(j.value), 1, ${HASH_INDEX_BYTES})`,
);

// Rows may still name a cast that is no longer live.
const countRows = statement<CastCounts & { at: number }, [castsJson: string]>(
  "hydrate.cast-counts",
  `SELECT j.key AS at, n.likes, n.recasts, n.replies
   FROM json_each(?) j
   CROSS JOIN cast_counts n ON n.id = coalesce(
     (SELECT id FROM casts c WHERE substr(c.hash, 1, 6) = substr(unhex(j.value ->> 0), 1, 6)
        AND c.hash = unhex(j.value ->> 0) AND c.fid = j.value ->> 1),
     (SELECT max(id) FROM missing_casts m WHERE substr(m.hash, 1, 6) = substr(unhex(j.value ->> 0), 1, 6)
        AND m.hash = unhex(j.value ->> 0) AND m.fid = j.value ->> 1))`,
);

/** Look-ups that load casts by their ids. */
const castRows = (keys: readonly number[]) => ["casts", "cast_counts"].map((tree) => ({ tree, keys }));

/** Loads the live casts among `ids` in one statement. */
export function loadCasts(db: IndexDatabase, ids: readonly number[]): StoredCast[] {
  if (ids.length === 0) return [];
  db.willRead(() => castRows(ids));
  return db.all(rowsById, JSON.stringify(ids)).map(castOf);
}

/** Loads the live casts among `hashes` in one statement. */
export function loadCastsByHash(db: IndexDatabase, hashes: readonly Hash[]): StoredCast[] {
  if (hashes.length === 0) return [];
  const json = JSON.stringify(hashes.map((hash) => hash.slice(2)));
  const keys = () => hashes.map((hash) => [bytesOf(hash).subarray(0, HASH_INDEX_BYTES)]);
  db.willRead(() => [{ tree: "casts_by_hash", keys: keys() }]);
  db.willRead(() => castRows(db.all(idsByHash, json).map(({ id }) => id)));
  return db.all(rowsByHash, json).map(castOf);
}

function castOf(row: CastRow): StoredCast {
  const hash = hex(row.hash);
  const { parentFid, parentHash, parentUrl, rootHash } = row;
  const rest = row.rest === null ? undefined : decodeRest(row.rest);
  return {
    id: row.id,
    hash,
    fid: row.fid,
    timestamp: timestampOfCastId(row.id),
    text: row.text,
    parent: parentFid !== null && parentHash !== null ? { fid: parentFid, hash: hex(parentHash) } : undefined,
    parentUrl,
    threadHash: rootHash === null ? hash : hex(rootHash),
    rootParentUrl: rootHash === null ? parentUrl : row.rootUrl,
    mentions: rest === undefined ? [] : mentionsOf(rest),
    embeds: rest === undefined ? [] : embedsOf(rest),
    likes: row.likes ?? 0,
    recasts: row.recasts ?? 0,
    replies: row.replies ?? 0,
  };
}

/** Adds the numbers of reactions and replies to casts, live or not, in one statement. */
export function withCounts(db: IndexDatabase, casts: readonly CastContent[]): CastState[] {
  if (casts.length === 0) return [];
  const json = JSON.stringify(casts.map(({ hash, fid }) => [hash.slice(2), fid]));
  const counts = new Map(db.all(countRows, json).map((row) => [row.at, row]));
  return casts.map((cast, at) => {
    const { likes = 0, recasts = 0, replies = 0 } = counts.get(at) ?? {};
    return { ...cast, likes, recasts, replies };
  });
}

/** Returns bytes as lower-case hex with `0x`, the form of hashes, keys and addresses in responses. */
export function hex(bytes: Uint8Array): Hash {
  return `0x${bytes.toHex()}`;
}

/** Converts between hashes, by which clients name casts, and row ids, which never leave the process. */

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
const hashRow = statement<{ hash: Uint8Array }, [id: number]>(
  "hydrate.hash-of-cast",
  "SELECT hash FROM casts WHERE id = ?",
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

/** Returns the hash of a live cast; undefined if no live cast has the id. */
export function hashOfCast(db: IndexDatabase, id: number): Hash | undefined {
  const row = db.get(hashRow, id);
  return row && hex(row.hash);
}

/** Returns the hashes of live casts, in the order of `ids`. */
export function hashesOfCasts(db: IndexDatabase, ids: readonly number[]): Hash[] {
  const hashes: Hash[] = new Array(ids.length).fill("0x");
  for (const { at, hash } of db.all(hashRows, JSON.stringify(ids))) hashes[at] = hex(hash);
  return hashes;
}

/** Returns the hashes of casts, live or missing, in the order of `ids`; "0x" for an id that is not a cast's. */
export function hashesOfAnyCasts(db: IndexDatabase, ids: readonly number[]): Hash[] {
  const hashes = hashesOfCasts(db, ids);
  const missing = hashes.flatMap((hash, at) => (hash === "0x" ? [at] : []));
  if (missing.length === 0) return hashes;
  const json = JSON.stringify(missing.map((at) => ids[at]));
  for (const { at, hash } of db.all(missingHashRows, json)) hashes[missing[at] ?? 0] = hex(hash);
  return hashes;
}

export function bytesOf(hash: Hash): Buffer {
  return Buffer.from(hash.slice(2), "hex");
}
