import type { AnyElysia } from "elysia";
import { CreateAppRequest, UpdateAppRequest } from "../../../apps/app-requests.ts";
import { createSignedRoutes } from "../../../auth/signed-routes.ts";
import { optional, text } from "../../../http/params.ts";
import { Deleted, idToDelete, type ManagementDeps, unwrapOrThrow } from "../../shared/management.ts";
import { AppResponse, AppsResponse, presentApp } from "./schemas.ts";

/** `/frame/app`: mini apps and their send secrets, for their owner. */
export function appRoutes({ auth, apps }: ManagementDeps): AnyElysia {
  const routes = createSignedRoutes(auth, { name: "apps", tag: "Mini apps" });
  const appId = text({ description: "The app's id" });

  routes.add(
    "createApp",
    {
      summary: "Register a mini app",
      description: "Assigns the app's id and its first send secret.",
      body: CreateAppRequest,
      response: AppResponse,
      errors: ["tooManyRequests"],
    },
    async ({ body, ...actor }) => ({ app: presentApp(unwrapOrThrow(await apps.create(actor, body))) }),
  );

  routes.add(
    "getApp",
    {
      summary: "One mini app",
      query: { app_id: appId },
      response: AppResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ fid, query }) => ({ app: presentApp(unwrapOrThrow(await apps.get(fid, query.app_id))) }),
  );

  routes.add(
    "listApps",
    {
      summary: "All mini apps of the signing fid",
      description: "Oldest first, all in one response.",
      response: AppsResponse,
    },
    async ({ fid }) => ({ apps: (await apps.list(fid)).map(presentApp) }),
  );

  routes.add(
    "updateApp",
    {
      summary: "Change a mini app",
      description:
        "Only the provided fields change. `description: null` clears it; an allowlist replaces the whole list.",
      body: UpdateAppRequest,
      response: AppResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ body, ...actor }) => ({ app: presentApp(unwrapOrThrow(await apps.update(actor, body))) }),
  );

  routes.add(
    "deleteApp",
    {
      summary: "Delete a mini app",
      description: "The id may also come as `app_id` in a JSON body.",
      query: { app_id: optional(appId) },
      response: Deleted,
      errors: ["forbidden", "notFound"],
    },
    async ({ query, rawBody, ...actor }) => {
      unwrapOrThrow(await apps.delete(actor, idToDelete("app_id", query.app_id, rawBody)));
      return { deleted: true };
    },
  );

  routes.add(
    "rotateAppSecret",
    {
      summary: "Rotate the send secret of a mini app",
      description: "Adds a secret. Earlier secrets remain valid until the end of their grace period.",
      query: { app_id: appId },
      response: AppResponse,
      errors: ["forbidden", "notFound", "tooManyRequests"],
    },
    async ({ query, ...actor }) => ({
      app: presentApp(unwrapOrThrow(await apps.rotateSecret(actor, query.app_id))),
    }),
  );

  return routes.plugin;
}
