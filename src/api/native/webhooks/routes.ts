import type { AnyElysia } from "elysia";
import type { SignedOperationId } from "../../../auth/op-table.ts";
import { createSignedRoutes } from "../../../auth/signed-routes.ts";
import { fid as fidParam, optional, text } from "../../../http/params.ts";
import type { Result } from "../../../lib/result.ts";
import type { Refusal } from "../../../management/refusal.ts";
import type { Webhook } from "../../../webhooks/store/webhook-store.ts";
import { Deleted, idToDelete, type ManagementDeps, unwrapOrThrow } from "../../shared/management.ts";
import {
  CreateWebhookRequest,
  presentWebhook,
  UpdateWebhookRequest,
  WebhookResponse,
  WebhooksResponse,
} from "./schemas.ts";

/** `/webhook`: webhooks and their secrets, for their owner. */
export function webhookRoutes({ auth, webhooks, delivery }: ManagementDeps): AnyElysia {
  const routes = createSignedRoutes(auth, { name: "webhooks", tag: "Webhooks" });
  const webhookId = text({ description: "The webhook's id" });
  const respond = (outcome: Result<Webhook, Refusal>) => ({
    webhook: presentWebhook(unwrapOrThrow(outcome), delivery),
  });

  routes.add(
    "createWebhook",
    {
      summary: "Register a webhook",
      description: "Assigns the webhook's id and its first secret.",
      query: { owner_fid: fidParam({ description: "Owner of the webhook: the signing fid" }) },
      body: CreateWebhookRequest,
      response: WebhookResponse,
      errors: ["forbidden", "tooManyRequests"],
    },
    async ({ fid, query, body }) => respond(await webhooks.create(fid, query.owner_fid, body, null)),
  );

  routes.add(
    "getWebhook",
    {
      summary: "One webhook",
      query: { webhook_id: webhookId },
      response: WebhookResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ fid, query }) => respond(await webhooks.get(fid, query.webhook_id)),
  );

  routes.add(
    "listWebhooks",
    {
      summary: "All webhooks of the signing fid",
      description: "Oldest first, all in one response.",
      response: WebhooksResponse,
    },
    async ({ fid }) => ({
      webhooks: (await webhooks.list(fid)).map((webhook) => presentWebhook(webhook, delivery)),
    }),
  );

  const update = (id: SignedOperationId, summary: string) =>
    routes.add(
      id,
      {
        summary,
        description:
          "Only the provided fields change. `description: null` clears it; a subscription replaces the whole subscription.",
        body: UpdateWebhookRequest,
        response: WebhookResponse,
        errors: ["forbidden", "notFound"],
      },
      async ({ fid, body }) => respond(await webhooks.update(fid, body)),
    );
  update("updateWebhook", "Change a webhook");
  update("patchWebhook", "Change a webhook (the same as PUT)");

  routes.add(
    "deleteWebhook",
    {
      summary: "Delete a webhook",
      description: "The id may also come as `webhook_id` in a JSON body.",
      query: { webhook_id: optional(webhookId) },
      response: Deleted,
      errors: ["forbidden", "notFound"],
    },
    async ({ fid, query, rawBody }) => {
      unwrapOrThrow(await webhooks.delete(fid, idToDelete("webhook_id", query.webhook_id, rawBody)));
      return { deleted: true };
    },
  );

  routes.add(
    "rotateWebhookSecret",
    {
      summary: "Rotate the secret of a webhook",
      description: "Adds a secret. Earlier secrets are used for signing until the end of their grace period.",
      query: { webhook_id: webhookId },
      response: WebhookResponse,
      errors: ["forbidden", "notFound", "tooManyRequests"],
    },
    async ({ fid, query }) => respond(await webhooks.rotateSecret(fid, query.webhook_id)),
  );

  return routes.plugin;
}
