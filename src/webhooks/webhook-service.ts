import { type Err, ok, type Result } from "../lib/result.ts";
import { readObject } from "../management/fields.ts";
import {
  type Actor,
  checkUrlField,
  createOwnedParts,
  createSecret,
  type OwnedService,
  type OwnedSettings,
  recordChange,
} from "../management/owned-service.ts";
import { changedMembers, newMembers } from "../management/record-fields.ts";
import { badField, type Refusal, refused } from "../management/refusal.ts";
import type { RegistrationGuard } from "../net/guard.ts";
import type { Clock } from "../runtime/clock.ts";
import { ownerProgramFault } from "./match/owner-budgets.ts";
import {
  MAX_OWNER_PROGRAM_SIZE,
  readSubscriptionProgram,
  type SubscriptionProgram,
} from "./match/subscription-program.ts";
import { readSubscription } from "./read-subscription.ts";
import { UNTRIED, type Webhook, type WebhookChanges, type WebhookStore } from "./store/webhook-store.ts";
import type { Subscription } from "./subscription.ts";
import { WEBHOOK_FIELDS } from "./webhook-fields.ts";
import { readNewWebhook, readWebhookChanges } from "./webhook-requests.ts";

/** Management of webhooks by their owners. `body` is the JSON of the request. */
export interface WebhookService extends OwnedService<Webhook> {
  /**
   * @param ownerFid owner of the webhook; refused unless it is the acting fid.
   * @param compatPrefix the compat prefix of the request's path; null for the service's own paths.
   */
  create(
    actor: Actor,
    ownerFid: number,
    body: unknown,
    compatPrefix: string | null,
  ): Promise<Result<Webhook, Refusal>>;
  update(actor: Actor, body: unknown): Promise<Result<Webhook, Refusal>>;
}

export function createWebhookService(options: {
  readonly store: WebhookStore;
  readonly guard: RegistrationGuard;
  readonly clock: Clock;
  readonly settings: OwnedSettings;
  /** Called with a webhook that was created, changed or deleted, before the response. */
  readonly changed: (webhookId: string) => Promise<void>;
  /** Whether filters by score have an effect. */
  readonly acceptsScores: boolean;
}): WebhookService {
  const parts = createOwnedParts({ ...options, noun: "webhook", idKey: "webhook_id" });
  // The last check, because only this one needs a DNS lookup.
  const checkUrl = <T extends string | undefined>(fid: number, url: T) =>
    checkUrlField(options.guard, { fid, url, name: "url" });

  /** Returns a refusal if these expressions would put the owner's active expressions over the limit. */
  async function programRefusal(
    fid: number,
    { webhookId, subscription }: Pick<Webhook, "webhookId" | "subscription">,
  ): Promise<Err<Refusal> | undefined> {
    const own = programOf(subscription);
    if (own.size === 0) return undefined;
    const others = (await options.store.listByOwner(fid, parts.now())).filter(
      (webhook) => webhook.active && webhook.webhookId !== webhookId,
    );
    const sum = others.reduce((size, webhook) => size + programOf(webhook.subscription).size, own.size);
    if (sum <= MAX_OWNER_PROGRAM_SIZE) return undefined;
    return badField(`subscription.${own.largestField} is too large: ${ownerProgramFault(sum)}`);
  }

  async function readChanges(fid: number, body: unknown): Promise<Result<WebhookChanges, Refusal>> {
    const request = readWebhookChanges(body);
    if (!request.ok) return request;
    const { url, subscription: filters } = request.value;
    const subscription =
      filters === undefined ? ok(filters) : readSubscription(filters, "subscription", options);
    if (!subscription.ok) return subscription;
    const targetUrl = await checkUrl(fid, url);
    if (!targetUrl.ok) return targetUrl;
    return ok({
      ...changedMembers(WEBHOOK_FIELDS, request.value),
      ...(subscription.value && { subscription: subscription.value }),
    });
  }

  const auditOf = (action: string, actor: Actor) => (webhookId: string) =>
    recordChange(`webhook.${action}`, actor, webhookId, options.clock);

  return {
    get: parts.get,
    list: parts.list,
    async delete(actor, id) {
      const deleted = await parts.delete(actor.fid, id, auditOf("delete", actor)(id));
      if (deleted.ok) await options.changed(id);
      return deleted;
    },
    rotateSecret: (actor, id) => parts.rotateSecret(actor.fid, id, auditOf("rotate_secret", actor)(id)),

    async create(actor, ownerFid, body, compatPrefix) {
      const { fid } = actor;
      if (!readObject(body, "request body").ok) return badField("request body must be an object");
      if (ownerFid !== fid) return refused("forbidden", "owner_fid must be the signing fid");
      const request = readNewWebhook(body);
      if (!request.ok) return request;
      const subscription = readSubscription(request.value.subscription, "subscription", options);
      if (!subscription.ok) return subscription;
      const targetUrl = await checkUrl(fid, request.value.url);
      if (!targetUrl.ok) return targetUrl;
      const webhookId = crypto.randomUUID();
      const refusal = await programRefusal(fid, { webhookId, subscription: subscription.value });
      if (refusal) return refusal;
      const now = parts.now();
      const webhook = {
        webhookId,
        ownerFid: fid,
        active: true,
        ...newMembers(WEBHOOK_FIELDS, request.value),
        subscription: subscription.value,
        compatPrefix,
        health: UNTRIED,
        secrets: [createSecret(now)],
        createdAt: now,
        updatedAt: now,
      };
      const created = await parts.create(webhook, auditOf("create", actor)(webhookId));
      // The thread may have to start. The webhook is stored whether or not that succeeds.
      if (created.ok) options.changed(webhookId).catch(() => undefined);
      return created;
    },

    async update(actor, body) {
      const { fid } = actor;
      const read = async (before: Webhook): Promise<Result<WebhookChanges, Refusal>> => {
        const changes = await readChanges(fid, body);
        if (!changes.ok) return changes;
        const { subscription, active } = changes.value;
        const after = { ...before, ...changes.value };
        if (!after.active || !(subscription || active)) return changes;
        return (await programRefusal(fid, after)) ?? changes;
      };
      const webhook = await parts.update(fid, body, read, auditOf("update", actor));
      if (webhook.ok) await options.changed(webhook.value.webhookId);
      return webhook;
    },
  };
}

const NO_PROGRAM = { size: 0, largestField: undefined };

/** Expressions that only an older version accepted are not matched, so they cost nothing. */
function programOf(subscription: Subscription): Pick<SubscriptionProgram, "size" | "largestField"> {
  const program = readSubscriptionProgram(subscription);
  return program.ok ? program.value : NO_PROGRAM;
}
