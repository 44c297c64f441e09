import type { ComponentType } from "preact";

/** A page of the console. */
export interface Page {
  /** Segments that begin with a colon are parameters. */
  readonly path: string;
  readonly title: string;
  /** Loads the chunk of the page. */
  readonly load: () => Promise<{ readonly Page: ComponentType }>;
}

/**
 * Every page. The server reads the paths: of any other one it says 404. This file imports no module at run time, because the
 * server loads it, too.
 */
export const pages: readonly Page[] = [
  { path: "/", title: "A Farcaster node", load: () => import("./landing/landing.tsx") },
  { path: "/console", title: "Explore", load: () => import("./landing/landing.tsx") },
];
