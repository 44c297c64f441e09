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
import { Count, closed, Next, nullable, UnixSecs } from "../../dialects/fields.ts";
import { presentRecord } from "../../respond.ts";

/** The kinds of events, as a parameter names them. */
export const kinds = eventKinds.map(({ kind }) => kind);

export const Kind = Type.Unsafe<EventKind>({ type: "string", enum: kinds });

const MessageId = Type.String({ description: "The `webhook-id` header that the receiver got" });

const WebhookAttempt = Type.Object(
  {
    attempted_at: UnixSecs("When it began"),
    status: nullable(Type.Integer({ description: "Status of the response" })),
    error: nullable(Type.String({ description: "Error class if there was no response" })),
    duration_ms: Type.Integer({ minimum: 0 }),
    response: Type.String({ description: "The first 2 KB of the response body" }),
  },
  { ...closed, $id: "WebhookAttempt" },
);

const WebhookDelivery = Type.Object(
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
  { ...closed, $id: "WebhookDelivery" },
);

export const DeliveriesResponse = Type.Object(
  { deliveries: Type.Array(WebhookDelivery), next: Next },
  closed,
);

export const ReplayResponse = Type.Object(
  {
    replayed: Type.Integer({ minimum: 0, maximum: MAX_REPLAYS }),
    more: Type.Boolean({ description: "Whether the time range may contain more" }),
  },
  closed,
);

const planned = {
  matched: Type.Integer({
    minimum: 0,
    description: "Deliveries of that time, and events that the webhook never had. Of `failed`: those to send",
  }),
  already_delivered: Count,
  to_send: Count,
  more: Type.Boolean({ description: "Whether there may be more: counting ended for its time" }),
};

export const StartedReplay = Type.Object(
  {
    replay_id: nullable(Type.String({ description: "Null for a dry run" })),
    ...planned,
  },
  { ...closed, $id: "StartedReplay" },
);

export const ReplayReport = Type.Object(
  {
    replay: Type.Object(
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
      { ...closed, $id: "WebhookReplay" },
    ),
  },
  closed,
);

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

export const TestResponse = Type.Object(
  { deliveries: Type.Array(Type.Object({ message_id: MessageId, type: Kind }, closed)) },
  closed,
);

export const DeliveryResponse = Type.Object(
  {
    delivery: WebhookDelivery,
    request: Type.Object(
      {
        headers: Type.Record(Type.String(), Type.String()),
        body: Type.String({ description: "The JSON that is sent, byte for byte" }),
      },
      closed,
    ),
  },
  closed,
);

const Milliseconds = (description: string) => nullable(Type.Integer({ minimum: 0, description }));

export const StatsResponse = Type.Object(
  {
    step_secs: Type.Integer({ description: "Length of a bucket" }),
    buckets: Type.Array(
      Type.Object(
        {
          at: UnixSecs("Start of the bucket"),
          delivered: Type.Integer({ minimum: 0, description: "Deliveries that succeeded" }),
          failed: Type.Integer({ minimum: 0, description: "Deliveries that were given up" }),
          p50_ms: Milliseconds("Median duration of the attempts; null without any"),
          p95_ms: Milliseconds("95th percentile of it"),
        },
        closed,
      ),
    ),
  },
  closed,
);

const KindCounts = Type.Object({ scanned: Count, matched: Count }, closed);

export const PreviewResponse = Type.Object(
  {
    scanned: Type.Integer({ minimum: 0, description: "Events that were looked at" }),
    from: nullable(UnixSecs("When the node applied the oldest of them")),
    to: nullable(UnixSecs("When the node applied the newest of them")),
    matched: Count,
    by_kind: Type.Object(Object.fromEntries(kinds.map((kind) => [kind, Type.Optional(KindCounts)])), closed),
    fell_to: Type.Record(Type.String(), Count, {
      description:
        "Events that did not match, by the first field of the filter that they do not meet; `type` are those of other kinds, `match` " +
        "those that meet no field where any would do",
    }),
    samples: Type.Array(Type.Object({}, { additionalProperties: true }), {
      maxItems: 10,
      description: "The bodies of the newest matching events, as a delivery has them",
    }),
  },
  closed,
);

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
