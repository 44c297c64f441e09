import { timestampOfCastId } from "../../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { HydrationCache } from "../../hydrate/cache.ts";
import { type CastRef, castByHash, type Hash, hashesOfCasts } from "../../hydrate/casts.ts";
import type { SelectVisible } from "../../rules/visible-page.ts";
import { orderedPage } from "../ordered-page.ts";

const MAX_DIRECT_REPLIES = 50;
const MAX_REPLIES = 500;

interface ReplyRow {
  /** Index of the parent in the requested list. */
  at: number;
  id: number;
}

const repliesTo = statement<ReplyRow, [parentsJson: string, maxEach: number, limit: number]>(
  "skeleton.conversation.replies",
  `SELECT j.key AS at, c.id
   FROM json_each(?1) j CROSS JOIN casts c
   WHERE c.id IN (SELECT id FROM casts WHERE parent_id = j.value ORDER BY id LIMIT ?2)
   LIMIT ?3`,
);
const oldestReplies = statement<CastRef, [parentId: number, limit: number]>(
  "skeleton.conversation.oldest-replies",
  "SELECT id FROM casts WHERE parent_id = ? ORDER BY id LIMIT ?",
);

/** The connection of a snapshot, with its cache. */
export interface ConversationSource {
  readonly db: IndexDatabase;
  readonly cache: HydrationCache;
}

/** A cast and its replies, oldest first. */
export interface Conversation extends CastRef {
  readonly replies: readonly Conversation[];
}

/** A conversation that is being built. */
export interface ReplyTree extends CastRef {
  readonly replies: ReplyTree[];
}

/**
 * Returns a live cast with the replies below it, `depth` levels deep: the 50 oldest of each cast, 500 in total, upper levels
 * first. Runs at most one statement per level. Undefined if the cast does not exist.
 */
export function conversation(
  source: ConversationSource,
  query: { hash: Hash; depth: number },
): Conversation | undefined {
  const { hash, depth } = query;
  const cast = castByHash(source.db, hash);
  if (cast === undefined) return undefined;
  const root: ReplyTree = { id: cast.id, replies: [] };
  attachReplies(source, [root], { depth, room: MAX_REPLIES });
  return root;
}

/** Selects the replies that are shown. */
type VisibleReplies = SelectVisible<CastRef>;

/**
 * Attaches replies to casts, `depth` levels deep: the 50 oldest of each cast, `room` in total, upper levels first. With
 * `visible`, the limits count replies that are shown, out of four times as many that are read.
 */
export function attachReplies(
  source: ConversationSource,
  casts: readonly ReplyTree[],
  { depth, room, visible }: { depth: number; room: number; visible?: VisibleReplies | undefined },
): void {
  let level = casts;
  let left = room;
  for (let below = 0; below < depth && level.length > 0 && left > 0; below++) {
    level = addReplies(source, level, { room: left, visible });
    left -= level.length;
  }
}

/** Attaches the replies to `parents` and returns them all, as the next level. */
function addReplies(
  source: ConversationSource,
  parents: readonly ReplyTree[],
  { room, visible }: { room: number; visible: VisibleReplies | undefined },
): ReplyTree[] {
  const lists = visible
    ? visibleRepliesOf(source.db, parents, { room, visible })
    : repliesOf(source, parents, room);
  const level: ReplyTree[] = [];
  for (const { id: parentId, replies } of parents) {
    for (const id of lists.get(parentId)?.slice(0, room - level.length) ?? []) {
      const branch: ReplyTree = { id, replies: [] };
      replies.push(branch);
      level.push(branch);
    }
  }
  return level;
}

/** Returns the direct replies to each cast, oldest first. Loads uncached lists, at most `room` replies, in one statement. */
function repliesOf(
  { db, cache }: ConversationSource,
  parents: readonly ReplyTree[],
  room: number,
): Map<number, readonly number[]> {
  const lists = new Map<number, readonly number[]>();
  const missing: number[] = [];
  for (const { id } of parents) {
    const cached = cache.replies.get(id);
    if (cached) lists.set(id, cached);
    else missing.push(id);
  }
  if (missing.length === 0) return lists;
  // One more than fits into the list, which shows whether the list ends within a second.
  const limit = room + missing.length;
  const rows = db.all(repliesTo, JSON.stringify(missing), MAX_DIRECT_REPLIES + 1, limit);
  const loaded = missing.map((): CastRef[] => []);
  for (const { at, id } of rows) loaded[at]?.push({ id });
  // If the limit was reached, the last list may be incomplete, and later lists were not read.
  const complete = rows.length < limit ? missing.length : (rows.at(-1)?.at ?? 0);
  for (const [at, id] of missing.entries()) {
    const list = oldestFirst(db, id, loaded[at] ?? []);
    lists.set(id, list);
    if (at < complete) cache.replies.set(id, list);
  }
  return lists;
}

/** Number of replies read for each one that may be shown. */
const READ_PER_SHOWN = 4;

/** Returns the visible replies among the first direct replies to each cast, oldest first. */
function visibleRepliesOf(
  db: IndexDatabase,
  parents: readonly ReplyTree[],
  { room, visible }: { room: number; visible: VisibleReplies },
): Map<number, readonly number[]> {
  const each = READ_PER_SHOWN * MAX_DIRECT_REPLIES;
  const parentIds = parents.map(({ id }) => id);
  const rows = db.all(
    repliesTo,
    JSON.stringify(parentIds),
    each + 1,
    READ_PER_SHOWN * room + parentIds.length,
  );
  const shown = new Set(visible(rows));
  const lists = new Map<number, readonly number[]>();
  for (const [at, id] of parentIds.entries()) {
    const found = rows.filter((row) => row.at === at);
    const kept = new Set(found.filter((row) => shown.has(row)).map((row) => row.id));
    const sorted = oldestFirst(db, id, found, each).filter((reply) => kept.has(reply));
    lists.set(id, sorted.slice(0, MAX_DIRECT_REPLIES));
  }
  return lists;
}

/** Sorts the first replies to a cast, which were read in the order of their ids. */
function oldestFirst(
  db: IndexDatabase,
  parentId: number,
  found: readonly CastRef[],
  limit: number = MAX_DIRECT_REPLIES,
): number[] {
  const { rows } = orderedPage<CastRef>({
    limit,
    after: undefined,
    direction: "asc",
    isTied: (a, b) => timestampOfCastId(a.id) === timestampOfCastId(b.id),
    read: (maxRows) => (maxRows <= limit + 1 ? found : db.all(oldestReplies, parentId, maxRows)),
    hashesOf: (tied) =>
      hashesOfCasts(
        db,
        tied.map(({ id }) => id),
      ),
  });
  return rows.map(({ id }) => id);
}

/** A cast of a conversation. The requested cast has depth 0. */
export interface ConversationNode extends CastRef {
  readonly depth: number;
}

/** Returns the casts of a conversation, each before its replies, which `sort` sorts. */
export function conversationNodes(
  conversation: Conversation,
  sort: (replies: readonly Conversation[]) => readonly Conversation[] = (replies) => replies,
): ConversationNode[] {
  const nodes: ConversationNode[] = [];
  const add = ({ id, replies }: Conversation, depth: number) => {
    nodes.push({ id, depth });
    for (const reply of sort(replies)) add(reply, depth + 1);
  };
  add(conversation, 0);
  return nodes;
}
