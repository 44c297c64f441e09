import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import { cursorCodec, cutPage, type Page } from "../../cursor.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";

/** A like or recast of a live cast. `timestamp`: unix seconds. */
export interface Reaction {
  readonly type: ReactionType;
  readonly fid: number;
  readonly castHash: Hash;
  readonly timestamp: number;
}

/** A reaction with the hash of its own message. */
export interface HashedReaction extends Reaction {
  readonly hash: Hash;
}

interface ByUserRow {
  hash: Uint8Array;
  castHash: Uint8Array;
  timestamp: number;
}

const authorOf = statement<{ fid: number }, [hash: Uint8Array]>(
  "skeleton.reactions.author-of-cast",
  "SELECT fid FROM casts WHERE hash = ?",
);
const onCast = statement<
  { fid: number; timestamp: number },
  [hash: Uint8Array, authorFid: number, type: number, timestamp: number, fid: number, limit: number]
>(
  "skeleton.reactions.on-cast",
  `SELECT fid, timestamp FROM reactions
   WHERE target_hash = ? AND target_fid = ? AND type = ? AND (timestamp, fid) < (?, ?)
   ORDER BY timestamp DESC, fid DESC LIMIT ?`,
);
// The join omits reactions to a deleted cast, and reactions that name another author's fid.
const ofUser = statement<
  ByUserRow,
  [fid: number, type: number, timestamp: number, hash: Uint8Array, limit: number]
>(
  "skeleton.reactions.of-user",
  `SELECT r.hash, r.target_hash AS castHash, r.timestamp
   FROM reactions r CROSS JOIN casts c ON c.hash = r.target_hash AND c.fid = r.target_fid
   WHERE r.fid = ? AND r.type = ? AND (r.timestamp, r.hash) < (?, ?)
   ORDER BY r.timestamp DESC, r.hash DESC LIMIT ?`,
);

const castCursors = {
  likes: cursorCodec("reaction/cast likes", ["int", "int"]),
  recasts: cursorCodec("reaction/cast recasts", ["int", "int"]),
} as const;
const userCursors = {
  likes: cursorCodec("reaction/user likes", ["int", "hash"]),
  recasts: cursorCodec("reaction/user recasts", ["int", "hash"]),
} as const;

/** The kind of reactions in a list. */
export type ReactionKind = keyof typeof castCursors;

const TYPES = {
  likes: ReactionType.REACTION_TYPE_LIKE,
  recasts: ReactionType.REACTION_TYPE_RECAST,
} as const;

/** The cursor codec of a list of reactions. Likes and recasts have different cursors. */
export const castReactionsCursor = (kind: ReactionKind) => castCursors[kind];
export const userReactionsCursor = (kind: ReactionKind) => userCursors[kind];

/** Returns the likes or recasts of a live cast, newest first. If `authorFid` is set, it must be the cast's author. */
export function reactionsOnCast(
  db: IndexDatabase,
  query: {
    hash: Hash;
    authorFid: number | undefined;
    kind: ReactionKind;
    limit: number;
    after: readonly [timestamp: number, fid: number] | undefined;
  },
): Page<Reaction> {
  const { hash, authorFid, kind, limit, after = [Number.MAX_SAFE_INTEGER, 0] } = query;
  const bytes = Buffer.from(hash.slice(2), "hex");
  const author = db.get(authorOf, bytes)?.fid;
  if (author === undefined || (authorFid !== undefined && authorFid !== author)) {
    return { rows: [], cursor: null };
  }
  const type = TYPES[kind];
  const rows = db
    .all(onCast, bytes, author, type, ...after, limit + 1)
    .map((row) => ({ type, castHash: hash, ...row }));
  return cutPage(rows, limit, (last) => castCursors[kind].encode([last.timestamp, last.fid]));
}

/** Returns the live casts that an fid liked or recasted, newest reaction first. */
export function reactionsOfUser(
  db: IndexDatabase,
  query: {
    fid: number;
    kind: ReactionKind;
    limit: number;
    after: readonly [timestamp: number, hash: Hash] | undefined;
  },
): Page<HashedReaction> {
  const { fid, kind, limit, after } = query;
  const [timestamp, hash] = after ?? [Number.MAX_SAFE_INTEGER, "0x"];
  const found = db.all(ofUser, fid, TYPES[kind], timestamp, Buffer.from(hash.slice(2), "hex"), limit + 1);
  const { rows, cursor } = cutPage(found, limit, (last) =>
    userCursors[kind].encode([last.timestamp, hex(last.hash)]),
  );
  const reactions = rows.map((row) => ({
    type: TYPES[kind],
    fid,
    hash: hex(row.hash),
    castHash: hex(row.castHash),
    timestamp: row.timestamp,
  }));
  return { rows: reactions, cursor };
}
