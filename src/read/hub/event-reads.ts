import { shardCount } from "../../db/index/counts/totals.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { durableHubSeq, type HubLogRange, hubLogRange, lastHubEventSeq } from "../../db/index/log/hub-log.ts";
import { statement } from "../../db/index/statement.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { blockOfEvent } from "../../protocol/hub-event-id.ts";
import { type ReadContext, readList } from "./context.ts";
import type { HubEventRow } from "./hub-event.ts";
import { EVENT_PAGES, type Page, type PageQuery, type RowFormat, readKeyedList, tokenCodec } from "./page.ts";
import { BEING_FILLED, invalidParam, notFound, type Refusal, refuse } from "./refusal.ts";
import type { ListReader } from "./turns.ts";

const COLUMNS = `SELECT e.seq, e.shard, e.id, e.type, e.fid, e.body, b.at, b.hash, b.counts, b.events, b.seqnum
   FROM hub_events e CROSS JOIN hub_blocks b ON b.shard = e.shard AND b.height = e.id / 16384`;

const eventById = statement<HubEventRow, [shard: number, id: number]>(
  "hub.event-by-id",
  `${COLUMNS} WHERE e.shard = ? AND e.id = ?`,
);
const eventsFrom = statement<HubEventRow, [shard: number, fromId: number, belowId: number, limit: number]>(
  "hub.events-from",
  `${COLUMNS} WHERE e.shard = ? AND e.id >= ? AND e.id < ? ORDER BY e.id LIMIT ?`,
);
const eventsBelow = statement<HubEventRow, [shard: number, fromId: number, belowId: number, limit: number]>(
  "hub.events-below",
  `${COLUMNS} WHERE e.shard = ? AND e.id >= ? AND e.id < ? ORDER BY e.id DESC LIMIT ?`,
);
const eventsAfterSeq = statement<HubEventRow, [afterSeq: number, limit: number]>(
  "hub.events-after-seq",
  `${COLUMNS} WHERE e.seq > ? ORDER BY e.seq LIMIT ?`,
);
const seqOfFirst = statement<{ seq: number }, [shard: number, fromId: number]>(
  "hub.seq-of-first-event",
  "SELECT seq FROM hub_events WHERE shard = ? AND id >= ? ORDER BY id LIMIT 1",
);
/** How far ahead of this node a client may start: its position may be from a node that was ahead. */
const MAX_BLOCKS_AHEAD = 3600;

/** The events that the log of each shard has. */
export type EventRanges = ReadonlyMap<number, HubLogRange>;

/** Where a client wants to start reading. */
export interface EventStartQuery {
  /** The first id; 0 for the oldest event. Applies to each shard. */
  readonly fromId: number;
  /** Undefined or 0 for all data shards. */
  readonly shardIndex: number | undefined;
  /** Refuses a start whose events are partly deleted, instead of starting with the oldest that is left. */
  readonly isStrict: boolean;
}

/** Where a client starts reading. */
export interface EventStart {
  readonly fromId: number;
  readonly shards: readonly number[];
  readonly ranges: EventRanges;
  /** Whether events before the start of the log are missing. */
  readonly isMissing: boolean;
}

export interface EventsQuery extends PageQuery {
  /** Ids from this one on are excluded. */
  readonly stopId?: number | undefined;
}

/** Reads of the log of hub events. */
export interface EventReads {
  /** Checks where a client wants to start. */
  startEvents(query: EventStartQuery): Result<EventStart, Refusal>;
  eventRanges(shards: readonly number[]): EventRanges;
  event(query: { id: number; shardIndex: number | undefined }): Result<HubEventRow, Refusal>;
  /** Lists the events of each shard, one shard after the other. */
  events<Item>(
    start: EventStart,
    query: EventsQuery,
    format: RowFormat<HubEventRow, Item>,
    reader?: ListReader,
  ): Promise<Result<Page<Item>, Refusal>>;
  /** Returns the next events of all shards, in the order in which this node applied them. */
  eventsAfterSeq(afterSeq: number, limit: number): readonly HubEventRow[];
  /** Returns the number after which a client that starts with an id reads; undefined for the end of the log. */
  seqBefore(shards: readonly number[], fromId: number): number | undefined;
  /** Returns the number of the last event of all shards; 0 if there is none. */
  lastEventSeq(): number;
}

const eventTokens = tokenCodec("GetEvents", ["int", "int"]);
const keyOf = ({ shard, id }: HubEventRow) => [shard, id] as const;

export function createEventReads(context: ReadContext): EventReads {
  const { db } = context;

  /** Returns the data shards that a request's index stands for: all for 0. */
  function eventShards(shardIndex = 0): Result<readonly number[], Refusal> {
    if (!context.isFilled()) return err(BEING_FILLED);
    const shards = Array.from({ length: shardCount(db) }, (_, at) => at + 1);
    if (shardIndex === 0) return ok(shards);
    return shards.includes(shardIndex) ? ok([shardIndex]) : invalidParam("no such shard");
  }

  function startEvents({ fromId, shardIndex, isStrict }: EventStartQuery): Result<EventStart, Refusal> {
    const shards = eventShards(shardIndex);
    if (!shards.ok) return shards;
    const ranges = rangesOf(db, shards.value);
    const start = { fromId, shards: shards.value, ranges };
    if (fromId === 0 || ranges.size === 0) return ok({ ...start, isMissing: false });
    const head = Math.max(...[...ranges.values()].map(({ headId }) => headId));
    if (blockOfEvent(fromId) > blockOfEvent(head) + MAX_BLOCKS_AHEAD)
      return invalidParam(`from_id is ahead of this node (head ${head})`);
    const oldest = [...ranges.values()].map(({ oldestId }) => oldestId);
    const isMissing = oldest.some((oldestId) => fromId < oldestId);
    return isMissing && isStrict
      ? refuse("bad_request.events_pruned", `events before ${Math.max(...oldest)} are gone`)
      : ok({ ...start, isMissing });
  }

  /** Returns the first id of a shard's log that a client sees, which is not below `fromId`. */
  function startOf(shard: number, fromId: number): number {
    return Math.max(fromId, hubLogRange(db, shard)?.oldestId ?? 0);
  }

  /** Returns the id after the last event of a shard that is on disk. */
  function endOf(shard: number): number {
    return (hubLogRange(db, shard)?.headId ?? 0) + 1;
  }

  /**
   * Refuses a page after a position that retention has passed, because events between the two pages are deleted. Whole
   * blocks are deleted, so the rest of the position's block may be among them.
   */
  function refusalOfPrunedPage(
    [shard, id]: readonly [number, number],
    reverse: boolean,
  ): Result<never, Refusal> | undefined {
    const oldestId = hubLogRange(db, shard)?.oldestId ?? 0;
    return oldestId > (reverse ? id : id + 1)
      ? refuse("bad_request.events_pruned", `events before ${oldestId} are gone`)
      : undefined;
  }

  /** A power failure loses events that are not on disk, and their ids are then assigned to other events. */
  function isDurable({ seq }: HubEventRow): boolean {
    return seq <= durableHubSeq(db);
  }

  return {
    startEvents,
    eventRanges: (shards) => rangesOf(db, shards),
    event({ id, shardIndex }) {
      const shards = eventShards(shardIndex);
      if (!shards.ok) return shards;
      const found = shards.value
        .flatMap((shard) => (id < startOf(shard, 0) ? [] : (db.get(eventById, shard, id) ?? [])))
        .filter(isDurable);
      const [first, ...others] = found;
      if (others.length > 0) return invalidParam("shard_index is required");
      return first ? ok(first) : notFound("event");
    },
    async events({ fromId, shards }, query, format, reader) {
      const { stopId = Number.MAX_SAFE_INTEGER } = query;
      const position = eventTokens.decode(query);
      const refusal =
        position.ok && position.value && refusalOfPrunedPage(position.value, query.reverse ?? false);
      if (refusal) return refusal;
      const list = {
        tokens: eventTokens,
        sizes: EVENT_PAGES,
        keyOf,
        read(after: readonly [number, number] | undefined, limit: number, reverse: boolean) {
          const rows: HubEventRow[] = [];
          for (const shard of reverse ? shards.toReversed() : shards) {
            const [lastShard, lastId] = after ?? [];
            if (lastShard !== undefined && (reverse ? shard > lastShard : shard < lastShard)) continue;
            const isLast = shard === lastShard && lastId !== undefined;
            const from = Math.max(startOf(shard, fromId), isLast && !reverse ? lastId + 1 : 0);
            const below = Math.min(
              stopId,
              endOf(shard),
              isLast && reverse ? lastId : Number.MAX_SAFE_INTEGER,
            );
            const part = reverse ? eventsBelow : eventsFrom;
            rows.push(...db.all(part, shard, from, below, limit - rows.length));
            if (rows.length === limit) break;
          }
          return rows;
        },
      };
      return readList(context, reader, (turns) => readKeyedList(list, { page: query, format, turns }));
    },
    eventsAfterSeq(afterSeq, limit) {
      const rows = db.all(eventsAfterSeq, afterSeq, limit);
      // The end moves meanwhile, so it is read once: if an event is left out, all later ones must be too.
      const end = durableHubSeq(db);
      return rows.filter(({ seq }) => seq <= end);
    },
    seqBefore(shards, fromId) {
      const first = shards.flatMap((shard) => db.get(seqOfFirst, shard, startOf(shard, fromId))?.seq ?? []);
      return first.length === 0 ? undefined : Math.min(...first) - 1;
    },
    lastEventSeq: () => Math.min(lastHubEventSeq(db), durableHubSeq(db)),
  };
}

function rangesOf(db: IndexDatabase, shards: readonly number[]): EventRanges {
  return new Map(
    shards.flatMap((shard) => {
      const range = hubLogRange(db, shard);
      return range ? [[shard, range] as const] : [];
    }),
  );
}

/** Returns the headers that say which events the log of each shard has, and whether events before the start are missing. */
export function startHeaders({ ranges, isMissing }: EventStart): Readonly<Record<string, string>> {
  const list = (pick: (range: HubLogRange) => number) =>
    [...ranges].map(([shard, range]) => `${shard}=${pick(range)}`).join(",");
  return {
    "x-oldest-event-id": list(({ oldestId }) => oldestId),
    "x-head-event-id": list(({ headId }) => headId),
    ...(isMissing && { "x-events-missing": "1" }),
  };
}
