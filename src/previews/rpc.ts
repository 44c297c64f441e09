import type { PreviewMetadata } from "../read/hydrate/previews.ts";
import type { PreviewStats } from "./preview-service.ts";

/** What other threads ask of the one that fetches previews. */
export interface PreviewsRpc {
  /** Gets URLs that a read showed without a fresh preview, and those that it showed with one. */
  note(wanted: readonly string[], shown: readonly string[]): void;
  /** Undefined while it is being fetched. @param client who waits for it */
  crawl(href: string, client: string): Promise<PreviewMetadata | undefined>;
  stats(): PreviewStats;
}
