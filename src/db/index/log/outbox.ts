import type { EventKind } from "../../../protocol/event-kind.ts";
import type { IndexDatabase } from "../database.ts";
import { getPosition, putPosition } from "../positions.ts";
import type { ThreadRoot } from "../project/casts.ts";
import { statement } from "../statement.ts";

/** An event of the outbox. It stays there for a while after it was published. */
export interface OutboxEvent {
  /** 16 bytes, identical on every node for the same event. */
  readonly eventId: Uint8Array;
  readonly kind: EventKind;
  /**
   * The author of the cast, follow or reaction, the user that the event is about, or 0 for an event of the channel registry.
   */
  readonly fid: number;
  /**
   * When its cause happened on the network, in Unix seconds; for a deleted cast, the time of the message that deleted it.
   */
  readonly happenedAt: number;
  /** When the node applied its cause, in Unix seconds. */
  readonly appliedAt: number;
  /**
   * The signed message that was added or removed; a `ChannelChange` for an event about a channel; null for an event about a
   * user.
   */
  readonly subject: Uint8Array | null;
  /** The thread of a cast at the time of its creation or deletion; null for other events. */
  readonly root: ThreadRoot | null;
  /** The block of a followed node that caused it; null if no block did. */
  readonly block: BlockRef | null;
}

/** A block of a followed node. */
export interface BlockRef {
  readonly shard: number;
  readonly number: number;
}

export interface StoredOutboxEvent extends OutboxEvent {
  /** Increases with every event and is never reused. */
  readonly seq: number;
}

/** The number of events, and the age of the oldest. */
export interface EventSpan {
  readonly events: number;
  /** When the oldest event was applied, in Unix seconds; null if there are none. */
  readonly oldestAt: number | null;
}

interface Row {
  seq: number;
  eventId: Uint8Array;
  kind: EventKind;
  fid: number;
  happenedAt: number;
  appliedAt: number;
  subject: Uint8Array | null;
  rootHash: Uint8Array | null;
  rootParentUrl: string | null;
  shard: number | null;
  block: number | null;
}

const insertEvent = statement<
  unknown,
  [
    eventId: Uint8Array,
    kind: EventKind,
    fid: number,
    happenedAt: number,
    appliedAt: number,
    subject: Uint8Array | null,
    rootHash: Uint8Array | null,
    rootParentUrl: string | null,
    shard: number | null,
    block: number | null,
  ]
>(
  "outbox.insert",
  `INSERT INTO event_outbox (event_id, kind, fid, happened_at, applied_at, subject, root_hash, root_parent_url, shard, block)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const selectEventsAfter = statement<Row, [afterSeq: number, limit: number]>(
  "outbox.events-after",
  `SELECT seq, event_id AS eventId, kind, fid, happened_at AS happenedAt, applied_at AS appliedAt,
     subject, root_hash AS rootHash, root_parent_url AS rootParentUrl, shard, block
   FROM event_outbox WHERE seq > ? ORDER BY seq LIMIT ?`,
);
const oldestEvent = statement<{ seq: number; appliedAt: number }, [afterSeq: number]>(
  "outbox.oldest",
  "SELECT seq, applied_at AS appliedAt FROM event_outbox WHERE seq > ? ORDER BY seq LIMIT 1",
);
const newestEvent = statement<{ seq: number }, [afterSeq: number]>(
  "outbox.newest",
  "SELECT seq FROM event_outbox WHERE seq > ? ORDER BY seq DESC LIMIT 1",
);
const oldestPublished = statement<
  { seq: number; appliedAt: number },
  [afterSeq: number, published: number, limit: number]
>(
  "outbox.oldest-published",
  "SELECT seq, applied_at AS appliedAt FROM event_outbox WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
);
const deleteUpTo = statement<unknown, [seq: number]>(
  "outbox.delete-up-to",
  "DELETE FROM event_outbox WHERE seq <= ?",
);

/** Adds an event inside the transaction of its cause. */
export function putEvent(db: IndexDatabase, event: OutboxEvent): void {
  const { eventId, kind, fid, happenedAt, appliedAt, subject, root, block } = event;
  db.run(
    insertEvent,
    eventId,
    kind,
    fid,
    happenedAt,
    appliedAt,
    subject,
    root?.hash ?? null,
    root?.parentUrl ?? null,
    block?.shard ?? null,
    block?.number ?? null,
  );
}

/** Returns the next `limit` events after `afterSeq` that are on disk, in order. */
export function eventsAfter(db: IndexDatabase, afterSeq: number, limit: number): StoredOutboxEvent[] {
  const rows = db.all(selectEventsAfter, afterSeq, limit);
  // The end moves meanwhile, so it is read once: if an event is left out, all later ones must be too.
  const end = durableEnd(db);
  return rows
    .filter(({ seq }) => seq <= end)
    .map(({ rootHash, rootParentUrl, shard, block, ...event }) => ({
      ...event,
      block: shard === null || block === null ? null : { shard, number: block },
      root:
        event.kind === "cast.created" || event.kind === "cast.deleted"
          ? { hash: rootHash, parentUrl: rootParentUrl }
          : null,
    }));
}

/** Returns the numbers of the oldest and the newest event on disk. Without events, `oldestSeq` is that of the next one. */
export function eventRange(db: IndexDatabase): { readonly oldestSeq: number; readonly headSeq: number } {
  const headSeq = Math.min(lastOutboxSeq(db), durableEnd(db));
  return { oldestSeq: Math.min(db.get(oldestEvent, 0)?.seq ?? headSeq + 1, headSeq + 1), headSeq };
}

/** Returns the events that are in the log, published or not. */
export function eventLogSpan(db: IndexDatabase): EventSpan {
  const { oldestSeq, headSeq } = eventRange(db);
  return { events: headSeq - oldestSeq + 1, oldestAt: db.get(oldestEvent, 0)?.appliedAt ?? null };
}

/** Returns the number of the first event applied at or after a time (Unix seconds); undefined if there is none. */
export function firstEventFrom(db: IndexDatabase, unixSecs: number): number | undefined {
  const { oldestSeq, headSeq } = eventRange(db);
  let low = oldestSeq;
  let high = headSeq + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((db.get(oldestEvent, middle - 1)?.appliedAt ?? unixSecs) >= unixSecs) high = middle;
    else low = middle + 1;
  }
  return low > headSeq ? undefined : low;
}

/** Reports whether there are events after `afterSeq` that are on disk. */
export function hasEventsAfter(db: IndexDatabase, afterSeq: number): boolean {
  const next = db.get(oldestEvent, afterSeq);
  return next !== undefined && next.seq <= durableEnd(db);
}

/** Returns the number of the last event ever added, on disk or not; 0 before the first. */
export function lastOutboxSeq(db: IndexDatabase): number {
  // Only published events are deleted.
  return db.get(newestEvent, 0)?.seq ?? publishedSeq(db);
}

function durableEnd({ commits }: IndexDatabase): number {
  return commits?.durableEnds?.outboxSeq ?? Number.MAX_SAFE_INTEGER;
}

/** Key of the publication position: every event up to this `seq` has been published. */
const PUBLISHED = "events published";

/** Returns the `seq` of the last published event; 0 before the first. */
export function publishedSeq(db: IndexDatabase): number {
  return getPosition(db, PUBLISHED) ?? 0;
}

/** Records that every event up to `seq` has been published. The position of a running node never moves back. */
export function markPublished(db: IndexDatabase, seq: number): void {
  if (seq > publishedSeq(db)) putPosition(db, PUBLISHED, seq);
}

/** Moves the publication position of a copy back to `seq`, or as far as its events are still there. */
export function publishAgainAfter(db: IndexDatabase, seq: number): void {
  const oldestSeq = db.get(oldestEvent, 0)?.seq;
  if (oldestSeq !== undefined) putPosition(db, PUBLISHED, Math.max(seq, oldestSeq - 1));
}

/** Marks all events up to now as published. */
export function markAllPublished(db: IndexDatabase): void {
  markPublished(db, lastOutboxSeq(db));
}

/** Deletes the oldest events, up to and including `seq`. */
export function deleteEventsUpTo(db: IndexDatabase, seq: number): void {
  db.run(deleteUpTo, seq);
}

/**
 * Returns the number of the last published event applied before `appliedBefore` (Unix seconds), among the `limit` oldest
 * events; undefined if there is none.
 */
export function lastExpiredEvent(
  db: IndexDatabase,
  { appliedBefore, limit }: { readonly appliedBefore: number; readonly limit: number },
): number | undefined {
  const oldest = db.all(oldestPublished, 0, publishedSeq(db), limit);
  const retained = oldest.findIndex(({ appliedAt }) => appliedAt >= appliedBefore);
  const expired = retained < 0 ? oldest : oldest.slice(0, retained);
  return expired.at(-1)?.seq;
}

/**
 * Returns the size of the backlog. Events are deleted only from the front and numbered without gaps, so no rows are counted.
 */
export function outboxBacklog(db: IndexDatabase): EventSpan {
  const published = publishedSeq(db);
  const oldest = db.get(oldestEvent, published);
  const newest = db.get(newestEvent, published);
  if (!oldest || !newest) return { events: 0, oldestAt: null };
  return { events: newest.seq - oldest.seq + 1, oldestAt: oldest.appliedAt };
}
