import { blockOfEvent, firstEventId } from "../../../protocol/hub-event-id.ts";
import { toUnixSecs } from "../../../protocol/time.ts";
import { HubEventType } from "../../../protocol/wire/generated/hub.ts";
import { shardCount } from "../counts/totals.ts";
import type { IndexDatabase } from "../database.ts";
import { getPosition, putPosition } from "../positions.ts";
import { statement } from "../statement.ts";

/** A hub event as the log stores it. */
export interface HubLogEvent {
  readonly id: number;
  readonly type: HubEventType;
  /** The fid that the event concerns; 0 for a released name. */
  readonly fid: number;
  /** The oneof of the wire's `HubEvent`, without the `data` of messages. */
  readonly body: Uint8Array;
}

/** A block of hub events. */
export interface HubLogBlock {
  readonly shard: number;
  readonly height: number;
  /** Farcaster seconds. */
  readonly at: number;
  /** Empty in a block that this node numbered itself. */
  readonly hash: Uint8Array;
  /** Number of the newest event of shard 0 that the block depends on; 0 in a block that this node numbered itself. */
  readonly seqnum: number;
  /** In order of ids, without the confirmation. */
  readonly events: readonly HubLogEvent[];
}

const CONFIRMED = HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED;

const insertEvent = statement<
  unknown,
  [shard: number, id: number, type: number, fid: number, body: Uint8Array | null]
>("hub-log.insert-event", "INSERT INTO hub_events (shard, id, type, fid, body) VALUES (?, ?, ?, ?, ?)");
const insertBlock = statement<
  unknown,
  [
    shard: number,
    height: number,
    at: number,
    events: number,
    counts: string,
    hash: Uint8Array,
    seqnum: number,
  ]
>(
  "hub-log.insert-block",
  "INSERT INTO hub_blocks (shard, height, at, events, counts, hash, seqnum) VALUES (?, ?, ?, ?, ?, ?, ?)",
);
const oldestBlocks = statement<
  { height: number; events: number; at: number },
  [shard: number, limit: number]
>(
  "hub-log.oldest-blocks",
  "SELECT height, events, at FROM hub_blocks WHERE shard = ? ORDER BY height LIMIT ?",
);
const deleteEvents = statement<unknown, [shard: number, belowId: number]>(
  "hub-log.delete-events",
  "DELETE FROM hub_events WHERE shard = ? AND id < ?",
);
const deleteBlocks = statement<unknown, [shard: number, upTo: number]>(
  "hub-log.delete-blocks",
  "DELETE FROM hub_blocks WHERE shard = ? AND height <= ?",
);
const firstEventFrom = statement<{ id: number }, [shard: number, fromId: number]>(
  "hub-log.first-event-from",
  "SELECT id FROM hub_events WHERE shard = ? AND id >= ? ORDER BY id LIMIT 1",
);
// Skips the newest events that are not on disk yet, at most those of a few commits.
const lastEvent = statement<{ id: number }, [shard: number, durableSeq: number]>(
  "hub-log.last-event",
  "SELECT id FROM hub_events WHERE shard = ? AND seq <= ? ORDER BY id DESC LIMIT 1",
);

const eventAfter = statement<{ seq: number }, [afterSeq: number]>(
  "hub-log.event-after",
  "SELECT seq FROM hub_events WHERE seq > ? ORDER BY seq LIMIT 1",
);

const firstSeq = statement<{ seq: number }>(
  "hub-log.first-seq",
  "SELECT seq FROM hub_events WHERE seq > 0 ORDER BY seq LIMIT 1",
);
const lastSeq = statement<{ seq: number }>(
  "hub-log.last-seq",
  "SELECT seq FROM hub_events WHERE seq > 0 ORDER BY seq DESC LIMIT 1",
);
const blockTime = statement<{ at: number }, [shard: number, height: number]>(
  "hub-log.block-time",
  "SELECT at FROM hub_blocks WHERE shard = ? AND height = ?",
);

/**
 * Returns the number of the last event of all shards, on disk or not; 0 before the first, and after all have been deleted.
 */
export function lastHubEventSeq(db: IndexDatabase): number {
  return db.get(lastSeq)?.seq ?? 0;
}

/** Returns the number up to which events of the log are on disk. */
export function durableHubSeq({ commits }: IndexDatabase): number {
  return commits?.durableEnds?.hubSeq ?? Number.MAX_SAFE_INTEGER;
}

/** Reports whether there are events after `afterSeq` that are on disk. */
export function hasHubEventsAfter(db: IndexDatabase, afterSeq: number): boolean {
  const next = db.get(eventAfter, afterSeq);
  return next !== undefined && next.seq <= durableHubSeq(db);
}

/** Returns the number of the last block that the log of a shard has had; undefined before the first. */
export function lastHubBlock(db: IndexDatabase, shard: number): number | undefined {
  return getPosition(db, lastKey(shard));
}

/**
 * Appends a block in the transaction that applies it. A block that the log has had is skipped, because blocks are applied
 * again after a crash. A block that does not follow the last one restarts the log, so a reader never skips over a gap.
 *
 * @returns whether the block was appended.
 */
export function appendHubBlock(db: IndexDatabase, block: HubLogBlock): boolean {
  const { shard, height, at, hash, seqnum, events } = block;
  const last = lastHubBlock(db, shard);
  if (last !== undefined && height <= last) return false;
  if (last === undefined || height !== last + 1) putPosition(db, startKey(shard), firstEventId(height));
  db.run(insertEvent, shard, firstEventId(height), CONFIRMED, 0, null);
  const counts: Record<number, number> = { [CONFIRMED]: 1 };
  for (const { id, type, fid, body } of events) {
    db.run(insertEvent, shard, id, type, fid, body);
    counts[type] = (counts[type] ?? 0) + 1;
  }
  db.run(insertBlock, shard, height, at, events.length + 1, JSON.stringify(counts), hash, seqnum);
  putPosition(db, lastKey(shard), height);
  return true;
}

/** Ends the log of every shard, because unlogged changes of the state follow. The log restarts with the next block. */
export function endHubLog(db: IndexDatabase): void {
  for (let shard = 1; shard <= shardCount(db); shard++) {
    const last = lastHubBlock(db, shard);
    if (last !== undefined) putPosition(db, startKey(shard), firstEventId(last + 1));
  }
}

/** Starts the log of a shard at a block that has not arrived yet. */
export function beginHubLog(db: IndexDatabase, shard: number, height: number): void {
  putPosition(db, startKey(shard), firstEventId(height));
  putPosition(db, lastKey(shard), height - 1);
}

/**
 * The range of a shard's log that is on disk. All events from `oldestId` to `headId` are there; it is empty if `oldestId` is
 * greater.
 */
export interface HubLogRange {
  readonly oldestId: number;
  readonly headId: number;
}

/** Returns the range of the log of a shard; undefined before the first block. */
export function hubLogRange(db: IndexDatabase, shard: number): HubLogRange | undefined {
  const last = lastHubBlock(db, shard);
  if (last === undefined) return undefined;
  const startId = getPosition(db, startKey(shard)) ?? 0;
  const oldestId = db.get(firstEventFrom, shard, startId)?.id ?? firstEventId(last + 1);
  const durableSeq = durableHubSeq(db);
  const head = db.get(lastEvent, shard, durableSeq)?.id;
  return { oldestId, headId: head ?? Math.min(firstEventId(last), oldestId - 1) };
}

/** Extent of the log, for operators. */
export interface HubLogStatus {
  /** From the oldest to the newest, including those that are deleted in one shard and kept in another. */
  readonly events: number;
  readonly shards: readonly {
    readonly shard: number;
    readonly oldestId: number;
    readonly headId: number;
    /** Time of the oldest block in Unix seconds; null while the log of the shard is empty. */
    readonly oldestAt: number | null;
  }[];
}

/** Returns the extent of the log. */
export function hubLogStatus(db: IndexDatabase): HubLogStatus {
  const first = db.get(firstSeq)?.seq;
  const shards = Array.from({ length: shardCount(db) }, (_, at) => at + 1).flatMap((shard) => {
    const range = hubLogRange(db, shard);
    if (!range) return [];
    const at = db.get(blockTime, shard, blockOfEvent(range.oldestId))?.at;
    return [{ shard, ...range, oldestAt: at === undefined ? null : toUnixSecs(at) }];
  });
  return { events: first === undefined ? 0 : lastHubEventSeq(db) - first + 1, shards };
}

/** Reports whether `sweepHubLog` has something to delete. */
export function isHubSweepDue(db: IndexDatabase, shard: number, before: number): boolean {
  const [oldest] = db.all(oldestBlocks, shard, 1);
  return oldest !== undefined && (oldest.at < before || oldest.height < startBlock(db, shard));
}

/**
 * Deletes the oldest blocks of a shard that are older than `before` (Farcaster seconds), and those that precede the start of
 * the log. Deletes at most `maxEvents` events, but at least one block.
 *
 * @returns the number of deleted events; 0 if nothing is left to delete.
 */
export function sweepHubLog(
  db: IndexDatabase,
  shard: number,
  { before, maxEvents }: { readonly before: number; readonly maxEvents: number },
): number {
  const start = startBlock(db, shard);
  let deleted = 0;
  let upTo: number | undefined;
  for (const { height, events, at } of db.all(oldestBlocks, shard, maxEvents)) {
    if (at >= before && height >= start) break;
    if (upTo !== undefined && deleted + events > maxEvents) break;
    deleted += events;
    upTo = height;
  }
  if (upTo === undefined) return 0;
  db.run(deleteEvents, shard, firstEventId(upTo + 1));
  db.run(deleteBlocks, shard, upTo);
  if (upTo >= start) putPosition(db, startKey(shard), firstEventId(upTo + 1));
  return deleted;
}

function startBlock(db: IndexDatabase, shard: number): number {
  return blockOfEvent(getPosition(db, startKey(shard)) ?? 0);
}

function startKey(shard: number): string {
  return `hub ${shard} start`;
}

function lastKey(shard: number): string {
  return `hub ${shard} last`;
}
