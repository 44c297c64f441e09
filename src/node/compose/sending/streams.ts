import type { IndexDatabase } from "../../../db/index/database.ts";
import { ApiError } from "../../../http/errors.ts";
import { connectRpc } from "../../../lib/port-rpc.ts";
import type { Common } from "../../../runtime/common.ts";
import type { StreamSlots } from "../../../stream/slots.ts";
import { createStreams, type StreamSlotsClient, type Streams } from "../../../stream/streams.ts";
import type { BannedAmong } from "../../../webhooks/match/exclusions.ts";
import type { MatchClient } from "../../../webhooks/match/rpc.ts";
import { enforcedScores } from "../score-policy.ts";

/** Longer than the main thread is ever busy. */
const SLOTS_DEADLINE_MS = 5_000;

/** Returns the client of the main thread, which counts streams. It throws an ApiError `unavailable` if there is no response in time. */
export function connectStreamSlots(port: MessagePort): StreamSlotsClient {
  return connectRpc<StreamSlots>(port, {
    timeoutMs: SLOTS_DEADLINE_MS,
    timeoutError: () => new ApiError("unavailable", "the main thread does not respond"),
  });
}

/** Composes the streams of an HTTP worker. */
export function createNodeStreams(deps: {
  readonly common: Pick<Common, "config" | "log" | "clock">;
  readonly db: IndexDatabase;
  readonly bannedAmong: BannedAmong;
  readonly matching: { readonly live: MatchClient; readonly replays: MatchClient };
  readonly awaitEvents: (afterSeq: number) => Promise<void>;
  readonly slots: StreamSlotsClient;
}): Streams {
  const { common, ...parts } = deps;
  const { config, clock } = common;
  const log = common.log.child({ subsystem: "stream" });
  return createStreams({
    ...parts,
    clock,
    scores: enforcedScores(config, "webhooks"),
    get retentionSecs() {
      return config.stream.retention_hours * 3600;
    },
    onFault: (err) => log.error({ err }, "Streams could not read events"),
    onSkipped: (seq, err) => log.error({ err, seq }, "Skipped an event for the streams"),
  });
}
