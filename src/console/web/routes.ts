import type { ComponentType } from "preact";

export type Section = "explore" | "stream" | "manage" | "status";

/** A page of the console. */
export interface PageRoute {
  /** Segments that begin with a colon are parameters. */
  readonly path: string;
  /** The title until the page knows a better one. */
  readonly title: string;
  /** The entry of the navigation that it belongs to. */
  readonly section?: Section;
  /** Loads the chunk of the page. */
  readonly load: () => Promise<{ readonly Page: ComponentType }>;
}

/**
 * Every page. The server reads the paths: of any other one it says 404. This file imports no module at run time, because the
 * server loads it, too.
 */
export const pages: readonly PageRoute[] = [
  { path: "/", title: "A Farcaster node", load: () => import("./landing/landing.tsx") },
  { path: "/console", title: "Explore", section: "explore", load: () => import("./explore/home.tsx") },
  {
    path: "/console/people/:who",
    title: "Person",
    section: "explore",
    load: () => import("./explore/person.tsx"),
  },
  {
    path: "/console/casts/:hash",
    title: "Cast",
    section: "explore",
    load: () => import("./explore/cast.tsx"),
  },
  {
    path: "/console/channels",
    title: "Channels",
    section: "explore",
    load: () => import("./explore/channels.tsx"),
  },
  {
    path: "/console/channels/:id",
    title: "Channel",
    section: "explore",
    load: () => import("./explore/channel.tsx"),
  },
  {
    path: "/console/search",
    title: "Search",
    section: "explore",
    load: () => import("./explore/search.tsx"),
  },
  {
    path: "/console/manage",
    title: "Manage",
    section: "manage",
    load: () => import("./manage/overview.tsx"),
  },
  {
    path: "/console/manage/activity",
    title: "Activity",
    section: "manage",
    load: () => import("./manage/activity.tsx"),
  },
  {
    path: "/console/manage/apps",
    title: "Mini apps",
    section: "manage",
    load: () => import("./manage/apps/apps.tsx"),
  },
  {
    path: "/console/manage/apps/new",
    title: "Register a mini app",
    section: "manage",
    load: () => import("./manage/apps/new-app.tsx"),
  },
  {
    path: "/console/manage/apps/:id",
    title: "Mini app",
    section: "manage",
    load: () => import("./manage/apps/app-page.tsx"),
  },
  {
    path: "/console/manage/campaigns/:id",
    title: "Campaign",
    section: "manage",
    load: () => import("./manage/campaigns/campaign-page.tsx"),
  },
  { path: "/console/stream", title: "Stream", section: "stream", load: () => import("./stream/stream.tsx") },
  { path: "/console/status", title: "Status", section: "status", load: () => import("./status/status.tsx") },
  {
    path: "/console/operator",
    title: "Operator",
    section: "status",
    load: () => import("./operator/operator.tsx"),
  },
  {
    path: "/console/manage/keys",
    title: "API keys",
    section: "manage",
    load: () => import("./manage/keys/keys.tsx"),
  },
  {
    path: "/console/manage/keys/:id",
    title: "API key",
    section: "manage",
    load: () => import("./manage/keys/key.tsx"),
  },
  {
    path: "/console/manage/signers",
    title: "Signers",
    section: "manage",
    load: () => import("./manage/signers/signers.tsx"),
  },
  {
    path: "/console/manage/webhooks",
    title: "Webhooks",
    section: "manage",
    load: () => import("./manage/webhooks/webhooks.tsx"),
  },
  {
    path: "/console/manage/webhooks/new",
    title: "New webhook",
    section: "manage",
    load: () => import("./manage/webhooks/new.tsx"),
  },
  {
    path: "/console/manage/webhooks/:id",
    title: "Webhook",
    section: "manage",
    load: () => import("./manage/webhooks/overview.tsx"),
  },
  {
    path: "/console/manage/webhooks/:id/:message",
    title: "Delivery",
    section: "manage",
    load: () => import("./manage/webhooks/delivery.tsx"),
  },
];
