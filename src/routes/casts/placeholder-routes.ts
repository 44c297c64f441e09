import { Elysia } from "elysia";
import { operation } from "../../http/operation.ts";
import { choice, fid, optional, text } from "../../http/params.ts";
import { CastMetricsResponse, CrawlResponse, SummaryResponse } from "./objects.ts";

const tags = ["Casts"];

const INTERVALS = ["1d", "7d", "30d", "90d", "180d"] as const;

const NO_SUMMARY = "Conversation summaries are not available.";

/** What clients ask for and protocol data has nothing for: `/cast/metrics`, `/cast/conversation/summary`, `/cast/embed/crawl`. */
export function castPlaceholderRoutes() {
  return new Elysia({ name: "cast-placeholders" })
    .get(
      "/cast/metrics",
      () => ({ metrics: [], next: { cursor: null } }),
      operation({
        operationId: "getCastMetrics",
        summary: "Numbers of casts over time",
        description: "Always empty.",
        tags,
        query: {
          q: text({ description: "What the casts would hold", examples: ["gm"] }),
          interval: optional(choice(INTERVALS)),
          author_fid: optional(fid()),
          channel_id: optional(text()),
        },
        response: CastMetricsResponse,
      }),
    )
    .get(
      "/cast/conversation/summary",
      () => ({ summary: NO_SUMMARY }),
      operation({
        operationId: "getCastConversationSummary",
        summary: "Summary of a conversation",
        description: "Always the same text, which says that there are no summaries.",
        tags,
        response: SummaryResponse,
      }),
    )
    .get(
      "/cast/embed/crawl",
      () => ({ metadata: null }),
      operation({
        operationId: "crawlCastEmbed",
        summary: "Metadata of an embedded URL",
        description: "Always null: the node fetches no page.",
        tags,
        response: CrawlResponse,
      }),
    );
}
