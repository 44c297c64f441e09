import { type Static, Type } from "@sinclair/typebox";
import type { EventKind } from "../../../protocol/event-kind.ts";
import { MAX_REPLAYS, type PlannedReplay } from "../../../webhooks/delivery-service.ts";
import type { PreviewOutcome } from "../../../webhooks/preview/scan.ts";
import { type ReplayScope, replayScopes } from "../../../webhooks/replay/replay-scope.ts";
import { type Replay, type ReplayState, replayStates } from "../../../webhooks/replay/replay-table.ts";
import type { StatsBucket } from "../../../webhooks/store/attempt-stats.ts";
import {
  type DeliveryState,
  deliveryStates,
  type LoggedDelivery,
} from "../../../webhooks/store/delivery-log.ts";
import type { Attempt } from "../../../webhooks/store/delivery-queue.ts";
import { eventKinds } from "../../../webhooks/subscription-schema.ts";
import { Count, Next, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { presentRecord } from "../../respond.ts";

/** The kinds of events in the spelling of parameters. */
export const kinds = eventKinds.map(({ kind }) => kind);

export const Kind = Type.Unsafe<EventKind>({ type: "string", enum: kinds });

const MessageId = Type.String({ description: "The `webhook-id` header that the receiver got" });

const WebhookAttempt = object(
  {
    attempted_at: UnixSecs("When it began"),
    status: nullable(Type.Integer({ description: "Status of the response" })),
    error: nullable(Type.String({ description: "Error class if there was no response" })),
    duration_ms: Type.Integer({ minimum: 0 }),
    response: Type.String({ description: "The first 2 KB of the response body" }),
  },
  { $id: "WebhookAttempt" },
);

const WebhookDelivery = object(
  {
    message_id: MessageId,
    event_id: Type.String({ description: "The same for all webhooks that the event matched" }),
    type: Kind,
    test: Type.Boolean({ description: "Whether the event was created by a test" }),
    state: Type.Unsafe<DeliveryState>({
      type: "string",
      enum: [...deliveryStates],
      description: "`dropped`: the delivery waited in the queue for too long",
    }),
    created_at: UnixSecs("When it was queued"),
    next_attempt_at: nullable(UnixSecs("When it is tried next; null also while it is tried")),
    ended_at: nullable(UnixSecs("When the delivery succeeded or was given up")),
    replay_id: nullable(Type.String({ description: "The replay that queued it last" })),
    attempts: Type.Array(WebhookAttempt, { description: "Oldest first, at most the last 20" }),
  },
  { $id: "WebhookDelivery" },
);

export const DeliveriesResponse = object({ deliveries: Type.Array(WebhookDelivery), next: Next });

export const ReplayResponse = object({
  replayed: Type.Integer({ minimum: 0, maximum: MAX_REPLAYS }),
  more: Type.Boolean({ description: "Whether the time range may contain more" }),
});

const planned = {
  matched: Type.Integer({
    minimum: 0,
    description: "Deliveries of that time, and events that the webhook never had. Of `failed`: those to send",
  }),
  already_delivered: Count,
  to_send: Count,
  more: Type.Boolean({ description: "Whether there may be more: counting ended for its time" }),
};

export const StartedReplay = object(
  {
    replay_id: nullable(Type.String({ description: "Null for a dry run" })),
    ...planned,
  },
  { $id: "StartedReplay" },
);

export const ReplayReport = object({
  replay: object(
    {
      replay_id: Type.String(),
      webhook_id: Type.String(),
      only: Type.Unsafe<ReplayScope>({ type: "string", enum: [...replayScopes] }),
      from: UnixSecs("Of the deliveries and events, both ends included"),
      to: UnixSecs("The last second"),
      per_second: Type.Integer({ minimum: 1 }),
      state: Type.Unsafe<ReplayState>({
        type: "string",
        enum: [...replayStates],
        description: "`stopped`: by the node, for `reason`",
      }),
      reason: nullable(Type.String()),
      sent: Type.Integer({ minimum: 0, description: "Deliveries that it has queued" }),
      created_at: UnixSecs("When it was started"),
      ended_at: nullable(UnixSecs("When it ended")),
    },
    { $id: "WebhookReplay" },
  ),
});

export function presentReplay(replay: Replay): Static<typeof ReplayReport> {
  const { scope, fromAt, toAt, ...rest } = replay;
  return {
    replay: {
      replay_id: rest.replayId,
      webhook_id: rest.webhookId,
      only: scope,
      from: fromAt,
      to: toAt,
      per_second: rest.perSecond,
      state: rest.state,
      reason: rest.reason,
      sent: rest.sent,
      created_at: rest.createdAt,
      ended_at: rest.endedAt,
    },
  };
}

export function presentPlan({
  replayId,
  matched,
  alreadyDelivered,
  toSend,
  isPartial,
}: PlannedReplay): Static<typeof StartedReplay> {
  return {
    replay_id: replayId,
    matched,
    already_delivered: alreadyDelivered,
    to_send: toSend,
    more: isPartial,
  };
}

export const TestResponse = object({ deliveries: Type.Array(object({ message_id: MessageId, type: Kind })) });

export const DeliveryResponse = object({
  delivery: WebhookDelivery,
  request: object({
    headers: Type.Record(Type.String(), Type.String()),
    body: Type.String({ description: "The JSON that is sent, byte for byte" }),
  }),
});

const Milliseconds = (description: string) => nullable(Type.Integer({ minimum: 0, description }));

export const StatsResponse = object({
  step_secs: Type.Integer({ description: "Length of a bucket" }),
  buckets: Type.Array(
    object({
      at: UnixSecs("Start of the bucket"),
      delivered: Type.Integer({ minimum: 0, description: "Deliveries that succeeded" }),
      failed: Type.Integer({ minimum: 0, description: "Deliveries that were given up" }),
      p50_ms: Milliseconds("Median duration of the attempts; null without any"),
      p95_ms: Milliseconds("95th percentile of it"),
    }),
  ),
});

const KindCounts = object({ scanned: Count, matched: Count });

export const PreviewResponse = object({
  scanned: Type.Integer({ minimum: 0, description: "Events that were looked at" }),
  from: nullable(UnixSecs("When the node applied the oldest of them")),
  to: nullable(UnixSecs("When the node applied the newest of them")),
  matched: Count,
  by_kind: object(Object.fromEntries(kinds.map((kind) => [kind, Type.Optional(KindCounts)]))),
  fell_to: Type.Record(Type.String(), Count, {
    description:
      "Events that did not match, by the first field of the filter that they do not meet; `type` are those of other kinds, `match` " +
      "those that meet no field where any would do",
  }),
  samples: Type.Array(Type.Object({}, { additionalProperties: true }), {
    maxItems: 10,
    description: "The bodies of the newest matching events, as a delivery has them",
  }),
});

export function presentBucket({ at, delivered, failed, p50Ms, p95Ms }: StatsBucket) {
  return { at, delivered, failed, p50_ms: p50Ms, p95_ms: p95Ms };
}

export function presentPreview(outcome: PreviewOutcome) {
  const { scanned, fromSecs, toSecs, matched, byKind, fellTo, samples } = outcome;
  return {
    scanned,
    from: fromSecs,
    to: toSecs,
    matched,
    by_kind: byKind,
    fell_to: fellTo,
    samples: samples.map((body) => JSON.parse(body) as unknown),
  };
}

export function presentDelivery(delivery: LoggedDelivery): Static<typeof WebhookDelivery> {
  const { kind, isTest, nextAttemptAtMs, attempts } = delivery;
  return presentRecord(WebhookDelivery, delivery, {
    type: kind,
    test: isTest,
    next_attempt_at: nextAttemptAtMs === null ? null : Math.ceil(nextAttemptAtMs / 1000),
    attempts: attempts.map(presentAttempt),
  });
}

function presentAttempt(attempt: Attempt): Static<typeof WebhookAttempt> {
  return presentRecord(WebhookAttempt, attempt, {
    attempted_at: Math.floor(attempt.atMs / 1000),
    response: attempt.responseText,
  });
}
