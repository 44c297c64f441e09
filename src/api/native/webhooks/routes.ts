import type { AnyElysia } from "elysia";
import { fid } from "../../../http/params.ts";
import { Deleted, type ManagementDeps } from "../../shared/management.ts";
import { createWebhookRoutes } from "../../shared/webhook-routes.ts";
import { presentWebhook, WebhookResponse, WebhooksResponse } from "./schemas.ts";

/** `/webhook` in the native dialect. */
export function webhookRoutes(deps: ManagementDeps): AnyElysia {
  return createWebhookRoutes(deps, {
    name: "webhooks",
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
  });
}
