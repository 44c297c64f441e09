import { Elysia } from "elysia";
import { operation } from "../../../http/operation.ts";
import { choice, fid, optional, text } from "../../../http/params.ts";
import type { ReadDeps } from "../../shared/dialect.ts";
import { CastMetricsResponse } from "./schemas.ts";

const tags = ["Casts"];

const INTERVALS = ["1d", "7d", "30d", "90d", "180d"] as const;

/**
 * Routes that clients request and for which the protocol has no data: `/cast/metrics`, `/cast/conversation/summary`,
 * `/cast/embed/crawl`.
 */
export function castPlaceholderRoutes({ reads, describe }: ReadDeps) {
  return new Elysia({ name: "cast-placeholders" })
    .get(
      "/cast/metrics",
      () => ({ metrics: [], next: { cursor: null } }),
      operation({
        cache: "shared",
        operationId: "getCastMetrics",
        summary: "Number of casts over time",
        description: "Always empty.",
        tags,
        query: {
          q: text({ description: "Text that the casts contain", examples: ["gm"] }),
          interval: optional(choice(INTERVALS)),
          author_fid: optional(fid()),
          channel_id: optional(text()),
        },
        response: CastMetricsResponse,
      }),
    )
    .get(
      "/cast/conversation/summary",
      () => reads.present.conversationSummary(),
      describe({
        cache: "shared",
        operationId: "getCastConversationSummary",
        summary: "Summary of a conversation",
        description: "Always the same text, which says that summaries are not available.",
        tags,
        query: {},
        response: "conversationSummary",
      }),
    )
    .get(
      "/cast/embed/crawl",
      () => reads.present.embedMetadata(),
      describe({
        cache: "shared",
        operationId: "crawlCastEmbed",
        summary: "Metadata of an embedded URL",
        description: "Always null: the node fetches no pages.",
        tags,
        query: {},
        response: "embedMetadata",
      }),
    );
}
