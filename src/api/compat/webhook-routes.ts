import type { AnyElysia } from "elysia";
import type { SignedOperationId } from "../../auth/op-table.ts";
import { createSignedRoutes } from "../../auth/signed-routes.ts";
import { fid as fidParam, optional, text } from "../../http/params.ts";
import type { Result } from "../../lib/result.ts";
import { ownValue, readObject } from "../../management/fields.ts";
import type { Refusal } from "../../management/refusal.ts";
import type { Webhook } from "../../webhooks/store/webhook-store.ts";
import { CreateWebhookRequest, UpdateWebhookRequest } from "../native/webhooks/schemas.ts";
import { idToDelete, type ManagementDeps, unwrapOrThrow } from "../shared/management.ts";
import { withExplicitMatch } from "./subscription-match.ts";
import {
  CompatWebhookDeleted,
  CompatWebhookResponse,
  CompatWebhooksResponse,
  presentCompatWebhook,
} from "./webhook-schemas.ts";

/**
 * `/webhook` in the shape of the hosted API: the same operations with the same signatures on the same webhooks. The
 * owner is the signing fid. A filter that does not say how its fields combine matches if any field matches.
 */
export function compatWebhookRoutes({ auth, webhooks, delivery }: ManagementDeps): AnyElysia {
  const routes = createSignedRoutes(auth, { name: "farcaster-webhooks", tag: "Webhooks" });
  const webhookId = text({ description: "The webhook's id" });
  const respond = (outcome: Result<Webhook, Refusal>) => ({
    success: true,
    webhook: presentCompatWebhook(unwrapOrThrow(outcome), delivery),
  });

  routes.add(
    "createWebhook",
    {
      summary: "Register a webhook",
      description:
        "Assigns the webhook's id and its first secret. Its deliveries also carry `X-Neynar-Signature`, with the value of " +
        "the service's own signature header.",
      query: { owner_fid: optional(fidParam({ description: "The signing fid" })) },
      body: CreateWebhookRequest,
      response: CompatWebhookResponse,
      errors: ["forbidden", "tooManyRequests"],
    },
    async ({ fid, query, body, prefix }) =>
      respond(await webhooks.create(fid, query.owner_fid ?? fid, withAnyMatch(body), prefix)),
  );

  routes.add(
    "getWebhook",
    {
      summary: "One webhook",
      query: { webhook_id: webhookId },
      response: CompatWebhookResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ fid, query }) => respond(await webhooks.get(fid, query.webhook_id)),
  );

  routes.add(
    "listWebhooks",
    {
      summary: "Every webhook of the signing fid",
      description: "Oldest first, all in one response.",
      response: CompatWebhooksResponse,
    },
    async ({ fid }) => ({
      success: true,
      webhooks: (await webhooks.list(fid)).map((webhook) => presentCompatWebhook(webhook, delivery)),
    }),
  );

  const update = (id: SignedOperationId, summary: string) =>
    routes.add(
      id,
      {
        summary,
        description: "Only the provided fields change; a subscription replaces the whole subscription.",
        body: UpdateWebhookRequest,
        response: CompatWebhookResponse,
        errors: ["forbidden", "notFound"],
      },
      async ({ fid, body }) => respond(await webhooks.update(fid, withAnyMatch(body))),
    );
  update("updateWebhook", "Change a webhook");
  update("patchWebhook", "Activate or deactivate a webhook");

  routes.add(
    "deleteWebhook",
    {
      summary: "Delete a webhook",
      description: "The id is `webhook_id` in a JSON body or in the query.",
      query: { webhook_id: optional(webhookId) },
      response: CompatWebhookDeleted,
      errors: ["forbidden", "notFound"],
    },
    async ({ fid, query, rawBody }) => {
      unwrapOrThrow(await webhooks.delete(fid, idToDelete("webhook_id", query.webhook_id, rawBody)));
      return { success: true, message: "the webhook is deleted" };
    },
  );

  routes.add(
    "rotateWebhookSecret",
    {
      summary: "Rotate the secret of a webhook",
      description: "Adds a secret. Earlier secrets are used for signing until the end of their grace period.",
      query: { webhook_id: webhookId },
      response: CompatWebhookResponse,
      errors: ["forbidden", "notFound", "tooManyRequests"],
    },
    async ({ fid, query }) => respond(await webhooks.rotateSecret(fid, query.webhook_id)),
  );

  return routes.plugin;
}

function withAnyMatch(body: unknown): unknown {
  const request = readObject(body, "request body");
  if (!request.ok) return body;
  const subscription = ownValue(request.value, "subscription");
  return subscription === undefined
    ? body
    : { ...request.value, subscription: withExplicitMatch(subscription, "any") };
}
