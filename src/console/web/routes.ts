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
];
