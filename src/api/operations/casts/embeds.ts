import { type Static, Type } from "@sinclair/typebox";
import { callerOf } from "../../../http/exchange.ts";
import { flat } from "../../../http/limits/prices.ts";
import { text } from "../../../http/request/params.ts";
import { READ } from "../../../http/route-terms.ts";
import { EmbedMetadata, object } from "../../dialects/fields.ts";
import { topic } from "../../topic.ts";

const { op, read } = topic({ tag: "Casts" });

const CRAWL_UNITS = 20;

const CompatCrawlResponse = object({ metadata: EmbedMetadata });

export const embedOperations = [
  read({
    id: "crawlCastEmbed",
    surface: "native",
    path: "/cast/embed/crawl",
    summary: "Metadata of an embedded URL",
    description: "Always null. Casts have the metadata of their URLs where previews are on.",
    response: object({ metadata: Type.Null() }),
    run: () => ({ metadata: null }),
  }),
  op({
    id: "crawlCastEmbed",
    surface: "compat",
    path: "/cast/embed/crawl",
    summary: "Metadata of an embedded URL",
    description:
      "With an API key the URL is fetched ahead of all others that wait, and the response waits for it for 2.5 seconds at most. Without " +
      "one the response has what is known. `NOT_FETCHED` while `previews.mode` is off.",
    access: READ,
    price: flat(CRAWL_UNITS),
    query: { url: text({ description: "The URL", maxChars: 2048 }) },
    response: CompatCrawlResponse,
    run: async ({ previews }, { query, request }): Promise<Static<typeof CompatCrawlResponse>> => {
      const caller = callerOf(request);
      const client = caller.kind === "apiKey" ? `fid:${caller.ownerFid}` : undefined;
      const metadata = previews && (await previews.crawl(query.url, client));
      return { metadata: { ...(metadata ?? { _status: "NOT_FETCHED" }) } };
    },
  }),
];
