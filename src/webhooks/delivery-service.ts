import { type Static, Type } from "@sinclair/typebox";
import type { IndexDatabase } from "../db/index/database.ts";
import { type Err, ok, type Result } from "../lib/result.ts";
import { ownValue, readObject } from "../management/fields.ts";
import type { Claim, StoreRefusal } from "../management/owned-store.ts";
import { badField, type Refusal, refusalOf, refused } from "../management/refusal.ts";
import { schemaReader } from "../management/request-schema.ts";
import type { EventKind } from "../protocol/event-kind.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { MAX_PREVIEW_EVENTS, type Previews } from "./preview/previews.ts";
import type { PreviewOutcome } from "./preview/scan.ts";
import { createTestEvents } from "./publish/test-events.ts";
import { readSubscription } from "./read-subscription.ts";
import type { ReplayPlan, ReplayRunner } from "./replay/replay-runner.ts";
import type { ReplayStore } from "./replay/replay-store.ts";
import type { Replay } from "./replay/replay-table.ts";
import { bucketsOf, STATS_STEP_SECS, type StatsBucket, statsStepOf } from "./store/attempt-stats.ts";
import type {
  DeliveryLog,
  DeliveryPage,
  DeliveryPosition,
  DeliveryWithBody,
  ListedDeliveries,
} from "./store/delivery-log.ts";
import { messageIdOf } from "./store/queue-events.ts";
import type { Webhook } from "./store/webhook-store.ts";
import { kindsOf } from "./subscription.ts";
import { PreviewRequest, REPLAYS_PER_SECOND, ReplayRequest } from "./webhook-requests.ts";
import type { WebhookService } from "./webhook-service.ts";

/** Maximum number of deliveries that one request replays. */
export const MAX_REPLAYS = 10_000;
/** Each step is one short transaction, so that other writes can run in between. */
const REPLAYS_PER_STEP = 500;
/** Maximum number of deliveries that one replay sends if the custody address signed it. */
const MAX_SENT_BY_CUSTODY = 1_000_000;

const readReplay = schemaReader(ReplayRequest);
// `readSubscription` validates the subscription, because its kinds have two spellings.
const readPreview = schemaReader(Type.Object({ ...PreviewRequest.properties, subscription: Type.Unknown() }));

export interface ReplayOutcome {
  readonly replayed: number;
  /** Whether the time range may contain more. */
  readonly more: boolean;
}

/** A replay that was started or, in a dry run, would be. */
export interface PlannedReplay extends ReplayPlan {
  /** Null in a dry run. */
  readonly replayId: string | null;
}

/** A delivery of a webhook with the body that is sent. */
export interface FoundDelivery extends DeliveryWithBody {
  readonly webhook: Webhook;
}

export interface WebhookStats {
  readonly stepSecs: number;
  readonly buckets: readonly StatsBucket[];
}

/** Deliveries of a webhook, for its owner. `fid` is the acting fid, `body` the JSON of the request. */
export type DeliveryService = ReturnType<typeof createDeliveryService>;

export function createDeliveryService(deps: {
  readonly webhooks: WebhookService;
  readonly log: DeliveryLog;
  readonly index: IndexDatabase;
  readonly clock: Clock;
  /** Called with a webhook that has new queued deliveries. */
  readonly wake: (webhookId: string) => Promise<void>;
  readonly preview: Previews["preview"];
  readonly replays: ReplayStore;
  readonly planReplay: ReplayRunner["plan"];
  /** Called with a started replay. */
  readonly wakeReplays: () => Promise<void>;
  /** Whether filters by score have an effect. */
  readonly acceptsScores: boolean;
}) {
  const { webhooks, log, index, clock, wake } = deps;

  async function replayOne(claim: Claim, messageId: string): Promise<Result<ReplayOutcome, Refusal>> {
    const outcome = await log.replay(claim, messageId, clock.nowMs());
    if (outcome !== "queued") return refusal(outcome);
    return ok({ replayed: 1, more: false });
  }

  async function replayRange(
    claim: Claim,
    range: { readonly fromSecs: number; readonly toSecs: number },
  ): Promise<Result<ReplayOutcome, Refusal>> {
    let replayed = 0;
    let after: DeliveryPosition | undefined;
    do {
      const max = Math.min(REPLAYS_PER_STEP, MAX_REPLAYS - replayed);
      const step = await log.replayRange(claim, range, { after, max, nowMs: clock.nowMs() });
      if (typeof step === "string") return refusal(step);
      replayed += step.queued;
      after = step.last;
    } while (after !== undefined && replayed < MAX_REPLAYS);
    return ok({ replayed, more: after !== undefined });
  }

  async function startReplay(
    webhook: Webhook,
    request: Static<typeof ReplayRequest>,
    isByCustody: boolean,
  ): Promise<Result<PlannedReplay, Refusal>> {
    const { webhookId, ownerFid, subscription, active } = webhook;
    const now = nowSecs(clock);
    const { from, only: scope = "failed", dry_run: isDry = false } = request;
    const to = Math.min(request.to ?? now, now);
    if (from === undefined || request.message_id !== undefined)
      return badField("only, dry_run and per_second need from, and no message_id");
    if (from > to) return badField("from must not be after to, nor in the future");
    if (scope === "all" && !isByCustody)
      return refused("forbidden", "only the custody address may send again what was delivered (only: all)");
    if (!active && !isDry) return refusal("inactive");
    const time = { fromAt: from, toAt: to };
    const plan = await deps.planReplay({ webhookId, ownerFid, subscription, scope, ...time });
    if (!plan.ok) return refused("tooManyRequests", `the plan was stopped: ${plan.error}`);
    if (isDry) return ok({ replayId: null, ...plan.value });
    if (plan.value.toSend > MAX_REPLAYS && !isByCustody)
      return refused("forbidden", `only the custody address may replay more than ${MAX_REPLAYS} deliveries`);
    const replay = {
      replayId: crypto.randomUUID(),
      webhookId,
      ownerFid,
      scope,
      ...time,
      perSecond: request.per_second ?? REPLAYS_PER_SECOND,
      maxSent: isByCustody ? MAX_SENT_BY_CUSTODY : MAX_REPLAYS,
    };
    const outcome = await deps.replays.start(replay, now);
    if (outcome === "running") return refused("tooManyRequests", "another replay of the webhook is running");
    if (outcome !== "started") return refusal(outcome);
    await deps.wakeReplays();
    return ok({ replayId: replay.replayId, ...plan.value });
  }

  async function findReplay(fid: number, replayId: string): Promise<Result<Replay, Refusal>> {
    const replay = await deps.replays.find(replayId);
    if (!replay) return refused("notFound", "no such replay");
    return replay.ownerFid === fid ? ok(replay) : refused("forbidden", "the replay belongs to another fid");
  }

  /** Finds the webhook that a request body names. */
  async function findWebhook(fid: number, body: unknown): Promise<Result<Webhook, Refusal>> {
    const request = readObject(body, "request body");
    if (!request.ok) return request;
    const id = ownValue(request.value, "webhook_id");
    return typeof id === "string" && id !== "" ? webhooks.get(fid, id) : badField("missing field webhook_id");
  }

  return {
    async list(fid: number, page: DeliveryPage): Promise<Result<ListedDeliveries, Refusal>> {
      const webhook = await webhooks.get(fid, page.webhookId);
      return webhook.ok ? ok(await log.list(page)) : webhook;
    },

    async find(fid: number, webhookId: string, messageId: string): Promise<Result<FoundDelivery, Refusal>> {
      const webhook = await webhooks.get(fid, webhookId);
      if (!webhook.ok) return webhook;
      const found = await log.find(webhookId, messageId);
      return found ? ok({ ...found, webhook: webhook.value }) : refusal("unknown");
    },

    /** Sums up the attempts of the last `hours` hours. */
    async stats(fid: number, webhookId: string, hours: number): Promise<Result<WebhookStats, Refusal>> {
      const webhook = await webhooks.get(fid, webhookId);
      if (!webhook.ok) return webhook;
      const stepSecs = stepSecsOf(hours);
      const untilSecs = statsStepOf(nowSecs(clock), stepSecs);
      const fromSecs = untilSecs - hours * 3600 + stepSecs;
      const counted = await log.stats({ webhookId, fromSecs, stepSecs });
      return ok({ stepSecs, buckets: bucketsOf(counted, { fromSecs, untilSecs, stepSecs }) });
    },

    /** Matches a subscription, which no webhook needs to have, against the node's newest events. */
    async preview(fid: number, body: unknown): Promise<Result<PreviewOutcome, Refusal>> {
      const request = readObject(body, "request body");
      if (!request.ok) return request;
      const fields = readPreview(request.value);
      if (!fields.ok) return fields;
      const { subscription: given, events = MAX_PREVIEW_EVENTS, from: fromSecs, to: toSecs } = fields.value;
      if (fromSecs !== undefined && toSecs !== undefined && fromSecs > toSecs)
        return badField("from must not be after to");
      const subscription = readSubscription(given, "subscription", deps);
      if (!subscription.ok) return subscription;
      const outcome = await deps.preview({
        fid,
        subscription: subscription.value,
        events,
        fromSecs,
        toSecs,
      });
      if (outcome.ok) return outcome;
      return refused("tooManyRequests", outcome.error.reason, outcome.error.retryAfterSecs);
    },

    /**
     * Replays one finished delivery, or all that failed within a time range, or starts a replay that runs in the background.
     *
     * @param isByCustody whether the custody address signed: only then may it resend successful deliveries, and more than `MAX_REPLAYS`
     */
    async replay(
      fid: number,
      body: unknown,
      isByCustody: boolean,
    ): Promise<Result<ReplayOutcome | PlannedReplay, Refusal>> {
      const webhook = await findWebhook(fid, body);
      if (!webhook.ok) return webhook;
      const request = readReplay(body);
      if (!request.ok) return request;
      const { only, dry_run, per_second } = request.value;
      if ([only, dry_run, per_second].some((field) => field !== undefined))
        return startReplay(webhook.value, request.value, isByCustody);
      const id = webhook.value.webhookId;
      const claim = { id, ownerFid: fid, nowSecs: nowSecs(clock) };
      const { message_id, from, to = claim.nowSecs } = request.value;
      let outcome: Result<ReplayOutcome, Refusal>;
      if (message_id !== undefined && from === undefined) outcome = await replayOne(claim, message_id);
      else if (message_id !== undefined || from === undefined)
        return badField("give either message_id or from");
      else if (from > to) return badField("from must not be after to");
      else outcome = await replayRange(claim, { fromSecs: from, toSecs: to });
      if (outcome.ok && outcome.value.replayed > 0) await wake(id);
      return outcome;
    },

    findReplay,

    /** Ends a replay. Deliveries that it has queued are still sent. */
    async cancelReplay(fid: number, replayId: string): Promise<Result<Replay, Refusal>> {
      const replay = await findReplay(fid, replayId);
      if (!replay.ok) return replay;
      await deps.replays.cancel(replayId, fid, nowSecs(clock));
      return findReplay(fid, replayId);
    },

    /** Queues a test event of each subscribed kind. */
    async test(
      fid: number,
      body: unknown,
    ): Promise<Result<readonly { readonly messageId: string; readonly kind: EventKind }[], Refusal>> {
      const webhook = await findWebhook(fid, body);
      if (!webhook.ok) return webhook;
      const { webhookId: id, subscription } = webhook.value;
      const now = nowSecs(clock);
      const events = createTestEvents(index, kindsOf(subscription), fid, now);
      const outcome = await log.queueTests({ id, ownerFid: fid, nowSecs: now }, events, clock.nowMs());
      if (outcome !== "queued") return refusal(outcome);
      await wake(id);
      return ok(events.map(({ eventId, kind }) => ({ messageId: messageIdOf(eventId, id), kind })));
    },
  };
}

/** Returns a step length with which a plot has at most a few hundred steps. */
function stepSecsOf(hours: number): number {
  if (hours <= 12) return STATS_STEP_SECS;
  return hours <= 48 ? 3 * STATS_STEP_SECS : 12 * STATS_STEP_SECS;
}

function refusal(outcome: StoreRefusal | "unknown" | "still-queued" | "inactive" | "full"): Err<Refusal> {
  switch (outcome) {
    case "unknown":
      return refused("notFound", "no such delivery");
    case "still-queued":
      return badField("the delivery has not ended yet");
    case "inactive":
      return badField("the webhook is inactive: activate it first");
    case "full":
      return refused("tooManyRequests", "too many deliveries wait for the webhook");
    default:
      return refusalOf(outcome, { noun: "webhook", cap: 0 });
  }
}
