import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { HydrationCache } from "../../hydrate/cache.ts";
import { type Hash, hex, type Reply } from "../../hydrate/casts.ts";

const MAX_DIRECT_REPLIES = 50;
const MAX_REPLIES = 500;

interface ReplyRow {
  /** Index of the parent in the requested list. */
  at: number;
  fid: number;
  timestamp: number;
  hash: Uint8Array;
}

const authorOf = statement<{ fid: number }, [hash: Uint8Array]>(
  "skeleton.conversation.author",
  "SELECT fid FROM casts WHERE hash = ?",
);
const repliesTo = statement<ReplyRow, [parentsJson: string, maxEach: number, limit: number]>(
  "skeleton.conversation.replies",
  `SELECT j.key AS at, c.fid, c.timestamp, c.hash
   FROM json_each(?1) j CROSS JOIN casts c
   WHERE c.id IN (
     SELECT id FROM casts
     WHERE parent_hash = unhex(j.value ->> 1) AND parent_fid = j.value ->> 0
     ORDER BY timestamp, hash LIMIT ?2)
   LIMIT ?3`,
);

/** The connection of a snapshot, and its cache. */
export interface ConversationSource {
  readonly db: IndexDatabase;
  readonly cache: HydrationCache;
}

/** A cast and its replies, oldest first. */
export interface Conversation {
  readonly hash: Hash;
  readonly replies: readonly Conversation[];
}

/** A conversation that is being built. */
export interface ReplyTree {
  readonly fid: number;
  readonly timestamp: number;
  readonly hash: Hash;
  readonly replies: ReplyTree[];
}

/**
 * Returns a live cast with the replies below it, `depth` levels deep: the 50 oldest of each cast, 500 in all, upper
 * levels first. Runs at most one statement per level. Undefined when the cast does not exist.
 */
export function conversation(
  source: ConversationSource,
  query: { hash: Hash; depth: number },
): Conversation | undefined {
  const { hash, depth } = query;
  const fid = authorOfCast(source.db, hash);
  if (fid === undefined) return undefined;
  const root: ReplyTree = { fid, timestamp: 0, hash, replies: [] };
  attachReplies(source, [root], { depth, room: MAX_REPLIES });
  return root;
}

/** Returns the author of a live cast. */
export function authorOfCast(db: IndexDatabase, hash: Hash): number | undefined {
  return db.get(authorOf, bytesOf(hash))?.fid;
}

/** Attaches replies to casts, `depth` levels deep: the 50 oldest of each cast, `room` in all, upper levels first. */
export function attachReplies(
  source: ConversationSource,
  casts: readonly ReplyTree[],
  { depth, room }: { depth: number; room: number },
): void {
  let level = casts;
  let left = room;
  for (let below = 0; below < depth && level.length > 0 && left > 0; below++) {
    level = addReplies(source, level, left);
    left -= level.length;
  }
}

/** Attaches the replies to `parents` and returns all of them, which are the next level. */
function addReplies(source: ConversationSource, parents: readonly ReplyTree[], room: number): ReplyTree[] {
  const lists = repliesOf(source, parents, room);
  const level: ReplyTree[] = [];
  for (const { hash, replies } of parents) {
    for (const reply of lists.get(hash)?.slice(0, room - level.length) ?? []) {
      const branch: ReplyTree = { ...reply, replies: [] };
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
): Map<Hash, readonly Reply[]> {
  const lists = new Map<Hash, readonly Reply[]>();
  const missing: ReplyTree[] = [];
  for (const parent of parents) {
    const cached = cache.replies.get(parent.hash);
    if (cached) lists.set(parent.hash, cached);
    else missing.push(parent);
  }
  if (missing.length === 0) return lists;
  const json = JSON.stringify(missing.map(({ fid, hash }) => [fid, hash.slice(2)]));
  const rows = db.all(repliesTo, json, MAX_DIRECT_REPLIES, room);
  const loaded = missing.map((): Reply[] => []);
  for (const { at, fid, timestamp, hash } of rows) loaded[at]?.push({ fid, timestamp, hash: hex(hash) });
  // When the limit was reached, the last list may be incomplete, and later lists were not read.
  const complete = rows.length < room ? missing.length : (rows.at(-1)?.at ?? 0);
  for (const [at, { hash }] of missing.entries()) {
    const list = loaded[at] ?? [];
    list.sort((a, b) => a.timestamp - b.timestamp || (a.hash < b.hash ? -1 : 1));
    lists.set(hash, list);
    if (at < complete) cache.replies.set(hash, list);
  }
  return lists;
}

/** A cast of a conversation. The requested cast has depth 0. */
export interface ConversationNode {
  readonly hash: Hash;
  readonly depth: number;
}

/** Returns the casts of a conversation, each before its replies, which `sort` sorts. */
export function conversationNodes(
  conversation: Conversation,
  sort: (replies: readonly Conversation[]) => readonly Conversation[] = (replies) => replies,
  depth = 0,
): ConversationNode[] {
  const { hash, replies } = conversation;
  const below = sort(replies).flatMap((reply) => conversationNodes(reply, sort, depth + 1));
  return [{ hash, depth }, ...below];
}

function bytesOf(hash: Hash): Buffer {
  return Buffer.from(hash.slice(2), "hex");
}
