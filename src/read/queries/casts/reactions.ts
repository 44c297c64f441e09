import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import { type CursorCodec, cursorCodec, cutPage, type Page } from "../../cursor.ts";
import { castByHash } from "../../hydrate/cast-ids.ts";
import type { Hash } from "../../hydrate/casts.ts";
import { isLiveCast } from "../is-live-cast.ts";
import { orderedPage } from "../ordered-page.ts";
import { hashesOfReactions, type ReactionKey } from "./reaction-hashes.ts";

/** A like or recast of a live cast. `timestamp`: unix seconds. */
export interface Reaction {
  readonly type: ReactionType;
  readonly fid: number;
  /** The row of the cast. */
  readonly castId: number;
  readonly timestamp: number;
}

/** A reaction in a list of its user. */
type OwnReaction = Reaction & ReactionKey;

const onCast = statement<
  { fid: number; timestamp: number },
  [castId: number, type: number, timestamp: number, fid: number, limit: number]
>(
  "skeleton.reactions.on-cast",
  `SELECT fid, timestamp FROM reactions
   WHERE target_id = ? AND type = ? AND (timestamp, fid) < (?, ?)
   ORDER BY timestamp DESC, fid DESC LIMIT ?`,
);
// Omits reactions to a deleted cast, and reactions that name another author's fid, which have other ids.
const ofUser = statement<
  { castId: number; targetFid: number; timestamp: number },
  [fid: number, type: number, maxTimestamp: number, limit: number]
>(
  "skeleton.reactions.of-user",
  `SELECT r.target_id AS castId, r.target_fid AS targetFid, r.timestamp
   FROM reactions r
   WHERE r.fid = ? AND r.type = ? AND r.timestamp <= ? AND ${isLiveCast("r.target_id")}
   ORDER BY r.timestamp DESC LIMIT ?`,
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
  const cast = castByHash(db, hash);
  if (cast === undefined || (authorFid !== undefined && authorFid !== cast.fid)) {
    return { rows: [], cursor: null };
  }
  const type = TYPES[kind];
  const rows = db
    .all(onCast, cast.id, type, ...after, limit + 1)
    .map((row) => ({ type, castId: cast.id, ...row }));
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
): Page<Reaction> {
  const { kind } = query;
  return ownReactionPage(db, { ...query, kinds: [kind], cursor: userCursors[kind] });
}

/** Returns a page of the live casts that an fid liked or recasted, newest reaction first, equal times by hash. */
export function ownReactionPage(
  db: IndexDatabase,
  query: {
    fid: number;
    kinds: readonly ReactionKind[];
    limit: number;
    after: readonly [timestamp: number, hash: Hash] | undefined;
    cursor: CursorCodec<readonly ["int", "hash"]>;
  },
): Page<Reaction> {
  const { fid, kinds, limit, after, cursor } = query;
  const { rows, hasMore } = orderedPage<OwnReaction>({
    limit,
    after: after && { hash: after[1], isTied: ({ timestamp }) => timestamp === after[0] },
    isTied: (a, b) => a.timestamp === b.timestamp,
    read(maxRows) {
      const lists = kinds.map((kind) => {
        const type = TYPES[kind];
        return db
          .all(ofUser, fid, type, after ? after[0] : Number.MAX_SAFE_INTEGER, maxRows)
          .map((row) => ({ type, fid, targetId: row.castId, ...row }));
      });
      const [only = []] = lists;
      if (lists.length < 2) return only;
      return lists
        .flat()
        .sort((a, b) => b.timestamp - a.timestamp)
        .slice(0, maxRows);
    },
    hashesOf: (tied) => hashesOfReactions(db, tied),
  });
  const last = rows.at(-1);
  if (!hasMore || last === undefined) return { rows, cursor: null };
  const [hash = "0x"] = hashesOfReactions(db, [last]);
  return { rows, cursor: cursor.encode([last.timestamp, hash]) };
}
