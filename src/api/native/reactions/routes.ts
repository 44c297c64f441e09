import { Elysia } from "elysia";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { ApiError } from "../../../http/errors.ts";
import { aliasOf, operation } from "../../../http/operation.ts";
import { choice, cursor, type Documented, fid, hash, limit, optional } from "../../../http/params.ts";
import { choices } from "../../../http/word-params.ts";
import type { Page } from "../../../read/cursor.ts";
import type { Hash } from "../../../read/hydrate/casts.ts";
import { presentReaction } from "../../../read/present/native/reaction.ts";
import {
  mixedCastReactionsCursor,
  mixedReactionsOnCast,
} from "../../../read/queries/casts/reaction-lists.ts";
import {
  castReactionsCursor,
  type Reaction,
  type ReactionKind,
  reactionsOfUser,
  reactionsOnCast,
  userReactionsCursor,
} from "../../../read/queries/casts/reactions.ts";
import { type Reads, runQuery } from "../../../read/run-query.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import { ReactionPageResponse } from "./schemas.ts";

interface PageQuery {
  readonly limit: number;
  readonly cursor: string | undefined;
}

const tags = ["Reactions"];

/** `/reaction`, `/reaction/cast`, `/reaction/user` and their aliases. */
export function reactionRoutes(reads: Reads) {
  const respondWithPage = (find: (db: IndexDatabase) => Page<Reaction>) =>
    runQuery(
      reads,
      find,
      ({ rows }) => ({
        fids: rows.map((reaction) => reaction.fid),
        castIds: new Set(rows.map((reaction) => reaction.castId)),
      }),
      ({ rows, cursor }, hydration) => ({
        reactions: rows.flatMap((reaction) => presentReaction(reaction, hydration) ?? []),
        next: { cursor },
      }),
    );
  const onCast = (
    query: PageQuery & {
      readonly hash: Hash;
      readonly fid: number | undefined;
      readonly types: readonly ReactionKind[];
    },
  ) => {
    const { hash, fid: authorFid, types: kinds, limit } = query;
    const [kind, ...others] = kinds;
    // Cursors of a single kind have the format of the time when `types` accepted one word.
    if (kind !== undefined && others.length === 0) {
      const after = decodeCursor(castReactionsCursor(kind), query.cursor);
      return respondWithPage((db) => reactionsOnCast(db, { hash, authorFid, kind, limit, after }));
    }
    const after = decodeCursor(mixedCastReactionsCursor, query.cursor);
    return respondWithPage((db) => mixedReactionsOnCast(db, { hash, authorFid, kinds, limit, after }));
  };
  const ofUser = (query: PageQuery & { readonly fid: number; readonly type: ReactionKind }) => {
    const after = decodeCursor(userReactionsCursor(query.type), query.cursor);
    const { fid, type: kind, limit } = query;
    return respondWithPage((db) => reactionsOfUser(db, { fid, kind, limit, after }));
  };

  const kind = (documented?: Documented) => optional(choice(["likes", "recasts"], documented), "likes");
  const kinds = (documented?: Documented) => choices(["likes", "recasts"], ["likes"], documented);
  const author = "The author that the cast must have";
  const castReactions = operation({
    cache: "shared",
    operationId: "getCastReactions",
    summary: "Likes and recasts of a cast, newest first",
    tags,
    query: {
      hash: hash(),
      types: kinds(),
      fid: optional(fid({ description: author })),
      limit: limit(),
      cursor: cursor(),
    },
    response: ReactionPageResponse,
  });
  const userReactions = operation({
    cache: "shared",
    operationId: "getUserReactions",
    summary: "Likes and recasts of a user on live casts, newest first",
    tags,
    query: { fid: fid(), type: kind(), limit: limit(), cursor: cursor() },
    response: ReactionPageResponse,
  });

  return new Elysia({ name: "reactions" })
    .get(
      "/reaction",
      ({ query: { hash, fid, types, type, limit, cursor } }) => {
        if (hash !== undefined) return onCast({ hash, fid, types, limit, cursor });
        if (fid === undefined) throw new ApiError("badRequest", "missing query parameter fid");
        return ofUser({ fid, type, limit, cursor });
      },
      operation({
        cache: "shared",
        operationId: "getReactions",
        summary: "Reactions to a cast if `hash` is present, otherwise of a user; newest first",
        tags,
        query: {
          hash: optional(hash()),
          fid: optional(fid({ description: `${author}; without \`hash\`, the user (required)` })),
          types: kinds({ description: "Which reactions on a cast" }),
          type: kind({ description: "Which reactions of a user" }),
          limit: limit(),
          cursor: cursor(),
        },
        response: ReactionPageResponse,
      }),
    )
    .get("/reaction/cast", ({ query }) => onCast(query), castReactions)
    .get("/reactions/cast", ({ query }) => onCast(query), aliasOf("/reaction/cast", castReactions))
    .get("/reaction/user", ({ query }) => ofUser(query), userReactions)
    .get("/reactions/user", ({ query }) => ofUser(query), aliasOf("/reaction/user", userReactions));
}
