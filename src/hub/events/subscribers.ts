import { ok } from "../../lib/result.ts";
import { blockOfEvent } from "../../protocol/hub-event-id.ts";
import { HubEventType } from "../../protocol/wire/generated/hub.ts";
import { type EventReads, rangeHeaders } from "../../read/hub/event-reads.ts";
import type { HubEventRow } from "../../read/hub/hub-event.ts";
import { refuse } from "../../read/hub/refusal.ts";
import { toServiceError } from "../grpc-errors.ts";
import type { RawStreamMethod } from "../raw-service.ts";
import { networkOfPeer } from "./client-network.ts";
import { type EventFilter, matchesFilter } from "./event-filter.ts";
import { EventTail } from "./event-tail.ts";
import { partOf, readSubscribeRequest } from "./subscribe-request.ts";

/** How long a client may leave events waiting without taking a byte. */
const STALL_TIMEOUT_MS = 300_000;
/** While anybody subscribes, a node that numbers its blocks writes one after so long without any. */
const HEARTBEAT_INTERVAL_MS = 10_000;

export interface SubscribersDeps {
  readonly reads: EventReads;
  /** Resolves when the log has an event after a number, however long that takes. */
  readonly awaitEvents: (afterSeq: number) => Promise<void>;
  /** Appends an empty block; undefined if the node does not number its blocks. */
  readonly heartbeat: (() => Promise<void>) | undefined;
  readonly maxSubscribers: number;
  /** Subscribers of one address; IPv6 addresses of one /64 count together. */
  readonly maxPerAddress: number;
  readonly onFault: (cause: unknown) => void;
  readonly stallTimeoutMs?: number;
  readonly heartbeatIntervalMs?: number;
}

export interface SubscriberStats {
  readonly subscribers: number;
  /** Events that the slowest subscriber has before it. */
  readonly maxLagEvents: number;
  readonly sentEvents: number;
  /** By reason. */
  readonly ended: Readonly<Record<EndReason, number>>;
}

type EndReason = "client" | "pruned" | "slow" | "stopped";

/** The subscribers of hub events. */
export interface Subscribers {
  readonly subscribe: RawStreamMethod;
  stats(): SubscriberStats;
  /** Ends all streams with UNAVAILABLE; each client resumes after the last event that it got. */
  stop(): void;
}

const TOO_MANY = refuse("rate_limited", "too many subscribers; try again");
const TOO_MANY_OF_ADDRESS = refuse("rate_limited", "too many subscribers of this address");
const PRUNED = refuse("bad_request.events_pruned", "the events after the last one are gone").error;
const SLOW = refuse("rate_limited", "slow subscriber").error;
const STOPPED = refuse("unavailable", "the node is stopping; subscribe again").error;

interface Subscriber {
  readonly network: string;
  seq: number;
  /** Why its stream ends, unless the client ends it. */
  endReason: EndReason;
}

export function createSubscribers(deps: SubscribersDeps): Subscribers {
  const { reads, heartbeat, onFault } = deps;
  const tail = new EventTail(deps);
  const subscribers = new Set<Subscriber>();
  const ended: Record<EndReason, number> = { client: 0, pruned: 0, slow: 0, stopped: 0 };
  const stopping = new AbortController();
  let sentEvents = 0;
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
    filter: EventFilter,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const heights = new Map<number, number>();
    try {
      const either = AbortSignal.any([signal, stopping.signal]);
      while (!either.aborted) {
        for (const event of await tail.after(subscriber.seq, either)) {
          if (either.aborted) break;
          if (event.row.seq > subscriber.seq + 1 || isAfterHole(heights, filter, event.row)) {
            subscriber.endReason = "pruned";
            throw toServiceError(PRUNED);
          }
          if (matchesFilter(filter, event.row)) {
            yield event.bytes;
            sentEvents += 1;
          }
          subscriber.seq = event.row.seq;
        }
      }
      if (stopping.signal.aborted) {
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
      const shards = reads.eventShards(totalShards === undefined ? request.value.shardIndex : 0);
      if (!shards.ok) return shards;
      const isStrict = call.metadata("x-strict-from-id") === "1";
      const start = reads.checkEventStart({ fromId: fromId ?? 0, shards: shards.value, isStrict });
      if (!start.ok) return start;
      if (stopping.signal.aborted) return { ok: false, error: STOPPED };
      const network = networkOfPeer(call.peer);
      if (subscribers.size >= deps.maxSubscribers) return TOO_MANY;
      if ([...subscribers].filter((one) => one.network === network).length >= deps.maxPerAddress)
        return TOO_MANY_OF_ADDRESS;
      const isFromNow = fromId === undefined;
      const seq = isFromNow ? undefined : reads.seqBefore(shards.value, fromId);
      const subscriber: Subscriber = { network, seq: seq ?? reads.lastEventSeq(), endReason: "client" };
      add(subscriber);
      call.sendMetadata({
        ...rangeHeaders(reads.eventRanges(shards.value)),
        ...(start.value && { "x-events-missing": "1" }),
      });
      const filter = { types, shards: shards.value, fromId: fromId ?? 0, part: part.value };
      return ok({
        responses: stream(subscriber, filter, call.signal),
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
      sentEvents,
      ended: { ...ended },
    }),
    stop: () => stopping.abort(),
  };
}

/** Whether the log began again before a block that does not follow the last one of its shard. */
function isAfterHole(
  heights: Map<number, number>,
  filter: EventFilter,
  { shard, id, type }: HubEventRow,
): boolean {
  if (type !== HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED || !filter.shards.includes(shard)) return false;
  const height = blockOfEvent(id);
  const last = heights.get(shard);
  heights.set(shard, height);
  return last !== undefined && height !== last + 1;
}
