import type { ComponentType } from "preact";

export type Section = "explore" | "stream" | "manage" | "status";

/** A page of the console. */
export interface PageRoute {
  /** Segments that begin with a colon are parameters. */
  readonly path: string;
  /** The navigation entry to which it belongs. */
  readonly section: Section | undefined;
  /** Loads the chunk of the page. */
  readonly load: () => Promise<{ readonly Page: ComponentType }>;
}

const page = (path: string, section: PageRoute["section"], load: PageRoute["load"]): PageRoute => ({
  path,
  section,
  load,
});

/**
 * Every page. The server reads the paths: all others are 404. This file imports no module at run time, because the server loads it, too.
 */
export const pages: readonly PageRoute[] = [
  page("/", undefined, () => import("./landing/landing.tsx")),
  page("/console", "explore", () => import("./explore/home.tsx")),
  page("/console/people/:who", "explore", () => import("./explore/person.tsx")),
  page("/console/casts/:hash", "explore", () => import("./explore/cast.tsx")),
  page("/console/channels", "explore", () => import("./explore/channels.tsx")),
  page("/console/channels/:id", "explore", () => import("./explore/channels.tsx")),
  page("/console/search", "explore", () => import("./explore/search.tsx")),
  page("/console/setup", undefined, () => import("./setup/setup-page.tsx")),
  page("/console/call", undefined, () => import("./call/call-page.tsx")),
  page("/console/manage", "manage", () => import("./manage/overview.tsx")),
  page("/console/manage/activity", "manage", () => import("./manage/activity.tsx")),
  page("/console/manage/apps", "manage", () => import("./manage/apps/apps.tsx")),
  page("/console/manage/apps/new", "manage", () => import("./manage/apps/new-app.tsx")),
  page("/console/manage/apps/:id", "manage", () => import("./manage/apps/app-page.tsx")),
  page(
    "/console/manage/apps/:id/schedules/:schedule",
    "manage",
    () => import("./manage/apps/schedule-page.tsx"),
  ),
  page("/console/manage/campaigns/:id", "manage", () => import("./manage/apps/campaign-page.tsx")),
  page("/console/stream", "stream", () => import("./stream/stream.tsx")),
  page("/console/status", "status", () => import("./status/status.tsx")),
  page("/console/operator", "status", () => import("./operator/operator.tsx")),
  page("/console/operator/settings", "status", () => import("./settings/settings.tsx")),
  page("/console/manage/keys", "manage", () => import("./manage/keys/keys.tsx")),
  page("/console/manage/keys/:id", "manage", () => import("./manage/keys/key.tsx")),
  page("/console/manage/signers", "manage", () => import("./manage/signers/signers.tsx")),
  page("/console/manage/login", "manage", () => import("./manage/login/clients.tsx")),
  page("/console/manage/login/:id", "manage", () => import("./manage/login/client.tsx")),
  page("/console/manage/notices", "manage", () => import("./manage/notices.tsx")),
  page("/console/sign-in", "manage", () => import("./sign-in/page.tsx")),
  page("/console/manage/webhooks", "manage", () => import("./manage/webhooks/webhooks.tsx")),
  page("/console/manage/webhooks/new", "manage", () => import("./manage/webhooks/new.tsx")),
  page("/console/manage/webhooks/:id", "manage", () => import("./manage/webhooks/overview.tsx")),
  page("/console/manage/webhooks/:id/:message", "manage", () => import("./manage/webhooks/delivery.tsx")),
];
