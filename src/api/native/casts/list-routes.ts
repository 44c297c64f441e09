import { Elysia } from "elysia";
import { ApiError } from "../../../http/errors.ts";
import { JsonStream } from "../../../http/json-stream.ts";
import { operation } from "../../../http/operation.ts";
import { choice, cursor, hash, hashList, integer, limit, optional, text } from "../../../http/params.ts";
import { readCastsInSlices } from "../../../read/cast-slices.ts";
import { conversationText, presentCastWithoutReplies } from "../../../read/present/native/conversation.ts";
import { castQuotes, castQuotesCursor } from "../../../read/queries/casts/cast-quotes.ts";
import { conversation, conversationNodes } from "../../../read/queries/casts/conversation.ts";
import { castSearch, castSearchCursor } from "../../../read/queries/search/cast-search.ts";
import { respondWithCastPage, respondWithCasts } from "../../shared/cast-page.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadDeps } from "../../shared/dialect.ts";
import { requireFullText, WITHOUT_FULL_TEXT } from "../../shared/full-text.ts";
import { castFinder } from "./identifier.ts";
import { ConversationResponse } from "./schemas.ts";

const tags = ["Casts"];

const MAX_DEPTH = 5;
const DEFAULT_DEPTH = 2;

/** `/casts`, `/cast/search`, `/cast/conversation`, `/cast/quotes`. */
export function castListRoutes({ reads, describe }: ReadDeps) {
  return new Elysia({ name: "cast-lists" })
    .get(
      "/casts",
      ({ query }) => respondWithCasts(reads, query, query.casts),
      describe({
        cache: "shared",
        operationId: "getCastsByHash",
        summary: "The same as /cast/bulk under another parameter name",
        tags,
        query: { casts: hashList({ maxItems: reads.maxIds }) },
        response: "casts",
      }),
    )
    .get(
      "/cast/search",
      ({ query }) => {
        requireFullText(reads);
        const after = decodeCursor(castSearchCursor, query.cursor);
        return respondWithCastPage(reads, query, (db) =>
          castSearch(db, { text: query.q, limit: query.limit, after }),
        );
      },
      describe({
        cache: "shared",
        operationId: "searchCasts",
        summary: "Casts whose text contains every word, newest first",
        tags,
        query: {
          q: text({
            description: "Any text. Every word must match, the last one as a prefix; quotes form a phrase.",
            examples: ["gm"],
          }),
          limit: limit(),
          cursor: cursor(),
        },
        response: "castPage",
        notImplemented: WITHOUT_FULL_TEXT,
      }),
    )
    .get(
      "/cast/conversation",
      ({ query }) => {
        const find = castFinder(query.identifier, query.type);
        const { found, first, slices } = readCastsInSlices(reads, {
          find(db) {
            const hash = find(db);
            const root = hash && conversation(reads, { hash, depth: query.reply_depth });
            return root ? conversationNodes(root) : [];
          },
          castsOf: (nodes) => nodes,
          present: presentCastWithoutReplies,
        });
        if (!first) throw new ApiError("notFound", "no such cast");
        return new JsonStream(conversationText(found, slices));
      },
      operation({
        cache: "shared",
        operationId: "getCastConversation",
        summary: "A cast with its replies",
        tags,
        query: {
          identifier: text({
            description: "A cast hash, or a URL such as https://farcaster.xyz/<username>/0x…",
          }),
          type: choice(["hash", "url"]),
          reply_depth: optional(
            integer({ min: 0, max: MAX_DEPTH, description: "Levels of replies" }),
            DEFAULT_DEPTH,
          ),
        },
        response: ConversationResponse,
        errors: ["notFound"],
      }),
    )
    .get(
      "/cast/quotes",
      ({ query }) => {
        const after = decodeCursor(castQuotesCursor, query.cursor);
        return respondWithCastPage(reads, query, (db) =>
          castQuotes(db, { hash: query.identifier, limit: query.limit, after }),
        );
      },
      describe({
        cache: "shared",
        operationId: "getCastQuotes",
        summary: "Casts that quote a cast, newest first",
        tags,
        query: {
          identifier: hash({ description: "The quoted cast" }),
          type: optional(choice(["hash"]), "hash"),
          limit: limit(),
          cursor: cursor(),
        },
        response: "castPage",
      }),
    );
}
