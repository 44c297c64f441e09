import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { aliasOf, operation } from "../../http/operation.ts";
import { cursor, fid, hash, optional, renamed } from "../../http/params.ts";
import { choiceList } from "../../http/word-params.ts";
import type { Page } from "../../read/cursor.ts";
import type { Hash } from "../../read/hydrate/casts.ts";
import { presentCastReactions, presentUserReactions } from "../../read/present/compat/reaction.ts";
import {
  mixedCastReactionsCursor,
  mixedReactionsOfUser,
  mixedReactionsOnCast,
  mixedUserReactionsCursor,
} from "../../read/queries/casts/reaction-lists.ts";
import type { Reaction, ReactionKind } from "../../read/queries/casts/reactions.ts";
import { type Reads, runQuery } from "../../read/run-query.ts";
import { decodeCursor } from "../shared/cursor-param.ts";
import type { Viewer } from "../shared/dialect.ts";
import { type Assignable, closed, Next } from "../shared/schemas.ts";
import { pageLimit, viewerFid } from "./dialect.ts";
import { Cast, IsoTime, User, UserDehydrated } from "./schemas.ts";

const reactionOf = <T extends Readonly<Record<string, TSchema>>>(parts: T) =>
  Type.Object(
    {
      object: Type.Union([Type.Literal("likes"), Type.Literal("recasts")]),
      reaction_type: Type.Union([Type.Literal("like"), Type.Literal("recast")]),
      reaction_timestamp: IsoTime("When the user reacted"),
      ...parts,
    },
    closed,
  );

const CastReactions = Type.Object({ reactions: Type.Array(reactionOf({ user: User })), next: Next }, closed);
const UserReactions = Type.Object(
  { reactions: Type.Array(reactionOf({ user: UserDehydrated, cast: Cast })), next: Next },
  closed,
);

export type ObjectTypeCheck = Assignable<
  ReturnType<typeof presentCastReactions>,
  Static<typeof CastReactions>
> &
  Assignable<ReturnType<typeof presentUserReactions>, Static<typeof UserReactions>>;

interface ListQuery extends Viewer {
  readonly kinds: readonly ReactionKind[];
  readonly limit: number;
  readonly cursor: string | undefined;
}

const tags = ["Reactions"];

const wantedOf =
  ({ viewer_fid: viewerFid }: Viewer) =>
  ({ rows }: Page<Reaction>) => ({
    fids: rows.map((reaction) => reaction.fid),
    castIds: new Set(rows.map((reaction) => reaction.castId)),
    viewerFid,
  });

/** `/reaction`, `/reaction/cast`, `/reaction/user` and their aliases: likes and recasts, or one of them. */
export function reactionListRoutes(reads: Reads) {
  const onCast = (query: ListQuery & { readonly hash: Hash }) => {
    const after = decodeCursor(mixedCastReactionsCursor, query.cursor);
    const find = mixedReactionsOnCast;
    return runQuery(reads, (db) => find(db, { ...query, after }), wantedOf(query), presentCastReactions);
  };
  const ofUser = (query: ListQuery & { readonly fid: number }) => {
    const after = decodeCursor(mixedUserReactionsCursor, query.cursor);
    const find = mixedReactionsOfUser;
    return runQuery(reads, (db) => find(db, { ...query, after }), wantedOf(query), presentUserReactions);
  };

  const kinds = () => renamed(choiceList(["likes", "recasts"]), "types", "type");
  const page = () => ({ limit: pageLimit(), cursor: cursor(), viewer_fid: viewerFid() });
  const castReactions = operation({
    cache: "shared",
    operationId: "getCastReactions",
    summary: "Likes and recasts of a cast, newest first",
    tags,
    query: { hash: hash(), kinds: kinds(), ...page() },
    response: CastReactions,
  });
  const userReactions = operation({
    cache: "shared",
    operationId: "getUserReactions",
    summary: "Likes and recasts of a user on live casts, newest first",
    tags,
    query: { fid: fid(), kinds: renamed(choiceList(["likes", "recasts"]), "type", "types"), ...page() },
    response: UserReactions,
  });
  return new Elysia({ name: "farcaster-reactions" })
    .get(
      "/reaction",
      ({ query }) => {
        const { hash, fid } = query;
        if (hash !== undefined) return onCast({ ...query, hash });
        if (fid === undefined) throw new ApiError("badRequest", "missing query parameter fid");
        return ofUser({ ...query, fid });
      },
      operation({
        cache: "shared",
        operationId: "getReactions",
        summary: "Reactions to a cast if `hash` is present, otherwise of a user; newest first",
        tags,
        query: { hash: optional(hash()), fid: optional(fid()), kinds: kinds(), ...page() },
        response: Type.Union([CastReactions, UserReactions]),
      }),
    )
    .get("/reaction/cast", ({ query }) => onCast(query), castReactions)
    .get("/reactions/cast", ({ query }) => onCast(query), aliasOf("/reaction/cast", castReactions))
    .get("/reaction/user", ({ query }) => ofUser(query), userReactions)
    .get("/reactions/user", ({ query }) => ofUser(query), aliasOf("/reaction/user", userReactions));
}
