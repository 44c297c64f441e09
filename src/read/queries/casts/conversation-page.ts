import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { cursorCodec, cutPage, type Page } from "../../cursor.ts";
import { readThrough } from "../../hydrate/cache.ts";
import { type CastState, type Hash, hex, loadCasts } from "../../hydrate/casts.ts";
import {
  attachReplies,
  authorOfCast,
  type Conversation,
  type ConversationNode,
  type ConversationSource,
  conversationNodes,
  type ReplyTree,
} from "./conversation.ts";

/** The most ancestors that are shown, the nearest ones. */
export const MAX_PARENTS = 50;
/** The most direct replies that are sorted by score, the oldest ones. */
export const MAX_SORTED = 2000;
/** The most replies of a page on all levels. */
const MAX_REPLIES = 500;

interface ReplyRow {
  fid: number;
  timestamp: number;
  hash: Uint8Array;
  /** Likes, twice the recasts and three times the replies; 0 in an order by time. */
  score: number;
}

type Key = [score: number, timestamp: number, hash: Uint8Array];
type Params = [fid: number, hash: Uint8Array, ...Key, limit: number];

const byTime = (name: string, condition: string, direction: "ASC" | "DESC") =>
  statement<ReplyRow, Params>(
    `skeleton.conversation-page.${name}`,
    `SELECT fid, timestamp, hash, 0 AS score FROM casts
   WHERE parent_hash = ?2 AND parent_fid = ?1 AND ?3 >= 0 AND (timestamp, hash) ${condition} (?4, ?5)
   ORDER BY timestamp ${direction}, hash ${direction} LIMIT ?6`,
  );
const byScore = statement<ReplyRow, Params>(
  "skeleton.conversation-page.by-score",
  `SELECT fid, timestamp, hash, score FROM
     (SELECT below.fid, below.timestamp, below.hash,
        coalesce(n.likes + 2 * n.recasts + 3 * n.replies, 0) AS score
      FROM (SELECT fid, timestamp, hash FROM casts WHERE parent_hash = ?2 AND parent_fid = ?1
            ORDER BY timestamp, hash LIMIT ${MAX_SORTED}) below
      LEFT JOIN cast_counts n ON n.hash = below.hash AND n.fid = below.fid)
   WHERE (score, timestamp, hash) < (?3, ?4, ?5)
   ORDER BY score DESC, timestamp DESC, hash DESC LIMIT ?6`,
);

const replies = {
  chron: byTime("oldest-first", ">", "ASC"),
  desc_chron: byTime("newest-first", "<", "DESC"),
  algorithmic: byScore,
} as const;

/** The order of replies: oldest first, newest first, or greatest score first. */
export type ReplyOrder = keyof typeof replies;

const MAX = Number.MAX_SAFE_INTEGER;
const starts: Readonly<Record<ReplyOrder, Key>> = {
  chron: [0, -1, new Uint8Array()],
  desc_chron: [0, MAX, new Uint8Array()],
  algorithmic: [MAX, MAX, new Uint8Array()],
};

export const conversationCursors = {
  chron: cursorCodec("cast/conversation chron", ["int", "int", "hash"]),
  desc_chron: cursorCodec("cast/conversation desc_chron", ["int", "int", "hash"]),
  algorithmic: cursorCodec("cast/conversation algorithmic", ["int", "int", "hash"]),
} as const;

const parentRows = statement<{ hash: Uint8Array }, [hash: Uint8Array]>(
  "skeleton.conversation-page.parents",
  `WITH RECURSIVE above (depth, fid, hash) AS (
     SELECT 1, parent_fid, parent_hash FROM casts WHERE hash = ?1 AND parent_hash IS NOT NULL
     UNION ALL
     SELECT b.depth + 1, c.parent_fid, c.parent_hash
     FROM above b CROSS JOIN casts c ON c.hash = b.hash AND c.fid = b.fid
     WHERE c.parent_hash IS NOT NULL
     LIMIT ${MAX_PARENTS}
   )
   SELECT c.hash FROM above b CROSS JOIN casts c ON c.hash = b.hash AND c.fid = b.fid
   ORDER BY b.depth DESC`,
);

/** A cast, a page of its direct replies with their subtrees, and its ancestors if requested. */
export interface ConversationPage extends Page<Conversation> {
  readonly hash: Hash;
  readonly order: ReplyOrder;
  /** From the root of the thread down; undefined when not requested. */
  readonly parents: readonly Hash[] | undefined;
}

/**
 * Returns a live cast with a page of its direct replies and the replies below them, `depth` levels deep: the 50 oldest of
 * each cast, 500 in all. Undefined when the cast does not exist.
 */
export function conversationPage(
  source: ConversationSource,
  query: {
    hash: Hash;
    depth: number;
    order: ReplyOrder;
    withParents: boolean;
    limit: number;
    after: readonly [score: number, timestamp: number, hash: Hash] | undefined;
  },
): ConversationPage | undefined {
  const { db } = source;
  const { hash, depth, order, limit, after } = query;
  const fid = authorOfCast(db, hash);
  if (fid === undefined) return undefined;
  const parents = query.withParents ? parentsOf(db, hash) : undefined;
  if (depth === 0) return { hash, order, parents, rows: [], cursor: null };
  const from: Key = after ? [after[0], after[1], bytesOf(after[2])] : starts[order];
  const found = db
    .all(replies[order], fid, bytesOf(hash), ...from, limit + 1)
    .map((row) => ({ ...row, hash: hex(row.hash), replies: [] }) satisfies ReplyTree & { score: number });
  const page = cutPage(found, limit, (last) =>
    conversationCursors[order].encode([last.score, last.timestamp, last.hash]),
  );
  attachReplies(source, page.rows, { depth: depth - 1, room: MAX_REPLIES - page.rows.length });
  return { hash, order, parents, ...page };
}

/** Returns the casts of a page, each before its replies, which have the order of the page. */
export function pageNodes({ db, cache }: ConversationSource, page: ConversationPage): ConversationNode[] {
  const { hash, order, rows } = page;
  const root = { hash, replies: rows };
  // The direct replies are already sorted.
  const sort = (replies: readonly Conversation[]) =>
    replies === rows ? replies : sortReplies(replies, order, casts);
  const scored = order === "algorithmic" ? conversationNodes(root).map((node) => node.hash) : [];
  const casts = readThrough(cache.casts, scored, (missing) => loadCasts(db, missing));
  return conversationNodes(root, sort);
}

/** Sorts replies, which must be oldest first. */
function sortReplies(
  replies: readonly Conversation[],
  order: ReplyOrder,
  casts: ReadonlyMap<Hash, CastState>,
): readonly Conversation[] {
  if (order === "chron") return replies;
  const newestFirst = replies.toReversed();
  if (order === "desc_chron") return newestFirst;
  const scoreOf = (cast: CastState | undefined) =>
    cast ? cast.likes + 2 * cast.recasts + 3 * cast.replies : 0;
  return newestFirst.sort((a, b) => scoreOf(casts.get(b.hash)) - scoreOf(casts.get(a.hash)));
}

function parentsOf(db: IndexDatabase, hash: Hash): Hash[] {
  return db.all(parentRows, bytesOf(hash)).map((row) => hex(row.hash));
}

function bytesOf(hash: Hash): Buffer {
  return Buffer.from(hash.slice(2), "hex");
}
