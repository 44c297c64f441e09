import type { HubLogStatus } from "../db/index/hub-log.ts";
import type { SubmitResult } from "../writes/network.ts";
import type { MethodStats } from "./call-stats.ts";
import type { SubscriberStats } from "./events/subscribers.ts";

/** What the hub's thread counts, since it started. */
export interface HubStats {
  /** gRPC calls by method. */
  readonly methods: Readonly<Record<string, MethodStats>>;
  /** Null while the reads are off. */
  readonly events: { readonly subscribers: SubscriberStats; readonly log: HubLogStatus } | null;
}

/** The result of a call over the port: bytes of the response, or the error of the gRPC method. */
export type HubReply =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly code: number; readonly errCode: string; readonly details: string };

/**
 * The methods of the hub's thread for the HTTP workers, which serve the same under `/v1`. Requests and responses are those of the
 * gRPC methods, so one intake checks and bounds all submits.
 */
export interface HubRpc {
  submitMessage(request: Uint8Array): Promise<HubReply>;
  submitBulkMessages(request: Uint8Array): Promise<HubReply>;
  validateMessage(request: Uint8Array): Promise<HubReply>;
  getInfo(): Promise<HubReply>;
  /** Submits the messages of one write, at most 1000. Unlike a gRPC error, the results tell a refusal from a lost answer. */
  submitWrite(messages: readonly Uint8Array[]): Promise<readonly SubmitResult[]>;
  /** Returns whether the channel to the upstream is ready within the time; true without an upstream. */
  isUpstreamReady(timeoutMs: number): Promise<boolean>;
  stats(): Promise<HubStats>;
  /** Ends the streams of events, spread over the time. */
  drain(ms: number): Promise<void>;
}
