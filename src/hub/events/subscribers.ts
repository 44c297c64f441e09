import { roomFor, roomWithin } from "../../admission/budgets.ts";
import { ok } from "../../lib/result.ts";
import { blockOfEvent } from "../../protocol/hub-event-id.ts";
import { type EventRanges, type EventReads, startHeaders } from "../../read/hub/event-reads.ts";
import type { HubEventRow } from "../../read/hub/hub-event.ts";
import { refuse } from "../../read/hub/refusal.ts";
import { toServiceError } from "../grpc-errors.ts";
import type { RawStreamMethod } from "../raw-service.ts";
import type { ResponseBatch } from "../running-call.ts";
import { EventTail } from "./event-tail.ts";
import { type EventFilter, matchesFilter, partOf, readSubscribeRequest } from "./subscribe-request.ts";

/** How long, in milliseconds, a client may leave events waiting without taking a byte. */
const STALL_TIMEOUT_MS = 300_000;
/** A batch of events ends after the one that passes this size, and waits for its client to take it. */
const BATCH_BYTES = 65_536;
/**
 * Time per subscriber that events wait for more, so that writing to all subscribers takes only a small share of the thread's
 * time.
 */
const GATHER_MS_A_SUBSCRIBER = 1;
const MAX_GATHER_MS = 100;
/** While there are subscribers, a node that numbers its blocks writes an empty one after this long without any. */
const HEARTBEAT_INTERVAL_MS = 10_000;

export interface SubscribersDeps {
  readonly reads: EventReads;
  /** Resolves once the log has an event after a number, however long that takes. */
  readonly awaitEvents: (afterSeq: number) => Promise<void>;
  /** Appends an empty block; undefined if the node does not number its blocks. */
  readonly heartbeat: (() => Promise<void>) | undefined;
  readonly maxSubscribers: number;
  /** Maximum number of subscribers per address; IPv6 addresses of one /64 count as one address. */
  readonly maxPerAddress: number;
  readonly onFault: (cause: unknown) => void;
  readonly stallTimeoutMs?: number;
  readonly heartbeatIntervalMs?: number;
}

export interface SubscriberStats {
  readonly subscribers: number;
  /** Number of events that the slowest subscriber is behind. */
  readonly maxLagEvents: number;
  /** By reason. */
  readonly ended: Readonly<Record<EndReason, number>>;
}

type EndReason = "client" | "pruned" | "slow" | "stopped";

/** Manages the subscribers of hub events. */
export interface Subscribers {
  readonly subscribe: RawStreamMethod;
  stats(): SubscriberStats;
  /**
   * Accepts no more streams, and ends the open ones with UNAVAILABLE, spread over `ms`. Each client resumes at its last
   * event.
   */
  drain(ms: number): void;
  /** Ends all streams. */
  stop(): void;
}

const TOO_MANY = refuse("rate_limited", "too many subscribers; try again");
const TOO_MANY_OF_ADDRESS = refuse("rate_limited", "too many subscribers of this address");
const PRUNED = refuse("bad_request.events_pruned", "the events after the last one are gone").error;
const SLOW = refuse("rate_limited", "slow subscriber").error;
const STOPPED = refuse("unavailable", "the node is stopping; subscribe again").error;

interface Subscriber {
  /** Bucket of its client's address. */
  readonly bucket: string;
  seq: number;
  /** Why its stream ends, unless the client ends it. */
  endReason: EndReason;
  /** Aborted when the node ends its stream. */
  readonly stopping: AbortController;
}

/** Parameters of what a subscriber reads, until the signal aborts. */
interface EventQuery {
  readonly filter: EventFilter;
  readonly positions: ShardPositions;
  readonly signal: AbortSignal;
}

export function createSubscribers(deps: SubscribersDeps): Subscribers {
  const { reads, heartbeat, onFault } = deps;
  const subscribers = new Set<Subscriber>();
  // A write to each subscriber costs more than the events in it, so with many subscribers, writes are fewer and larger.
  const gatherMs = () => Math.min(subscribers.size * GATHER_MS_A_SUBSCRIBER, MAX_GATHER_MS);
  const tail = new EventTail({ reads, awaitEvents: deps.awaitEvents, gatherMs });
  const ended: Record<EndReason, number> = { client: 0, pruned: 0, slow: 0, stopped: 0 };
  let isClosed = false;
  let seqAtHeartbeat = 0;
  let heartbeats: Timer | undefined;

  function beat(): void {
    const seq = reads.lastEventSeq();
    if (seq === seqAtHeartbeat) heartbeat?.().catch(onFault);
    seqAtHeartbeat = seq;
  }

  function add(subscriber: Subscriber): void {
    subscribers.add(subscriber);
    if (heartbeat) heartbeats ??= setInterval(beat, deps.heartbeatIntervalMs ?? HEARTBEAT_INTERVAL_MS);
  }

  function remove(subscriber: Subscriber): void {
    subscribers.delete(subscriber);
    ended[subscriber.endReason] += 1;
    if (subscribers.size > 0) return;
    clearInterval(heartbeats);
    heartbeats = undefined;
  }

  async function* stream(
    subscriber: Subscriber,
    { filter, positions, signal }: EventQuery,
  ): AsyncGenerator<ResponseBatch> {
    try {
      const either = AbortSignal.any([signal, subscriber.stopping.signal]);
      let isInHole = false;
      while (!either.aborted && !isInHole) {
        const batch: Uint8Array[] = [];
        let batchBytes = 0;
        for (const event of await tail.after(subscriber.seq, either)) {
          const isAfterGap = event.row.seq > subscriber.seq + 1;
          const step = positions.step(event.row, isAfterGap, () => reads.eventRanges(filter.shards));
          isInHole = step === "hole";
          if (isInHole) break;
          subscriber.seq = event.row.seq;
          if (step !== "take" || !matchesFilter(filter, event.row)) continue;
          batch.push(event.bytes);
          batchBytes += event.bytes.length;
          if (batchBytes >= BATCH_BYTES) break;
        }
        if (batch.length === 0 || either.aborted) continue;
        yield batch;
      }
      if (isInHole) {
        subscriber.endReason = "pruned";
        throw toServiceError(PRUNED);
      }
      if (subscriber.stopping.signal.aborted) {
        subscriber.endReason = "stopped";
        throw toServiceError(STOPPED);
      }
    } finally {
      remove(subscriber);
    }
  }

  return {
    async subscribe(encoded, call) {
      const request = readSubscribeRequest(encoded);
      if (!request.ok) return request;
      const { types, fromId, totalShards } = request.value;
      const part = partOf(request.value);
      if (!part.ok) return part;
      const shardIndex = totalShards === undefined ? request.value.shardIndex : 0;
      const isStrict = call.metadata("x-strict-from-id") === "1";
      // The end is read first: an event logged in the meantime is found by its id, or follows after the end.
      const lastSeq = reads.lastEventSeq();
      const start = reads.startEvents({ fromId: fromId ?? 0, shardIndex, isStrict });
      if (!start.ok) return start;
      const { shards, ranges } = start.value;
      if (isClosed) return { ok: false, error: STOPPED };
      const { bucket } = call.client;
      const own = [...subscribers].filter((one) => one.bucket === bucket).length;
      if (subscribers.size >= roomFor(own + 1, roomWithin(deps.maxSubscribers))) return TOO_MANY;
      if (own >= deps.maxPerAddress) return TOO_MANY_OF_ADDRESS;
      const seqBefore = fromId === undefined ? undefined : reads.seqBefore(shards, fromId);
      const subscriber: Subscriber = {
        bucket,
        seq: seqBefore ?? lastSeq,
        endReason: "client",
        stopping: new AbortController(),
      };
      call.sendMetadata(startHeaders(start.value));
      const filter = { types, shards, fromId: fromId ?? 0, part: part.value };
      const positions = new ShardPositions(shards, ranges, fromId);
      // This must be the last step, because only the stream removes it.
      add(subscriber);
      return ok({
        responses: stream(subscriber, { filter, positions, signal: call.signal }),
        stall: {
          timeoutMs: deps.stallTimeoutMs ?? STALL_TIMEOUT_MS,
          error: toServiceError(SLOW),
          onStall: () => {
            subscriber.endReason = "slow";
          },
        },
      });
    },
    stats: () => ({
      subscribers: subscribers.size,
      maxLagEvents: Math.max(0, ...[...subscribers].map(({ seq }) => reads.lastEventSeq() - seq)),
      ended: { ...ended },
    }),
    drain(ms) {
      isClosed = true;
      const open = [...subscribers];
      for (const [at, { stopping }] of open.entries())
        setTimeout(() => stopping.abort(), (ms * at) / open.length);
    },
    stop() {
      isClosed = true;
      for (const { stopping } of subscribers) stopping.abort();
    },
  };
}

/** Result for an event on its way to a subscriber: "hole" means that events before it are deleted. */
type EventStep = "take" | "skip" | "hole";

/** How far a subscriber has read the log of each of its shards. */
class ShardPositions {
  readonly #shards: readonly number[];
  /** The smallest id that can be next. Missing for a shard whose log has never had a block. */
  readonly #nextIds = new Map<number, number>();

  /** @param fromId the first id that the subscriber wants; undefined for the events from now on. */
  constructor(shards: readonly number[], ranges: EventRanges, fromId: number | undefined) {
    this.#shards = shards;
    for (const [shard, { oldestId, headId }] of ranges)
      this.#nextIds.set(shard, Math.max(oldestId, Math.min(fromId ?? headId + 1, headId + 1)));
  }

  /**
   * Decides about the next event of the log. Retention deletes whole blocks of one shard, so missing numbers concern this
   * subscriber only if its own shards now start later.
   *
   * @param isAfterGap whether numbers before the event's are missing.
   * @param ranges returns the present ranges of the subscriber's shards. Called only after a gap.
   */
  step({ shard, id }: HubEventRow, isAfterGap: boolean, ranges: () => EventRanges): EventStep {
    if (isAfterGap && this.#isOvertaken(ranges())) return "hole";
    if (!this.#shards.includes(shard)) return "skip";
    const nextId = this.#nextIds.get(shard);
    if (nextId !== undefined) {
      if (id < nextId) return "skip";
      if (blockOfEvent(id) > blockOfEvent(nextId - 1) + 1) return "hole";
    }
    this.#nextIds.set(shard, id + 1);
    return "take";
  }

  #isOvertaken(ranges: EventRanges): boolean {
    return [...this.#nextIds].some(([shard, nextId]) => (ranges.get(shard)?.oldestId ?? 0) > nextId);
  }
}
