import { type Static, Type } from "@sinclair/typebox";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { ApiError } from "../../../http/errors.ts";
import { perRows } from "../../../http/limits/prices.ts";
import { choice, cursor, integer, limit, optional, text } from "../../../http/request/params.ts";
import { flag } from "../../../http/request/word-params.ts";
import { JsonStream } from "../../../http/response/response-body.ts";
import type { Hash } from "../../../read/hydrate/casts.ts";
import { presentCast } from "../../../read/present/compat/cast.ts";
import {
  conversationText as compatConversationText,
  type CastWithReplies as PresentedCompatReplies,
} from "../../../read/present/compat/conversation.ts";
import {
  conversationText,
  type CastWithReplies as PresentedCastWithReplies,
  presentCastWithoutReplies,
} from "../../../read/present/native/cast.ts";
import { castOfUrl, parseCastUrl } from "../../../read/queries/casts/cast-lists.ts";
import { conversation, conversationNodes } from "../../../read/queries/casts/conversation.ts";
import {
  conversationCursors,
  conversationPage,
  MAX_PARENTS,
  MAX_SORTED,
  pageNodes,
} from "../../../read/queries/casts/conversation-page.ts";
import { openListRules } from "../../../read/rules/list-rules.ts";
import { readCastsInSlices } from "../../../read/run-query.ts";
import { viewerFid } from "../../dialects/compat.ts";
import { CompatCast, compatCastFields } from "../../dialects/compat-objects.ts";
import { type Assignable, Next, object } from "../../dialects/fields.ts";
import { Cast } from "../../dialects/native-objects.ts";
import { decodeCursor } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Casts", price: perRows(15) });

const CastWithReplies = Type.Recursive(
  (This) =>
    object(
      { cast: Cast, replies: Type.Array(This, { description: "Oldest first, at most 50" }) },
      { description: "A cast and its replies, at most 500 in total" },
    ),
  { $id: "CastWithReplies" },
);

const CompatCastWithReplies = Type.Recursive(
  (This) =>
    object(
      {
        ...compatCastFields,
        hidden_replies: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: `Of the requested cast: how many of its ${MAX_SORTED} oldest direct replies are hidden from the reader; absent if nobody is`,
          }),
        ),
        direct_replies: Type.Array(This),
      },
      { description: "A cast and its replies" },
    ),
  { $id: "FarcasterCastWithReplies" },
);

const CompatConversation = object({
  conversation: object({
    cast: CompatCastWithReplies,
    chronological_parent_casts: Type.Optional(
      Type.Array(CompatCast, { description: `The ${MAX_PARENTS} nearest, from the root down` }),
    ),
  }),
  next: Next,
});

const MAX_DEPTH = 5;

const DEFAULT_DEPTH = 2;

const MAX_DIRECT_REPLIES = 50;

const DEFAULT_DIRECT_REPLIES = 20;

const HASH = /^0x[0-9a-f]{40}$/i;

export const conversationOperations = [
  read({
    id: "getCastConversation",
    surface: "native",
    path: "/cast/conversation",
    summary: "A cast with its replies",
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
    response: CastWithReplies,
    errors: ["notFound"],
    run: ({ reads }, { query }) => {
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
  }),
  read({
    id: "getCastConversation",
    surface: "compat",
    path: "/cast/conversation",
    summary: "A cast with a page of its replies, and the replies below those",
    description:
      "Below the direct replies, each cast has its 50 oldest replies, 500 in total. `algorithmic` sorts by the sum of the likes, " +
      `twice the recasts and three times the replies, over the ${MAX_SORTED} oldest direct replies.`,
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
      fold: optional(
        choice(["above", "below"], {
          description:
            "Only direct replies above or below the fold. Below are those by accounts with a low score, unless the viewer follows the account, or " +
            "the author of the cast liked or replied to it. Where `scores.enforce` does not list `fold`, all are above",
        }),
      ),
      limit: limit(DEFAULT_DIRECT_REPLIES),
      cursor: cursor(),
      viewer_fid: viewerFid(),
    },
    response: CompatConversation,
    errors: ["notFound"],
    run: ({ reads }, { query }) => {
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
              fold: query.fold,
              viewerFid: query.viewer_fid,
              rules: openListRules(reads, { viewerFid: query.viewer_fid }),
            });
          return page ? { page, nodes: pageNodes(reads, page) } : undefined;
        },
        castsOf: (found) => [...(found?.nodes ?? []), ...(found?.page.parents ?? [])],
        viewerFid: query.viewer_fid,
        present: presentCast,
      });
      if (!found || !first) throw new ApiError("notFound", "no such cast");
      return new JsonStream(compatConversationText(found.page, found.nodes, slices));
    },
  }),
];

/** Returns a function that finds the cast of an identifier. Throws `badRequest` if the identifier is neither a hash nor a cast's URL. */
export function castFinder(
  identifier: string,
  type: "hash" | "url",
): (db: IndexDatabase) => Hash | undefined {
  if (type === "hash") {
    if (!HASH.test(identifier)) throw new ApiError("badRequest", "identifier must be 0x and 40 hex digits");
    return () => identifier.toLowerCase() as Hash;
  }
  const url = parseCastUrl(identifier);
  if (!url) throw new ApiError("badRequest", "identifier must be the URL of a cast");
  return (db) => castOfUrl(db, url);
}

export type ObjectTypeCheck = Assignable<PresentedCastWithReplies, Static<typeof CastWithReplies>> &
  Assignable<PresentedCompatReplies, Static<typeof CompatCastWithReplies>>;
