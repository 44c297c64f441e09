import type { HubLogStatus } from "../db/index/log/hub-log.ts";
import { counterBy, counters, figureOf, gauge } from "../runtime/figures/figures.ts";
import type { SubmitResult } from "../writes/network.ts";
import type { SubscriberStats } from "./events/subscribers.ts";
import type { MethodStats } from "./running-call.ts";

/** Counters of the hub's thread since it started. */
export interface HubStats {
  /** gRPC calls by method. */
  readonly methods: Readonly<Record<string, MethodStats>>;
  /** Null while the reads are off. */
  readonly events: { readonly subscribers: SubscriberStats; readonly log: HubLogStatus } | null;
}

/** Result of a call over the port: bytes of the response, or the error of the gRPC method. */
export type HubReply =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly code: number; readonly errCode: string; readonly details: string };

/**
 * The methods of the hub's thread for the HTTP workers, which serve the same under `/v1`. Requests and responses are those
 * of the gRPC methods, so that a single intake checks and limits all submits, for each client separately.
 */
export interface HubRpc {
  submitMessage(request: Uint8Array, clientKey?: string): Promise<HubReply>;
  submitBulkMessages(request: Uint8Array, clientKey?: string): Promise<HubReply>;
  validateMessage(request: Uint8Array, clientKey?: string): Promise<HubReply>;
  getInfo(): Promise<HubReply>;
  /**
   * Submits the messages of one write, at most 1000. Unlike a gRPC error, the results distinguish a refusal from a lost
   * response.
   */
  submitWrite(messages: readonly Uint8Array[]): Promise<readonly SubmitResult[]>;
  /** Reports whether the channel to the upstream becomes ready within the time; true without an upstream. */
  isUpstreamReady(timeoutMs: number): Promise<boolean>;
  /** Returns null until the first connection or other request, which loads the hub. */
  stats(): Promise<HubStats | null>;
  /** Ends the streams of events, spread over the time. */
  drain(ms: number): Promise<void>;
}

/** Returns the stats before the hub is loaded. `log` is undefined while its reads are off. */
export function hubStatsAtRest(log: HubLogStatus | undefined): HubStats {
  const ended = { client: 0, pruned: 0, slow: 0, stopped: 0 };
  return {
    methods: {},
    events: log ? { subscribers: { subscribers: 0, maxLagEvents: 0, ended }, log } : null,
  };
}

const figure = figureOf<HubStats>();

export const hubFigures = [
  figure({
    read: ({ methods }) =>
      Object.entries(methods).flatMap(([method, { calls }]) =>
        Object.entries(calls).map(([code, count]) => [{ method, code }, count] as const),
      ),
    metric: counters("hub_calls_total", "Ended gRPC calls by method and code.", ["method", "code"]),
  }),
  figure({
    read: ({ methods }) =>
      Object.fromEntries(Object.entries(methods).map(([method, { seconds }]) => [method, seconds])),
    metric: counterBy("method", "hub_call_seconds_total", "Time of ended unary gRPC calls by method."),
  }),
  figure({
    read: ({ events }) => events?.subscribers.subscribers ?? null,
    metric: gauge("hub_subscribers", "Streams of hub events."),
  }),
  figure({
    read: ({ events }) => events?.subscribers.maxLagEvents ?? null,
    metric: gauge("hub_subscriber_lag_events", "Events that the slowest stream of hub events has before it."),
  }),
  figure({
    read: ({ events }) =>
      events &&
      Object.fromEntries(
        events.log.shards.map(({ shard, oldestId, headId, oldestAt }) => [
          shard,
          { oldest: oldestId, head: headId, oldest_at: oldestAt },
        ]),
      ),
    status: "hub_log",
  }),
];
