import { Elysia } from "elysia";
import { operation } from "../../../http/operation.ts";
import { choice, fid, optional, text } from "../../../http/params.ts";
import type { ReadParts } from "../../shared/dialect.ts";
import { CastMetricsResponse } from "./schemas.ts";

const tags = ["Casts"];

const INTERVALS = ["1d", "7d", "30d", "90d", "180d"] as const;

/** What clients ask for and protocol data has nothing for: `/cast/metrics`, `/cast/conversation/summary`, `/cast/embed/crawl`. */
export function castPlaceholderRoutes({ reads, describe }: ReadParts) {
  return new Elysia({ name: "cast-placeholders" })
    .get(
      "/cast/metrics",
      () => ({ metrics: [], next: { cursor: null } }),
      operation({
        cache: "shared",
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
      () => reads.present.conversationSummary(),
      describe({
        cache: "shared",
        operationId: "getCastConversationSummary",
        summary: "Summary of a conversation",
        description: "Always the same text, which says that there are no summaries.",
        tags,
        query: {},
        answer: "conversationSummary",
      }),
    )
    .get(
      "/cast/embed/crawl",
      () => reads.present.embedMetadata(),
      describe({
        cache: "shared",
        operationId: "crawlCastEmbed",
        summary: "Metadata of an embedded URL",
        description: "There never is any: the node fetches no page.",
        tags,
        query: {},
        answer: "embedMetadata",
      }),
    );
}
