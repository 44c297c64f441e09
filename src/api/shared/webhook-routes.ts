import type { TSchema } from "@sinclair/typebox";
import type { AnyElysia } from "elysia";
import type { SignedOperationId } from "../../auth/op-table.ts";
import { createSignedRoutes } from "../../auth/signed-routes.ts";
import { optional, type QueryParam, text } from "../../http/params.ts";
import type { Webhook } from "../../webhooks/store/webhook-store.ts";
import { CreateWebhookRequest, UpdateWebhookRequest } from "../../webhooks/webhook-requests.ts";
import { type DeliverySettings, idToDelete, type ManagementDeps, unwrapOrThrow } from "./management.ts";

/** How one dialect reads and presents the webhooks that all dialects share. */
export interface WebhookDialect {
  /** Name of the group of routes. */
  readonly name: string;
  readonly ownerFid: QueryParam<number | undefined>;
  readonly descriptions: { readonly create: string; readonly update: string };
  readonly summaryOfPatch: string;
  /** Translates the JSON of a request to that of the native dialect. */
  readonly toNativeBody: (body: unknown) => unknown;
  /** Returns the compat prefix that a webhook is created under; null in the native dialect. */
  readonly compatPrefixOf: (prefix: string) => string | null;
  readonly present: (webhook: Webhook, delivery: DeliverySettings) => unknown;
  /** Fields of every response besides the webhooks. */
  readonly envelope: object;
  readonly deleted: object;
  readonly schemas: { readonly one: TSchema; readonly list: TSchema; readonly deleted: TSchema };
}

/** Creates the routes `/webhook` of a dialect: webhooks and their secrets, for their owner. */
export function createWebhookRoutes(
  { auth, webhooks, delivery }: ManagementDeps,
  dialect: WebhookDialect,
): AnyElysia {
  const { schemas, envelope, toNativeBody } = dialect;
  const routes = createSignedRoutes(auth, { name: dialect.name, tag: "Webhooks" });
  const webhookId = text({ description: "The webhook's id" });
  const present = (webhook: Webhook) => dialect.present(webhook, delivery);
  const respond = (webhook: Webhook) => ({ ...envelope, webhook: present(webhook) });

  routes.add(
    "createWebhook",
    {
      summary: "Register a webhook",
      description: dialect.descriptions.create,
      query: { owner_fid: dialect.ownerFid },
      body: CreateWebhookRequest,
      response: schemas.one,
      errors: ["forbidden", "tooManyRequests"],
    },
    async ({ query, body, prefix, ...actor }) =>
      respond(
        unwrapOrThrow(
          await webhooks.create(
            actor,
            query.owner_fid ?? actor.fid,
            toNativeBody(body),
            dialect.compatPrefixOf(prefix),
          ),
        ),
      ),
  );

  routes.add(
    "getWebhook",
    {
      summary: "One webhook",
      query: { webhook_id: webhookId },
      response: schemas.one,
      errors: ["forbidden", "notFound"],
    },
    async ({ fid, query }) => respond(unwrapOrThrow(await webhooks.get(fid, query.webhook_id))),
  );

  routes.add(
    "listWebhooks",
    {
      summary: "All webhooks of the signing fid",
      description: "Oldest first, all in one response.",
      response: schemas.list,
    },
    async ({ fid }) => ({ ...envelope, webhooks: (await webhooks.list(fid)).map(present) }),
  );

  const update = (id: SignedOperationId, summary: string) =>
    routes.add(
      id,
      {
        summary,
        description: dialect.descriptions.update,
        body: UpdateWebhookRequest,
        response: schemas.one,
        errors: ["forbidden", "notFound"],
      },
      async ({ body, ...actor }) => respond(unwrapOrThrow(await webhooks.update(actor, toNativeBody(body)))),
    );
  update("updateWebhook", "Change a webhook");
  update("patchWebhook", dialect.summaryOfPatch);

  routes.add(
    "deleteWebhook",
    {
      summary: "Delete a webhook",
      description: "The id is `webhook_id` in the query or in a JSON body.",
      query: { webhook_id: optional(webhookId) },
      response: schemas.deleted,
      errors: ["forbidden", "notFound"],
    },
    async ({ query, rawBody, ...actor }) => {
      unwrapOrThrow(await webhooks.delete(actor, idToDelete("webhook_id", query.webhook_id, rawBody)));
      return dialect.deleted;
    },
  );

  routes.add(
    "rotateWebhookSecret",
    {
      summary: "Rotate the secret of a webhook",
      description: "Adds a secret. Earlier secrets are used for signing until the end of their grace period.",
      query: { webhook_id: webhookId },
      response: schemas.one,
      errors: ["forbidden", "notFound", "tooManyRequests"],
    },
    async ({ query, ...actor }) =>
      respond(unwrapOrThrow(await webhooks.rotateSecret(actor, query.webhook_id))),
  );

  return routes.plugin;
}
