import type { IndexDatabase } from "../../../db/index/database.ts";
import { networkOfIndex } from "../../../db/index/identity.ts";
import { hashOfColumns } from "../../../db/index/messages/encode-data.ts";
import { statement } from "../../../db/index/statement.ts";
import { messageHash } from "../../../protocol/message/message-hash.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import { type CursorCodec, cursorCodec, cutPage, type Page } from "../../cursor.ts";
import { castByHash, type Hash, hex } from "../../hydrate/casts.ts";
import { isLiveCast, orderedPage } from "../ordered-page.ts";

/** A like or recast of a live cast. `timestamp` is in Unix seconds. */
export interface Reaction {
  readonly type: ReactionType;
  readonly fid: number;
  /** Row id of the cast. */
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
// Omits reactions to a deleted cast, and those that name another author's fid, because these have other ids.
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

/** Returns a page of the live casts that an fid liked or recasted, newest reaction first; equal times by hash. */
function ownReactionPage(
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

/** Lists likes and recasts together. */

export const mixedCastReactionsCursor = cursorCodec("reactions/cast mixed", ["int", "int", "int"]);
export const mixedUserReactionsCursor = cursorCodec("reactions/user mixed", ["int", "hash"]);

/**
 * Returns the likes and recasts of a live cast, newest first. Ties are broken by the greater fid, then the recast before
 * the like. If `authorFid` is set, it must be the author of the cast.
 */
export function mixedReactionsOnCast(
  db: IndexDatabase,
  query: {
    hash: Hash;
    authorFid?: number | undefined;
    kinds: readonly ReactionKind[];
    limit: number;
    after: readonly [timestamp: number, fid: number, type: number] | undefined;
  },
): Page<Reaction> {
  const { hash, authorFid, kinds, limit, after } = query;
  const isAfter = ({ timestamp, fid, type }: Reaction) =>
    !after || compare([timestamp, fid, type], after) < 0;
  // The next row may have the cursor's fid and the other type.
  const from = after && ([after[0], after[1] + 1] as const);
  const rows = kinds
    .flatMap((kind) => [
      ...reactionsOnCast(db, { hash, authorFid, kind, limit: limit + 2, after: from }).rows,
    ])
    .filter(isAfter)
    .sort((a, b) => compare([b.timestamp, b.fid, b.type], [a.timestamp, a.fid, a.type]));
  return cutPage(rows.slice(0, limit + 1), limit, ({ timestamp, fid, type }) =>
    mixedCastReactionsCursor.encode([timestamp, fid, type]),
  );
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

/** Returns the live casts that an fid liked or recasted, newest reaction first. */
export function mixedReactionsOfUser(
  db: IndexDatabase,
  query: {
    fid: number;
    kinds: readonly ReactionKind[];
    limit: number;
    after: readonly [timestamp: number, hash: Hash] | undefined;
  },
): Page<Reaction> {
  return ownReactionPage(db, { ...query, cursor: mixedUserReactionsCursor });
}

/** The primary key of a reaction. */
export interface ReactionKey {
  readonly fid: number;
  readonly targetFid: number;
  readonly targetId: number;
  readonly type: number;
}

interface Row {
  at: number;
  fid: number;
  type: number;
  timestamp: number;
  targetFid: number;
  targetHash: Uint8Array | null;
  targetUrl: string | null;
  /** The signed bytes, if they differ from what the columns encode to. */
  data: Uint8Array | null;
}

const rowsOf = statement<Row, [keysJson: string]>(
  "skeleton.reaction-hashes",
  `SELECT j.key AS at, r.fid, r.type, r.timestamp, r.target_fid AS targetFid, e.data,
     (SELECT hash FROM casts WHERE id = r.target_id
      UNION ALL SELECT hash FROM missing_casts WHERE id = r.target_id LIMIT 1) AS targetHash,
     CASE WHEN r.target_fid = 0 THEN (SELECT url FROM urls WHERE id = r.target_id) END AS targetUrl
   FROM json_each(?) j
   CROSS JOIN reactions r ON r.fid = j.value ->> 0 AND r.target_fid = j.value ->> 1
     AND r.target_id = j.value ->> 2 AND r.type = j.value ->> 3
   CROSS JOIN envelopes e ON e.id = r.envelope_id`,
);

/**
 * Returns the hashes of reactions, which no table stores, in the order of `keys`. Each takes a few microseconds, so call it
 * only if the order or a cursor needs them.
 */
export function hashesOfReactions(db: IndexDatabase, keys: readonly ReactionKey[]): Hash[] {
  const hashes: Hash[] = new Array(keys.length).fill("0x");
  if (keys.length === 0) return hashes;
  const network = networkOfIndex(db);
  const json = JSON.stringify(keys.map((key) => [key.fid, key.targetFid, key.targetId, key.type]));
  for (const { at, data, ...columns } of db.all(rowsOf, json))
    hashes[at] = hex(data ? messageHash(data) : hashOfColumns({ table: "reactions", ...columns }, network));
  return hashes;
}
