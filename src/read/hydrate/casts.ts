import type { IndexDatabase } from "../../db/index/database.ts";
import type { StoredEmbed } from "../../db/index/project/casts.ts";
import { statement } from "../../db/index/statement.ts";

export type Hash = `0x${string}`;

/** The state of a Cast object without its users. Times are unix seconds. */
export interface CastState extends CastContent, CastCounts {}

/** The parts of a cast that come from its message and its thread. */
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

/** A live cast that replies to another one. */
export interface Reply {
  readonly fid: number;
  readonly timestamp: number;
  readonly hash: Hash;
}

/** The numbers of reactions and replies to a cast. */
interface CastCounts {
  readonly likes: number;
  readonly recasts: number;
  readonly replies: number;
}

/** A mentioned fid and its byte offset in the UTF-8 text. The stored text does not contain the name. */
export type Mention = readonly [fid: number, byteOffset: number];

interface CastRow {
  hash: Uint8Array;
  fid: number;
  timestamp: number;
  text: string;
  parentFid: number | null;
  parentHash: Uint8Array | null;
  parentUrl: string | null;
  rootHash: Uint8Array | null;
  rootParentUrl: string | null;
  mentions: string | null;
  embeds: string | null;
  likes: number | null;
  recasts: number | null;
  replies: number | null;
}

const castRows = statement<CastRow, [hashesJson: string]>(
  "hydrate.casts",
  `SELECT c.hash, c.fid, c.timestamp, c.text, c.parent_fid AS parentFid, c.parent_hash AS parentHash,
     c.parent_url AS parentUrl, c.root_hash AS rootHash, c.root_parent_url AS rootParentUrl,
     c.mentions, c.embeds, n.likes, n.recasts, n.replies
   FROM json_each(?) j
   CROSS JOIN casts c ON c.hash = unhex(j.value)
   LEFT JOIN cast_counts n ON n.hash = c.hash AND n.fid = c.fid`,
);

const countRows = statement<CastCounts & { hash: Uint8Array }, [castsJson: string]>(
  "hydrate.cast-counts",
  `SELECT n.hash, n.likes, n.recasts, n.replies
   FROM json_each(?) j
   CROSS JOIN cast_counts n ON n.hash = unhex(j.value ->> 0) AND n.fid = j.value ->> 1`,
);

/** Loads the live casts among `hashes` in one statement. */
export function loadCasts(db: IndexDatabase, hashes: Iterable<Hash>): Map<Hash, CastState> {
  const distinct = [...new Set(hashes)];
  const casts = new Map<Hash, CastState>();
  if (distinct.length === 0) return casts;
  const json = JSON.stringify(distinct.map((hash) => hash.slice(2)));
  for (const row of db.all(castRows, json)) {
    const hash = hex(row.hash);
    casts.set(hash, {
      hash,
      fid: row.fid,
      timestamp: row.timestamp,
      text: row.text,
      parent:
        row.parentFid !== null && row.parentHash !== null
          ? { fid: row.parentFid, hash: hex(row.parentHash) }
          : undefined,
      parentUrl: row.parentUrl,
      threadHash: row.rootHash === null ? hash : hex(row.rootHash),
      rootParentUrl: row.rootHash === null ? row.parentUrl : row.rootParentUrl,
      mentions: row.mentions === null ? [] : JSON.parse(row.mentions),
      embeds: row.embeds === null ? [] : JSON.parse(row.embeds),
      likes: row.likes ?? 0,
      recasts: row.recasts ?? 0,
      replies: row.replies ?? 0,
    });
  }
  return casts;
}

/** Adds the numbers of reactions and replies to casts, live or not, in one statement. */
export function withCounts(db: IndexDatabase, casts: readonly CastContent[]): CastState[] {
  if (casts.length === 0) return [];
  const json = JSON.stringify(casts.map(({ hash, fid }) => [hash.slice(2), fid]));
  const counts = new Map(db.all(countRows, json).map((row) => [hex(row.hash), row]));
  return casts.map((cast) => {
    const { likes = 0, recasts = 0, replies = 0 } = counts.get(cast.hash) ?? {};
    return { ...cast, likes, recasts, replies };
  });
}

/** Returns bytes as lower-case hex with `0x`, the form of hashes, keys and addresses in responses. */
export function hex(bytes: Uint8Array): Hash {
  return `0x${bytes.toHex()}`;
}
