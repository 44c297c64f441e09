import { type Err, ok, type Result } from "../lib/result.ts";
import { type FieldTable, readDescription, readFields, readName, readObject } from "../management/fields.ts";
import { createOwnedParts, type OwnedService, type OwnedSettings } from "../management/owned-service.ts";
import { badField, type Refusal, refused } from "../management/refusal.ts";
import { createSecret } from "../management/secrets.ts";
import { readGuardedUrl } from "../management/url-field.ts";
import type { UrlGuard } from "../net/guard.ts";
import type { Clock } from "../runtime/clock.ts";
import { ownerProgramFault } from "./match/owner-budgets.ts";
import {
  MAX_OWNER_PROGRAM_SIZE,
  readSubscriptionProgram,
  type SubscriptionProgram,
} from "./match/subscription-program.ts";
import { readSubscription } from "./read-subscription.ts";
import type { WebhookStore } from "./store/webhook-store.ts";
import { UNTRIED, type Webhook } from "./store/webhook-store.ts";
import type { Subscription } from "./subscription.ts";

/** Management of webhooks by their owners. `fid` is the acting fid, `body` the JSON of the request. */
export interface WebhookService extends OwnedService<Webhook> {
  /**
   * @param ownerFid owner of the webhook; refused unless it is the acting fid.
   * @param compatPrefix the compat prefix of the request's path; null for the service's own paths.
   */
  create(
    fid: number,
    ownerFid: number,
    body: unknown,
    compatPrefix: string | null,
  ): Promise<Result<Webhook, Refusal>>;
  update(fid: number, body: unknown): Promise<Result<Webhook, Refusal>>;
}

/** Some clients send the booleans as text. */
function readActive(value: unknown, name: string): Result<boolean, Refusal> {
  if (value === true || value === "true") return ok(true);
  if (value === false || value === "false") return ok(false);
  return badField(`${name} must be true or false`);
}

export function createWebhookService(options: {
  readonly store: WebhookStore;
  readonly guard: UrlGuard;
  readonly clock: Clock;
  readonly settings: OwnedSettings;
  /** Called with a webhook that may be active again. */
  readonly wake: (webhookId: string) => Promise<void>;
}): WebhookService {
  const parts = createOwnedParts({ ...options, noun: "webhook", idKey: "webhook_id" });
  // The URL is last: it is the only field that needs a DNS lookup.
  const createFields = (fid: number) =>
    ({
      title: { key: "name", read: readName },
      description: { key: "description", read: readDescription },
      subscription: { key: "subscription", read: readSubscription },
      targetUrl: { key: "url", read: readGuardedUrl(options.guard, fid) },
    }) satisfies FieldTable;
  const updateFields = (fid: number) =>
    ({ active: { key: "active", read: readActive }, ...createFields(fid) }) satisfies FieldTable;

  /** Returns a refusal if the owner's active expressions would exceed the limit with these. */
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

  return {
    get: parts.get,
    list: parts.list,
    delete: parts.delete,
    rotateSecret: parts.rotateSecret,

    async create(fid, ownerFid, body, compatPrefix) {
      const given = readObject(body, "request body");
      if (!given.ok) return given;
      if (ownerFid !== fid) return refused("forbidden", "owner_fid must be the signing fid");
      const values = await readFields(createFields(fid), given.value);
      if (!values.ok) return values;
      const { title, targetUrl, description = null, subscription } = values.value;
      if (title === undefined) return badField("missing field name");
      if (targetUrl === undefined) return badField("missing field url");
      if (subscription === undefined) return badField("missing field subscription");
      const webhookId = crypto.randomUUID();
      const refusal = await programRefusal(fid, { webhookId, subscription });
      if (refusal) return refusal;
      const now = parts.now();
      return parts.create({
        webhookId,
        ownerFid: fid,
        title,
        targetUrl,
        description,
        active: true,
        subscription,
        compatPrefix,
        health: UNTRIED,
        secrets: [createSecret(now)],
        createdAt: now,
        updatedAt: now,
      });
    },

    async update(fid, body) {
      const webhook = await parts.update(fid, body, async (given, before) => {
        const changes = await readFields(updateFields(fid), given);
        if (!changes.ok) return changes;
        const { subscription, active } = changes.value;
        const after = { ...before, ...changes.value };
        if (!after.active || !(subscription || active)) return changes;
        return (await programRefusal(fid, after)) ?? changes;
      });
      if (webhook.ok && webhook.value.active) await options.wake(webhook.value.webhookId);
      return webhook;
    },
  };
}

const NO_PROGRAM = { size: 0, largestField: undefined };

/** Expressions that only an older version accepted are not matched, and so cost nothing. */
function programOf(subscription: Subscription): Pick<SubscriptionProgram, "size" | "largestField"> {
  const program = readSubscriptionProgram(subscription);
  return program.ok ? program.value : NO_PROGRAM;
}
