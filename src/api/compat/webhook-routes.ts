import type { AnyElysia } from "elysia";
import { fid, optional } from "../../http/params.ts";
import { ownValue, readObject } from "../../management/fields.ts";
import type { ManagementDeps } from "../shared/management.ts";
import { createWebhookRoutes } from "../shared/webhook-routes.ts";
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
export function compatWebhookRoutes(deps: ManagementDeps): AnyElysia {
  return createWebhookRoutes(deps, {
    name: "farcaster-webhooks",
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
  });
}

function withAnyMatch(body: unknown): unknown {
  const request = readObject(body, "request body");
  if (!request.ok) return body;
  const subscription = ownValue(request.value, "subscription");
  return subscription === undefined
    ? body
    : { ...request.value, subscription: withExplicitMatch(subscription, "any") };
}
