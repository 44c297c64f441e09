import type { IndexDatabase } from "../db/index/database.ts";
import type { Claim, StoreRefusal } from "../db/state/stores.ts";
import { ownValue, readObject } from "../management/fields.ts";
import { badField, Refusal, refusalOf } from "../management/refusal.ts";
import type { EventKind } from "../protocol/event-kind.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { makeTestEvents } from "./publish/test-events.ts";
import type { DeliveryLog, DeliveryPage, DeliveryPosition, LoggedDelivery } from "./store/deliveries.ts";
import { messageIdOf } from "./store/message-id.ts";
import type { WebhookService } from "./webhook-service.ts";

/** Deliveries that one request sends again at most. */
export const MAX_REPLAYED = 10_000;
/** Each part is one short transaction, between two of which others get their turn. */
const REPLAYED_PER_STEP = 500;

export interface ReplayOutcome {
  readonly replayed: number;
  /** Whether the time range may hold more. */
  readonly more: boolean;
}

/** The deliveries of a webhook, as its owner sees them. `fid` is the acting fid, `body` the JSON that it sent. */
export interface DeliveryService {
  /** Newest first. */
  list(fid: number, page: DeliveryPage): Promise<LoggedDelivery[] | Refusal>;
  /** Sends one delivery again, or those that failed within a time. */
  replay(fid: number, body: unknown): Promise<ReplayOutcome | Refusal>;
  /** Sends a made-up event of each subscribed kind. */
  test(
    fid: number,
    body: unknown,
  ): Promise<readonly { readonly messageId: string; readonly kind: EventKind }[] | Refusal>;
}

export function createDeliveryService(parts: {
  readonly webhooks: WebhookService;
  readonly log: DeliveryLog;
  readonly index: IndexDatabase;
  readonly clock: Clock;
  /** Told of a webhook for which something was queued. */
  readonly wake: (webhookId: string) => Promise<void>;
}): DeliveryService {
  const { webhooks, log, index, clock, wake } = parts;

  async function replayOne(claim: Claim, messageId: unknown): Promise<ReplayOutcome | Refusal> {
    if (typeof messageId !== "string") return badField("message_id must be a string");
    const outcome = await log.replay(claim, messageId, clock.nowMs());
    if (outcome !== "queued") return refusal(outcome);
    return { replayed: 1, more: false };
  }

  async function replayRange(
    claim: Claim,
    range: { readonly fromSecs: number; readonly toSecs: number },
  ): Promise<ReplayOutcome | Refusal> {
    let replayed = 0;
    let after: DeliveryPosition | undefined;
    do {
      const max = Math.min(REPLAYED_PER_STEP, MAX_REPLAYED - replayed);
      const step = await log.replayRange(claim, range, { after, max, nowMs: clock.nowMs() });
      if (typeof step === "string") return refusal(step);
      replayed += step.queued;
      after = step.last;
    } while (after !== undefined && replayed < MAX_REPLAYED);
    return { replayed, more: after !== undefined };
  }

  return {
    async list(fid, page) {
      const webhook = await webhooks.get(fid, page.webhookId);
      return webhook instanceof Refusal ? webhook : log.list(page);
    },

    async replay(fid, body) {
      const given = readObject(body, "request body");
      if (given instanceof Refusal) return given;
      const id = readWebhookId(given);
      if (id instanceof Refusal) return id;
      const claim = { id, ownerFid: fid, nowSecs: nowSecs(clock) };
      const messageId = ownValue(given, "message_id");
      const from = ownValue(given, "from");
      if ((messageId === undefined) === (from === undefined))
        return badField("give either message_id or from");
      let outcome: ReplayOutcome | Refusal;
      if (messageId === undefined) {
        const range = readRange(from, ownValue(given, "to") ?? claim.nowSecs);
        outcome = range instanceof Refusal ? range : await replayRange(claim, range);
      } else outcome = await replayOne(claim, messageId);
      if (!(outcome instanceof Refusal) && outcome.replayed > 0) await wake(id);
      return outcome;
    },

    async test(fid, body) {
      const given = readObject(body, "request body");
      if (given instanceof Refusal) return given;
      const id = readWebhookId(given);
      if (id instanceof Refusal) return id;
      const webhook = await webhooks.get(fid, id);
      if (webhook instanceof Refusal) return webhook;
      const now = nowSecs(clock);
      const kinds = Object.keys(webhook.subscription) as EventKind[];
      const events = makeTestEvents(index, kinds, fid, now);
      const outcome = await log.queueTests({ id, ownerFid: fid, nowSecs: now }, events, clock.nowMs());
      if (outcome !== "queued") return refusal(outcome);
      await wake(id);
      return events.map(({ eventId, kind }) => ({ messageId: messageIdOf(eventId, id), kind }));
    },
  };
}

function refusal(outcome: StoreRefusal | "unknown" | "not-ended" | "inactive" | "full"): Refusal {
  switch (outcome) {
    case "unknown":
      return new Refusal("notFound", "no such delivery");
    case "not-ended":
      return badField("the delivery has not ended yet");
    case "inactive":
      return badField("the webhook is inactive: activate it first");
    case "full":
      return new Refusal("tooManyRequests", "too many deliveries wait for the webhook");
    default:
      return refusalOf(outcome, { noun: "webhook", cap: 0 });
  }
}

function readWebhookId(given: Readonly<Record<string, unknown>>): string | Refusal {
  const id = ownValue(given, "webhook_id");
  return typeof id === "string" && id !== "" ? id : badField("missing field webhook_id");
}

function readRange(from: unknown, to: unknown): { fromSecs: number; toSecs: number } | Refusal {
  const fromSecs = readSecs(from);
  const toSecs = readSecs(to);
  if (fromSecs === undefined) return badField("from must be a whole number of unix seconds");
  if (toSecs === undefined) return badField("to must be a whole number of unix seconds");
  return fromSecs <= toSecs ? { fromSecs, toSecs } : badField("from must not be after to");
}

function readSecs(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
}
