import type { TSchema } from "@sinclair/typebox";
import type { SignedRequest } from "../../../auth/signed-routes.ts";
import { fid, optional, type QueryParam, text } from "../../../http/request/params.ts";
import { ownValue, readObject } from "../../../management/fields.ts";
import type { Webhook } from "../../../webhooks/store/webhook-store.ts";
import { WEBHOOK_FIELDS } from "../../../webhooks/webhook-fields.ts";
import { CreateWebhookRequest, UpdateWebhookRequest } from "../../../webhooks/webhook-requests.ts";
import type { ApiDeps, DeliverySettings } from "../../deps.ts";
import type { Surface } from "../../op.ts";
import { unwrapOrThrow } from "../../respond.ts";
import { ID_ONLY_BYTES, topic } from "../../topic.ts";
import { Deleted, idToDelete, ROTATE_HELP } from "../account/records.ts";
import {
  CompatWebhookDeleted,
  CompatWebhookResponse,
  CompatWebhooksResponse,
  presentCompatWebhook,
  presentWebhook,
  WebhookResponse,
  WebhooksResponse,
  withBansExcluded,
  withExplicitMatch,
} from "./records.ts";

/** How one dialect reads and presents webhooks, which both share. */
interface WebhookDialect {
  readonly surface: Surface;
  readonly ownerFid: QueryParam<number | undefined>;
  readonly descriptions: { readonly create: string; readonly update: string };
  readonly summaryOfPatch: string;
  /** Translates the JSON of a request into that of the native dialect. */
  readonly toNativeBody: (body: unknown) => unknown;
  /** Returns the compat prefix that a webhook is created under; null in the native dialect. */
  readonly compatPrefixOf: (prefix: string) => string | null;
  readonly present: (webhook: Webhook, delivery: DeliverySettings) => unknown;
  /** Additional fields of every response besides the webhooks. */
  readonly envelope: object;
  readonly deleted: object;
  readonly schemas: { readonly one: TSchema; readonly list: TSchema; readonly deleted: TSchema };
}

const NATIVE: WebhookDialect = {
  surface: "native",
  ownerFid: fid({ description: "Owner of the webhook: the signing fid" }),
  descriptions: {
    create: "Assigns the webhook's id and its first secret.",
    update:
      "Only the provided fields change. `description: null` clears it; a subscription replaces the whole subscription.",
  },
  summaryOfPatch: "Change a webhook (the same as PUT)",
  toNativeBody: (body) => body,
  compatPrefixOf: () => null,
  present: presentWebhook,
  envelope: {},
  deleted: { deleted: true },
  schemas: { one: WebhookResponse, list: WebhooksResponse, deleted: Deleted },
};

/**
 * The shape of the hosted API: the same operations with the same signatures on the same webhooks. The owner is the signing fid. By
 * default, a filter matches if any of its fields matches, and a subscription excludes banned users.
 */
const COMPAT: WebhookDialect = {
  surface: "compat",
  ownerFid: optional(fid({ description: "The signing fid" })),
  descriptions: {
    create:
      "Assigns the webhook's id and its first secret. Its deliveries also carry `X-Neynar-Signature`, with the value of " +
      "the service's own signature header.",
    update: "Only the provided fields change; a subscription replaces the whole subscription.",
  },
  summaryOfPatch: "Activate or deactivate a webhook",
  toNativeBody: withAnyMatch,
  compatPrefixOf: (prefix) => prefix,
  present: presentCompatWebhook,
  envelope: { success: true },
  deleted: { success: true, message: "the webhook is deleted" },
  schemas: { one: CompatWebhookResponse, list: CompatWebhooksResponse, deleted: CompatWebhookDeleted },
};

const webhookId = text({ description: "The webhook's id" });

/** Webhooks and their secrets, for their owner. */
function webhookOperationsOf({
  surface,
  schemas,
  envelope,
  toNativeBody,
  present,
  ...dialect
}: WebhookDialect) {
  const { ownerFid, descriptions, summaryOfPatch, compatPrefixOf, deleted } = dialect;
  const { signed, signedRead } = topic({ tag: "Webhooks", surface });
  const respond = (delivery: DeliverySettings, webhook: Webhook) => ({
    ...envelope,
    webhook: present(webhook, delivery),
  });
  const update = {
    path: "/webhook",
    op: "webhook.update",
    // Allowed for sessions with `operate` access if the request only enables or disables the webhook.
    session: { access: "operate", onlyFields: ["webhook_id", "active"] },
    description: descriptions.update,
    body: UpdateWebhookRequest,
    response: schemas.one,
    errors: ["forbidden", "notFound"],
    run: async (
      { webhooks, delivery }: ApiDeps,
      { body, ...actor }: SignedRequest & { readonly body: unknown },
    ) => respond(delivery, unwrapOrThrow(await webhooks.update(actor, toNativeBody(body)))),
  } as const;
  return [
    signed({
      id: "createWebhook",
      method: "POST",
      path: "/webhook",
      op: "webhook.create",
      command: {
        usage: "webhook create",
        help: "create a webhook; prints its id and secret",
        fields: WEBHOOK_FIELDS,
        flags: { owner_fid: false },
      },
      summary: "Register a webhook",
      description: descriptions.create,
      query: { owner_fid: ownerFid },
      body: CreateWebhookRequest,
      response: schemas.one,
      errors: ["forbidden", "tooManyRequests"],
      run: async ({ webhooks, delivery }, { query, body, prefix, ...actor }) =>
        respond(
          delivery,
          unwrapOrThrow(
            await webhooks.create(
              actor,
              query.owner_fid ?? actor.fid,
              toNativeBody(body),
              compatPrefixOf(prefix),
            ),
          ),
        ),
    }),
    signedRead({
      id: "getWebhook",
      path: "/webhook",
      op: "webhook.read",
      command: { usage: "webhook get <webhook_id>", help: "show one webhook of the fid, with its secrets" },
      summary: "One webhook",
      query: { webhook_id: webhookId },
      response: schemas.one,
      errors: ["forbidden", "notFound"],
      run: async ({ webhooks, delivery }, { fid, query }) =>
        respond(delivery, unwrapOrThrow(await webhooks.get(fid, query.webhook_id))),
    }),
    signedRead({
      id: "listWebhooks",
      path: "/webhook/list",
      op: "webhook.read",
      command: { usage: "webhook list", help: "list the webhooks of the fid, oldest first" },
      summary: "All webhooks of the signing fid",
      description: "Oldest first, all in one response.",
      response: schemas.list,
      run: async ({ webhooks, delivery }, { fid }) => ({
        ...envelope,
        webhooks: (await webhooks.list(fid)).map((one) => present(one, delivery)),
      }),
    }),
    signed({
      id: "updateWebhook",
      method: "PUT",
      ...update,
      command: {
        usage: "webhook update <webhook_id>",
        help: "change the given fields of a webhook",
        fields: WEBHOOK_FIELDS,
      },
      summary: "Change a webhook",
    }),
    signed({
      id: "patchWebhook",
      method: "PATCH",
      ...update,
      summary: summaryOfPatch,
    }),
    signed({
      id: "deleteWebhook",
      method: "DELETE",
      path: "/webhook",
      op: "webhook.delete",
      maxBodyBytes: ID_ONLY_BYTES,
      command: { usage: "webhook delete <webhook_id>", help: "delete one webhook of the fid" },
      summary: "Delete a webhook",
      description: "The id is `webhook_id` in the query or in a JSON body.",
      query: { webhook_id: optional(webhookId) },
      response: schemas.deleted,
      errors: ["forbidden", "notFound"],
      run: async ({ webhooks }, { query, rawBody, ...actor }) => {
        unwrapOrThrow(await webhooks.delete(actor, idToDelete("webhook_id", query.webhook_id, rawBody)));
        return deleted;
      },
    }),
    signed({
      id: "rotateWebhookSecret",
      method: "POST",
      path: "/webhook/secret/rotate",
      op: "webhook.rotate_secret",
      maxBodyBytes: ID_ONLY_BYTES,
      command: { usage: "webhook rotate <webhook_id>", help: ROTATE_HELP },
      summary: "Rotate the secret of a webhook",
      description: "Adds a secret. Earlier secrets are used for signing until the end of their grace period.",
      query: { webhook_id: webhookId },
      response: schemas.one,
      errors: ["forbidden", "notFound", "tooManyRequests"],
      run: async ({ webhooks, delivery }, { query, ...actor }) =>
        respond(delivery, unwrapOrThrow(await webhooks.rotateSecret(actor, query.webhook_id))),
    }),
  ];
}

export const webhookOperations = [...webhookOperationsOf(NATIVE), ...webhookOperationsOf(COMPAT)];

function withAnyMatch(body: unknown): unknown {
  const request = readObject(body, "request body");
  if (!request.ok) return body;
  const subscription = ownValue(request.value, "subscription");
  return subscription === undefined
    ? body
    : { ...request.value, subscription: withBansExcluded(withExplicitMatch(subscription, "any")) };
}
