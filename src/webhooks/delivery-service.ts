import type { IndexDatabase } from "../db/index/database.ts";
import { type Err, ok, type Result } from "../lib/result.ts";
import { ownValue, readObject } from "../management/fields.ts";
import type { Claim, StoreRefusal } from "../management/owned-store.ts";
import { badField, type Refusal, refusalOf, refused } from "../management/refusal.ts";
import type { EventKind } from "../protocol/event-kind.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { createTestEvents } from "./publish/test-events.ts";
import type { DeliveryLog, DeliveryPage, DeliveryPosition, LoggedDelivery } from "./store/delivery-log.ts";
import { messageIdOf } from "./store/message-id.ts";
import type { WebhookService } from "./webhook-service.ts";

/** Limit of deliveries that one request replays. */
export const MAX_REPLAYS = 10_000;
/** Each step is one short transaction, so that other writes can run in between. */
const REPLAYS_PER_STEP = 500;

export interface ReplayOutcome {
  readonly replayed: number;
  /** Whether the time range may contain more. */
  readonly more: boolean;
}

/** Deliveries of a webhook, for its owner. `fid` is the acting fid, `body` the JSON of the request. */
export interface DeliveryService {
  /** Newest first. */
  list(fid: number, page: DeliveryPage): Promise<Result<LoggedDelivery[], Refusal>>;
  /** Queues one finished delivery again, or those that failed within a time range. */
  replay(fid: number, body: unknown): Promise<Result<ReplayOutcome, Refusal>>;
  /** Queues a test event of each subscribed kind. */
  test(
    fid: number,
    body: unknown,
  ): Promise<Result<readonly { readonly messageId: string; readonly kind: EventKind }[], Refusal>>;
}

export function createDeliveryService(parts: {
  readonly webhooks: WebhookService;
  readonly log: DeliveryLog;
  readonly index: IndexDatabase;
  readonly clock: Clock;
  /** Called with a webhook that got queued deliveries. */
  readonly wake: (webhookId: string) => Promise<void>;
}): DeliveryService {
  const { webhooks, log, index, clock, wake } = parts;

  async function replayOne(claim: Claim, messageId: unknown): Promise<Result<ReplayOutcome, Refusal>> {
    if (typeof messageId !== "string") return badField("message_id must be a string");
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

  return {
    async list(fid, page) {
      const webhook = await webhooks.get(fid, page.webhookId);
      return webhook.ok ? ok(await log.list(page)) : webhook;
    },

    async replay(fid, body) {
      const given = readObject(body, "request body");
      if (!given.ok) return given;
      const id = readWebhookId(given.value);
      if (!id.ok) return id;
      const claim = { id: id.value, ownerFid: fid, nowSecs: nowSecs(clock) };
      const messageId = ownValue(given.value, "message_id");
      const from = ownValue(given.value, "from");
      if ((messageId === undefined) === (from === undefined))
        return badField("give either message_id or from");
      let outcome: Result<ReplayOutcome, Refusal>;
      if (messageId === undefined) {
        const range = readRange(from, ownValue(given.value, "to") ?? claim.nowSecs);
        outcome = range.ok ? await replayRange(claim, range.value) : range;
      } else outcome = await replayOne(claim, messageId);
      if (outcome.ok && outcome.value.replayed > 0) await wake(id.value);
      return outcome;
    },

    async test(fid, body) {
      const given = readObject(body, "request body");
      if (!given.ok) return given;
      const id = readWebhookId(given.value);
      if (!id.ok) return id;
      const webhook = await webhooks.get(fid, id.value);
      if (!webhook.ok) return webhook;
      const now = nowSecs(clock);
      const kinds = Object.keys(webhook.value.subscription) as EventKind[];
      const events = createTestEvents(index, kinds, fid, now);
      const outcome = await log.queueTests(
        { id: id.value, ownerFid: fid, nowSecs: now },
        events,
        clock.nowMs(),
      );
      if (outcome !== "queued") return refusal(outcome);
      await wake(id.value);
      return ok(events.map(({ eventId, kind }) => ({ messageId: messageIdOf(eventId, id.value), kind })));
    },
  };
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

function readWebhookId(given: Readonly<Record<string, unknown>>): Result<string, Refusal> {
  const id = ownValue(given, "webhook_id");
  return typeof id === "string" && id !== "" ? ok(id) : badField("missing field webhook_id");
}

function readRange(from: unknown, to: unknown): Result<{ fromSecs: number; toSecs: number }, Refusal> {
  const fromSecs = readSecs(from);
  const toSecs = readSecs(to);
  if (fromSecs === undefined) return badField("from must be a whole number of unix seconds");
  if (toSecs === undefined) return badField("to must be a whole number of unix seconds");
  return fromSecs <= toSecs ? ok({ fromSecs, toSecs }) : badField("from must not be after to");
}

function readSecs(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
}
