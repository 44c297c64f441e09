import { firstCastIdAt, timestampOfCastId } from "../../../db/index/cast-id.ts";
import { scoresOf } from "../../../db/index/counts/scores.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { LinkType } from "../../../db/index/messages/columns.ts";
import { statement } from "../../../db/index/statement.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import { cursorCodec, type Page } from "../../cursor.ts";
import type { HydrationCache } from "../../hydrate/cache.ts";
import { type CastRef, type CastState, castByHash, type Hash, hashesOfCasts } from "../../hydrate/casts.ts";
import type { ListRules } from "../../rules/list-rules.ts";
import { type SelectVisible, visiblePage } from "../../rules/visible-page.ts";
import { ABOVE_ALL_CASTS, orderedPage } from "../ordered-page.ts";
import {
  attachReplies,
  type Conversation,
  type ConversationNode,
  type ConversationSource,
  conversationNodes,
  type ReplyTree,
} from "./conversation.ts";

/** Maximum number of ancestors shown, nearest first. */
export const MAX_PARENTS = 50;
/** Maximum number of direct replies that are sorted by score, oldest first. */
export const MAX_SORTED = 2000;
/** Maximum number of replies on a page, over all levels. */
const MAX_REPLIES = 500;

interface ReplyRow extends CastRef {
  /** Likes, plus twice the recasts, plus three times the replies; 0 in an order by time. */
  score: number;
}

/** The score of the last row of the previous page, and the bound on the ids with that score. */
type Params = [parentId: number, score: number, bound: number, limit: number];

const byTime = (name: string, condition: string, direction: "ASC" | "DESC") =>
  statement<ReplyRow, Params>(
    `skeleton.conversation-page.${name}`,
    `SELECT id, 0 AS score FROM casts WHERE parent_id = ?1 AND ?2 >= 0 AND id ${condition} ?3
   ORDER BY id ${direction} LIMIT ?4`,
  );
const byScore = statement<ReplyRow, Params>(
  "skeleton.conversation-page.by-score",
  `SELECT id, score FROM
     (SELECT below.id, coalesce(n.likes + 2 * n.recasts + 3 * n.replies, 0) AS score
      FROM (SELECT id FROM casts WHERE parent_id = ?1 ORDER BY id LIMIT ${MAX_SORTED}) below
      LEFT JOIN cast_counts n ON n.id = below.id)
   WHERE (score, id) < (?2, ?3)
   ORDER BY score DESC, id DESC LIMIT ?4`,
);

const replies = {
  chron: byTime("oldest-first", ">=", "ASC"),
  desc_chron: byTime("newest-first", "<", "DESC"),
  algorithmic: byScore,
} as const;

/** The order of replies: oldest first, newest first, or highest score first. */
export type ReplyOrder = keyof typeof replies;

const starts: Readonly<Record<ReplyOrder, readonly [score: number, bound: number]>> = {
  chron: [0, 0],
  desc_chron: [0, ABOVE_ALL_CASTS],
  algorithmic: [Number.MAX_SAFE_INTEGER, ABOVE_ALL_CASTS],
};

type ReplyShape = readonly ["int", "int", "hash"];
type ReplyKey = readonly [score: number, timestamp: number, hash: Hash];

const replyShape: ReplyShape = ["int", "int", "hash"];
export const conversationCursors = {
  chron: cursorCodec("cast/conversation chron", replyShape),
  desc_chron: cursorCodec("cast/conversation desc_chron", replyShape),
  algorithmic: cursorCodec("cast/conversation algorithmic", replyShape),
} as const;

const parentRows = statement<CastRef, [id: number]>(
  "skeleton.conversation-page.parents",
  `WITH RECURSIVE above (depth, id) AS (
     SELECT 1, parent_id FROM casts WHERE id = ?1 AND parent_id IS NOT NULL
     UNION ALL
     SELECT b.depth + 1, c.parent_id
     FROM above b CROSS JOIN casts c ON c.id = b.id
     WHERE c.parent_id IS NOT NULL
     LIMIT ${MAX_PARENTS}
   )
   SELECT c.id FROM above b CROSS JOIN casts c ON c.id = b.id
   ORDER BY b.depth DESC`,
);

/** A cast, a page of its direct replies with their subtrees, and its ancestors if requested. */
export interface ConversationPage extends Page<Conversation>, CastRef {
  readonly order: ReplyOrder;
  /** From the root of the thread down; undefined if not requested. */
  readonly parents: readonly CastRef[] | undefined;
  /** How many of the first `MAX_SORTED` direct replies the rules hide; undefined without rules. */
  readonly hiddenReplies: number | undefined;
}

/**
 * Returns a live cast with a page of its direct replies and the replies below them, `depth` levels deep: the 50 oldest of
 * each cast, 500 in total. Undefined if the cast does not exist.
 */
export function conversationPage(
  source: ConversationSource,
  query: {
    hash: Hash;
    depth: number;
    order: ReplyOrder;
    withParents: boolean;
    limit: number;
    after: ReplyKey | undefined;
    /** The side of the fold that is shown; undefined for both. */
    fold?: FoldSide | undefined;
    viewerFid?: number | undefined;
    /** Rules for which replies and ancestors the viewer is shown; undefined for all. */
    rules?: ListRules | undefined;
  },
): ConversationPage | undefined {
  const { db } = source;
  const { hash, depth, order, limit, after, rules, fold, viewerFid } = query;
  const cast = castByHash(db, hash);
  if (cast === undefined) return undefined;
  const { id } = cast;
  const ancestors = query.withParents ? db.all(parentRows, id) : undefined;
  const parents = ancestors && rules ? rules.byAuthor(ancestors) : ancestors;
  const hiddenReplies = rules && countHidden(db, id, rules);
  if (depth === 0) return { id, order, parents, hiddenReplies, rows: [], cursor: null };
  const cursor = conversationCursors[order];
  const ofSide = fold && selectFold<ReplyRow>(source, fold, { castId: id, viewerFid });
  const select = ofSide && rules ? (some: readonly ReplyRow[]) => ofSide(rules.casts(some)) : undefined;
  const page = visiblePage<ReplyShape, ReplyRow>(
    { limit, after, cursor },
    select ?? ofSide ?? rules?.casts,
    (part) => directReplies(db, { id, order, ...part }),
  );
  const rows = page.rows.map((row) => ({ ...row, replies: [] }) satisfies ReplyTree & { score: number });
  attachReplies(source, rows, { depth: depth - 1, room: MAX_REPLIES - rows.length, visible: rules?.casts });
  return { id, order, parents, hiddenReplies, rows, cursor: page.cursor };
}

/** Counts the oldest direct replies that the rules hide. */
function countHidden(db: IndexDatabase, id: number, rules: ListRules): number {
  const oldest = db.all(replies.chron, id, ...starts.chron, MAX_SORTED);
  return oldest.length - rules.casts(oldest).length;
}

/** Returns a page of the direct replies to a cast. */
function directReplies(
  db: IndexDatabase,
  { id, order, limit, after }: { id: number; order: ReplyOrder; limit: number; after: ReplyKey | undefined },
): Page<ReplyRow> {
  const { rows, hasMore } = orderedPage<ReplyRow>({
    limit,
    after: after && {
      hash: after[2],
      isTied: (row) => row.score === after[0] && timestampOfCastId(row.id) === after[1],
    },
    direction: order === "chron" ? "asc" : "desc",
    isTied: (a, b) => a.score === b.score && timestampOfCastId(a.id) === timestampOfCastId(b.id),
    read: (maxRows) => db.all(replies[order], id, ...boundOf(order, after), maxRows),
    hashesOf: hashesIn(db),
  });
  const cursorAfter = (row: ReplyRow) =>
    conversationCursors[order].encode([row.score, timestampOfCastId(row.id), hashesIn(db)([row])[0] ?? "0x"]);
  const last = hasMore ? rows.at(-1) : undefined;
  return { rows, cursor: last ? cursorAfter(last) : null, cursorAfter };
}

/** Returns where the rows of a page start. They include the rows of the same second as the last row of the previous page. */
function boundOf(order: ReplyOrder, after: ReplyKey | undefined): readonly [score: number, bound: number] {
  if (!after) return starts[order];
  const [score, timestamp] = after;
  return [score, firstCastIdAt(order === "chron" ? timestamp : timestamp + 1)];
}

const hashesIn = (db: IndexDatabase) => (rows: readonly CastRef[]) =>
  hashesOfCasts(
    db,
    rows.map(({ id }) => id),
  );

/** Returns the casts of a page, each before its replies, which are in the order of the page. */
export function pageNodes({ db, cache }: ConversationSource, page: ConversationPage): ConversationNode[] {
  const { id, order, rows } = page;
  const root = { id, replies: rows };
  // The direct replies are already sorted.
  const sort = (replies: readonly Conversation[]) =>
    replies === rows ? replies : sortReplies(replies, order, casts);
  const scored = order === "algorithmic" ? conversationNodes(root).map((node) => node.id) : [];
  const casts = cache.castsById(db, scored);
  return conversationNodes(root, sort);
}

/** Sorts replies, which must be oldest first. */
function sortReplies(
  replies: readonly Conversation[],
  order: ReplyOrder,
  casts: ReadonlyMap<number, CastState>,
): readonly Conversation[] {
  if (order === "chron") return replies;
  const newestFirst = replies.toReversed();
  if (order === "desc_chron") return newestFirst;
  const scoreOf = (cast: CastState | undefined) =>
    cast ? cast.likes + 2 * cast.recasts + 3 * cast.replies : 0;
  return newestFirst.sort((a, b) => scoreOf(casts.get(b.id)) - scoreOf(casts.get(a.id)));
}

/** The direct replies of a conversation to show: those above the fold, or those below it. */
type FoldSide = "above" | "below";

interface ReplyAuthor {
  readonly id: number;
  readonly fid: number;
  /** Whether the viewer follows the author, or the cast's author wrote, liked or replied to the reply. */
  readonly isLifted: number;
}

const replyAuthors = statement<ReplyAuthor, [repliesJson: string, castId: number, viewerFid: number | null]>(
  "fold.authors",
  `SELECT r.id, r.fid, r.fid = root.fid
     OR EXISTS (SELECT 1 FROM links l WHERE l.fid = ?3 AND l.type = ${LinkType.Follow} AND l.target_fid = r.fid)
     OR EXISTS (SELECT 1 FROM reactions n WHERE n.fid = root.fid AND n.target_fid = r.fid AND n.target_id = r.id
       AND n.type = ${ReactionType.REACTION_TYPE_LIKE})
     OR EXISTS (SELECT 1 FROM casts a WHERE a.fid = root.fid AND a.parent_id = r.id) AS isLifted
   FROM casts root CROSS JOIN json_each(?1) j CROSS JOIN casts r ON r.id = j.value WHERE root.id = ?2`,
);

/**
 * Selects direct replies to a cast by the side of the fold. A reply is below it if its author has a low score, unless the
 * viewer follows the author, or the author of the cast wrote, liked or replied to it. If scores do not affect the fold,
 * every reply is above it.
 */
function selectFold<Row extends CastRef>(
  { db, cache }: { readonly db: IndexDatabase; readonly cache: Pick<HydrationCache, "scores"> },
  side: FoldSide,
  conversation: { readonly castId: number; readonly viewerFid: number | undefined },
): SelectVisible<Row> {
  const policy = cache.scores?.enforced.has("fold") ? cache.scores : undefined;
  if (!policy) return (rows) => (side === "above" ? rows : []);
  const { castId, viewerFid = null } = conversation;
  return (rows) => {
    const authors = db.all(replyAuthors, JSON.stringify(rows.map(({ id }) => id)), castId, viewerFid);
    const scores = scoresOf(db, policy.mode, [...new Set(authors.map(({ fid }) => fid))]);
    const isLow = (fid: number) => (scores.get(fid) ?? policy.unknown) < policy.foldBelow;
    const below = new Set(
      authors.flatMap(({ id, fid, isLifted }) => (isLifted === 0 && isLow(fid) ? [id] : [])),
    );
    return rows.filter(({ id }) => below.has(id) === (side === "below"));
  };
}
