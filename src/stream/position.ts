import type { IndexDatabase } from "../db/index/database.ts";
import { logIdOf } from "../db/index/identity.ts";
import { firstEventBehind, lastEventBlocks, missingEventBlocks } from "../db/index/log/event-blocks.ts";
import { eventRange, firstEventFrom } from "../db/index/log/outbox.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { cursorCodec } from "../read/cursor.ts";

/** Position of a stream in the event log. Positions are exclusive: a stream continues with the event after its position. */
export interface StreamPosition {
  /** The id of the log, which belongs to one index: another index assigns the same numbers to its own events. */
  readonly logId: string;
  readonly seq: number;
  /**
   * By shard, the last block of a followed node whose events are all at or before the position. Empty without a followed
   * node.
   */
  readonly blocks: ShardBlocks;
}

export type ShardBlocks = ReadonlyMap<number, number>;

export const NO_BLOCKS: ShardBlocks = new Map();

const codec = cursorCodec("stream", ["word", "int", "word"]);
const MAX_LOG_ID_CHARS = 64;
/** Maximum number of shards that fit into a cursor. */
const MAX_SHARDS = 16;
const BLOCKS = /^\d{1,3}:\d{1,16}(?:,\d{1,3}:\d{1,16})*$/;

/** Returns for each shard of `to` the later block. */
export function laterBlocks(from: ShardBlocks, to: ShardBlocks): ShardBlocks {
  if (from.size === 0) return to;
  const later = new Map(from);
  for (const [shard, block] of to) later.set(shard, Math.max(block, from.get(shard) ?? 0));
  return later;
}

/** Returns the cursor of a position, with which clients resume. */
export function cursorOf({ logId, seq, blocks }: StreamPosition): string {
  const shards = [...blocks].slice(0, MAX_SHARDS).map(([shard, block]) => `${shard}:${block}`);
  return codec.encode([logId, seq, shards.join(",")]);
}

/** Returns the position of a cursor; undefined for any other text. */
export function positionOf(cursor: string): StreamPosition | undefined {
  const key = codec.decode(cursor);
  if (key === undefined) return undefined;
  const [logId, seq, shards] = key;
  if (seq < 0 || logId.length > MAX_LOG_ID_CHARS) return undefined;
  if (shards !== "" && !BLOCKS.test(shards)) return undefined;
  const pairs = shards === "" ? [] : shards.split(",").map((pair) => pair.split(":").map(Number));
  if (pairs.length > MAX_SHARDS) return undefined;
  return { logId, seq, blocks: new Map(pairs.map(([shard = 0, block = 0]) => [shard, block])) };
}

/** How far this node may lag the node that issued a cursor. */
const MAX_BLOCKS_AHEAD = 3600;

/** Where a client wants its stream to start. */
export interface StreamStart {
  readonly from:
    | { readonly kind: "live" }
    /** The position is undefined for a text that no node issued; its events count as deleted. */
    | { readonly kind: "cursor"; readonly position: StreamPosition | undefined }
    /** The first event applied at this time or later, in Unix seconds. */
    | { readonly kind: "since"; readonly unixSecs: number }
    /**
     * The number of events before the end of the stream, or of the log if the stream has no end; fewer if the log has fewer,
     * or if others were applied before a time (Unix seconds).
     */
    | { readonly kind: "last"; readonly events: number; readonly notBeforeSecs?: number | undefined };
  /** Events applied at this time or later are left out, in Unix seconds; undefined for a stream without an end. */
  readonly untilSecs?: number | undefined;
  /** Whether a stream whose first events are deleted starts with the oldest. Otherwise it is refused. */
  readonly skipsGap: boolean;
}

export interface ResolvedStart {
  /** Undefined for a stream that starts with the next event. */
  readonly position: StreamPosition | undefined;
  /** Events between these two positions are deleted. `from` is undefined if the client has named no position. */
  readonly gap: { readonly from: StreamPosition | undefined; readonly to: StreamPosition } | undefined;
  /** The position before the oldest event. */
  readonly oldest: StreamPosition;
  /** Events of these blocks and of earlier ones were seen at another node. */
  readonly seenBlocks: ShardBlocks;
}

/** Returned if the events after a client's position are deleted, or were never here. */
interface MissingEvents {
  readonly oldest: StreamPosition;
}

/** The ends of the log: the positions before its oldest event and after its newest. */
export interface LogEnds {
  readonly oldest: StreamPosition;
  readonly head: StreamPosition;
}

/** Returns the ends of the log; undefined before a node has served the index. */
export function logEnds(db: IndexDatabase): LogEnds | undefined {
  return db.snapshot(() => {
    const logId = logIdOf(db);
    if (logId === undefined) return undefined;
    const { oldestSeq, headSeq } = eventRange(db);
    return {
      oldest: { logId, seq: oldestSeq - 1, blocks: missingEventBlocks(db) },
      head: { logId, seq: headSeq, blocks: lastEventBlocks(db, headSeq) },
    };
  });
}

/**
 * Finds the position of a start.
 *
 * @param retainedFrom events applied at this time or later are in the log, in Unix seconds.
 */
export function resolveStart(
  db: IndexDatabase,
  { oldest, head }: LogEnds,
  { from, untilSecs, skipsGap }: StreamStart,
  retainedFrom: number,
): Result<ResolvedStart, MissingEvents> {
  const beginsAt = (position: StreamPosition | undefined, seenBlocks: ShardBlocks = NO_BLOCKS) =>
    ok({ position, gap: undefined, oldest, seenBlocks });
  const gone = (wanted: StreamPosition | undefined) =>
    skipsGap
      ? ok({ position: oldest, gap: { from: wanted, to: oldest }, oldest, seenBlocks: NO_BLOCKS })
      : err({ oldest });
  if (from.kind === "live") return beginsAt(undefined);
  if (from.kind === "cursor") {
    const { position: wanted } = from;
    if (wanted === undefined) return gone(undefined);
    if (wanted.logId !== oldest.logId) {
      const position = positionAfterBlocks(db, wanted.blocks, { oldest, head });
      return position ? beginsAt(position, wanted.blocks) : gone(wanted);
    }
    return wanted.seq >= oldest.seq && wanted.seq <= head.seq ? beginsAt(wanted) : gone(wanted);
  }
  if (from.kind === "last") {
    const { events, notBeforeSecs } = from;
    const [first, end] = db.snapshot(() =>
      [notBeforeSecs, untilSecs].map(
        (secs) => secs !== undefined && (firstEventFrom(db, secs) ?? head.seq + 1),
      ),
    );
    const newest = end ? Math.min(head.seq, end - 1) : head.seq;
    const areSomeGone =
      notBeforeSecs !== undefined &&
      notBeforeSecs < retainedFrom &&
      oldest.seq > 0 &&
      newest - events < oldest.seq;
    if (areSomeGone) return gone(undefined);
    return beginsAt({ ...oldest, seq: Math.max(oldest.seq, first ? first - 1 : 0, newest - events) });
  }
  if (oldest.seq > 0 && from.unixSecs < retainedFrom) return gone(undefined);
  const seq = db.snapshot(() => firstEventFrom(db, from.unixSecs));
  // An event that is added or synced meanwhile belongs to the stream, so the stream must not start at a later end.
  return beginsAt(seq === undefined ? head : { ...oldest, seq: seq - 1 });
}

/**
 * Finds the position after the blocks that a client saw at another node that follows the same one. Events of a block at that
 * position may be sent again.
 *
 * @returns undefined if events after one of the blocks may be missing here.
 */
function positionAfterBlocks(
  db: IndexDatabase,
  seen: ShardBlocks,
  { oldest, head }: LogEnds,
): StreamPosition | undefined {
  if (head.blocks.size === 0) return undefined;
  const starts: number[] = [];
  for (const [shard, last] of head.blocks) {
    const number = seen.get(shard);
    if (number === undefined || number < (oldest.blocks.get(shard) ?? 0)) return undefined;
    if (number > last + MAX_BLOCKS_AHEAD) return undefined;
    const first = db.snapshot(() => firstEventBehind(db, { shard, number }));
    if (first !== undefined) starts.push(first);
  }
  const seq = Math.min(head.seq, ...starts.map((first) => first - 1));
  return { logId: head.logId, seq, blocks: seen };
}
