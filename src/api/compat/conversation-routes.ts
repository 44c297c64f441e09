import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { JsonStream } from "../../http/json-stream.ts";
import { operation } from "../../http/operation.ts";
import { choice, cursor, fid, integer, limit, optional, text } from "../../http/params.ts";
import { flag } from "../../http/word-params.ts";
import { readCastsInSlices } from "../../read/cast-slices.ts";
import { hashesOf } from "../../read/hydrate/hydrate.ts";
import { presentCast } from "../../read/present/compat/cast.ts";
import { presentCastSearch } from "../../read/present/compat/cast-lists.ts";
import {
  conversationText,
  type CastWithReplies as PresentedCastWithReplies,
} from "../../read/present/compat/conversation.ts";
import {
  conversationCursors,
  conversationPage,
  MAX_PARENTS,
  MAX_SORTED,
  pageNodes,
} from "../../read/queries/casts/conversation-page.ts";
import { filteredSearch, filteredSearchCursors } from "../../read/queries/search/filtered-search.ts";
import { MAX_SCANNED } from "../../read/queries/search/search-scan.ts";
import { type Reads, runQuery } from "../../read/run-query.ts";
import { castFinder } from "../native/casts/identifier.ts";
import { decodeCursor } from "../shared/cursor-param.ts";
import { requireFullText, WITHOUT_FULL_TEXT } from "../shared/full-text.ts";
import { type Assignable, closed, Next } from "../shared/schemas.ts";
import { pageLimit, viewerFid } from "./dialect.ts";
import { CastPageResponse } from "./response-schemas.ts";
import { Cast, castFields } from "./schemas.ts";

const CastWithReplies = Type.Recursive(
  (This) =>
    Type.Object(
      { ...castFields, direct_replies: Type.Array(This) },
      { ...closed, description: "A cast and its replies" },
    ),
  { $id: "FarcasterCastWithReplies" },
);

const ConversationResponse = Type.Object(
  {
    conversation: Type.Object(
      {
        cast: CastWithReplies,
        chronological_parent_casts: Type.Optional(
          Type.Array(Cast, { description: `The ${MAX_PARENTS} nearest, from the root down` }),
        ),
      },
      closed,
    ),
    next: Next,
  },
  closed,
);

const SearchResponse = Type.Object({ result: CastPageResponse }, closed);

export type ObjectTypeCheck = Assignable<PresentedCastWithReplies, Static<typeof CastWithReplies>> &
  Assignable<ReturnType<typeof presentCastSearch>, Static<typeof SearchResponse>>;

const tags = ["Casts"];

const MAX_DEPTH = 5;
const DEFAULT_DEPTH = 2;
const MAX_DIRECT_REPLIES = 50;
const DEFAULT_DIRECT_REPLIES = 20;

/** `/cast/conversation` and `/cast/search`. */
export function conversationRoutes(reads: Reads) {
  return new Elysia({ name: "farcaster-conversations" })
    .get(
      "/cast/conversation",
      ({ query }) => {
        const order = query.sort_type;
        const after = decodeCursor(conversationCursors[order], query.cursor);
        const find = castFinder(query.identifier, query.type);
        const { found, first, slices } = readCastsInSlices(reads, {
          find(db) {
            const hash = find(db);
            const page =
              hash &&
              conversationPage(reads, {
                hash,
                order,
                after,
                depth: query.reply_depth,
                withParents: query.include_chronological_parent_casts,
                limit: Math.min(query.limit, MAX_DIRECT_REPLIES),
              });
            return page ? { page, nodes: pageNodes(reads, page) } : undefined;
          },
          castsOf: (found) => [...(found?.nodes ?? []), ...(found?.page.parents ?? [])],
          viewerFid: query.viewer_fid,
          present: presentCast,
        });
        if (!found || !first) throw new ApiError("notFound", "no such cast");
        return new JsonStream(conversationText(found.page, found.nodes, slices));
      },
      operation({
        cache: "shared",
        operationId: "getCastConversation",
        summary: "A cast with a page of its replies, and the replies below those",
        description:
          "Below the direct replies, each cast has its 50 oldest replies, 500 in total. `algorithmic` sorts by the sum of the likes, " +
          `twice the recasts and three times the replies, over the ${MAX_SORTED} oldest direct replies.`,
        tags,
        query: {
          identifier: text({
            description: "A cast hash, or a URL such as https://farcaster.xyz/<username>/0x…",
          }),
          type: optional(choice(["hash", "url"]), "hash"),
          reply_depth: optional(
            integer({ min: 0, max: MAX_DEPTH, description: "Levels of replies" }),
            DEFAULT_DEPTH,
          ),
          include_chronological_parent_casts: flag(false),
          sort_type: optional(choice(["chron", "desc_chron", "algorithmic"]), "chron"),
          limit: limit(DEFAULT_DIRECT_REPLIES),
          cursor: cursor(),
          viewer_fid: viewerFid(),
        },
        response: ConversationResponse,
        errors: ["notFound"],
      }),
    )
    .get(
      "/cast/search",
      ({ query }) => {
        requireFullText(reads);
        const order = query.sort_type === "chron" ? "chron" : "desc_chron";
        const after = decodeCursor(filteredSearchCursors[order], query.cursor);
        return runQuery(
          reads,
          (db) =>
            filteredSearch(db, {
              text: query.q,
              order,
              authorFid: query.author_fid,
              parentUrl: query.parent_url,
              channelId: query.channel_id,
              limit: query.limit,
              after,
            }),
          ({ rows }) => ({ castIds: rows.map(({ id }) => id), viewerFid: query.viewer_fid }),
          ({ rows, cursor }, hydration) =>
            presentCastSearch(
              { rows: hashesOf(rows, hydration).map((hash) => ({ hash })), cursor },
              hydration,
            ),
        );
      },
      operation({
        cache: "shared",
        operationId: "searchCasts",
        summary: "Casts whose text contains every word, by time",
        description:
          "Every word must match, the last one as a prefix; quotes form a phrase; `before:2025-04-20` " +
          "and `after:2025-04-20T12:00:00` (UTC) limit the time range. There are no other operators, and `algorithmic` is " +
          `\`desc_chron\`. With filters, a page examines ${MAX_SCANNED} casts; if few of them match, it may be ` +
          "short, or empty, before the end.",
        tags,
        query: {
          q: text({ examples: ["gm"] }),
          sort_type: optional(choice(["desc_chron", "chron", "algorithmic"]), "desc_chron"),
          author_fid: optional(fid()),
          parent_url: optional(text({ description: "Only casts directly under this URL" })),
          channel_id: optional(text({ description: "Only casts directly in this channel" })),
          limit: pageLimit(),
          cursor: cursor(),
          viewer_fid: viewerFid(),
        },
        response: SearchResponse,
        notImplemented: WITHOUT_FULL_TEXT,
      }),
    );
}
