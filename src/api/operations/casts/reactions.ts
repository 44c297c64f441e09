import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { ApiError } from "../../../http/errors.ts";
import { perRows } from "../../../http/limits/prices.ts";
import { choice, type Documented, fid, hash, optional, renamed } from "../../../http/request/params.ts";
import { choiceList, choices } from "../../../http/request/word-params.ts";
import type { Page } from "../../../read/cursor.ts";
import type { Hash } from "../../../read/hydrate/casts.ts";
import { presentCastReactions, presentUserReactions } from "../../../read/present/compat/reaction.ts";
import { type Reaction as PresentedReaction, presentReaction } from "../../../read/present/native/cast.ts";
import {
  castReactionsCursor,
  mixedCastReactionsCursor,
  mixedReactionsOfUser,
  mixedReactionsOnCast,
  mixedUserReactionsCursor,
  type Reaction,
  type ReactionKind,
  reactionsOfUser,
  reactionsOnCast,
  userReactionsCursor,
} from "../../../read/queries/casts/reactions.ts";
import { type ListRules, openListRules, ruledPage } from "../../../read/rules/list-rules.ts";
import { type Reads, runQuery } from "../../../read/run-query.ts";
import { compatPage } from "../../dialects/compat.ts";
import { CompatCast, CompatUser, IsoTime, UserDehydrated } from "../../dialects/compat-objects.ts";
import { type Assignable, Next, object, UnixSecs } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import { Cast, User } from "../../dialects/native-objects.ts";
import { decodeCursor, type PageQuery } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Reactions" });

const NativeReaction = object(
  {
    reaction_type: Type.Union([Type.Literal("like"), Type.Literal("recast")]),
    user: User,
    cast: Cast,
    timestamp: UnixSecs("When the user reacted"),
  },
  { $id: "Reaction" },
);

const ReactionPageResponse = object({ reactions: Type.Array(NativeReaction), next: Next });

const reactionOf = <T extends Readonly<Record<string, TSchema>>>(parts: T) =>
  object({
    object: Type.Union([Type.Literal("likes"), Type.Literal("recasts")]),
    reaction_type: Type.Union([Type.Literal("like"), Type.Literal("recast")]),
    reaction_timestamp: IsoTime("When the user reacted"),
    ...parts,
  });

const CastReactions = object({ reactions: Type.Array(reactionOf({ user: CompatUser })), next: Next });

const UserReactions = object({
  reactions: Type.Array(reactionOf({ user: UserDehydrated, cast: CompatCast })),
  next: Next,
});

const NAMES = ["likes", "recasts"] as const;
const kind = (documented?: Documented) => optional(choice(NAMES, documented), "likes");
const kinds = (documented?: Documented) => choices(NAMES, ["likes"], documented);
const compatKinds = () => renamed(choiceList(NAMES), "types", "type");
const AUTHOR = "The author that the cast must have";

export const reactionOperations = [
  read({
    id: "getReactions",
    surface: "native",
    path: "/reaction",
    price: perRows(5),
    summary: "Reactions to a cast if `hash` is present, otherwise of a user; newest first",
    query: {
      hash: optional(hash()),
      fid: optional(fid({ description: `${AUTHOR}; without \`hash\`, the user (required)` })),
      types: kinds({ description: "Which reactions on a cast" }),
      type: kind({ description: "Which reactions of a user" }),
      ...page(),
    },
    response: ReactionPageResponse,
    run: ({ reads }, { query: { hash, fid, types, type, limit, cursor } }) => {
      if (hash !== undefined) return respondWithReactionsOnCast(reads, { hash, fid, types, limit, cursor });
      if (fid === undefined) throw new ApiError("badRequest", "missing query parameter fid");
      return respondWithReactionsOfUser(reads, { fid, type, limit, cursor });
    },
  }),
  read({
    id: "getCastReactions",
    surface: "native",
    path: "/reaction/cast",
    aliases: ["/reactions/cast"],
    price: perRows(2),
    summary: "Likes and recasts of a cast, newest first",
    query: {
      hash: hash(),
      types: kinds(),
      fid: optional(fid({ description: AUTHOR })),
      ...page(),
    },
    response: ReactionPageResponse,
    run: ({ reads }, { query }) => respondWithReactionsOnCast(reads, query),
  }),
  read({
    id: "getUserReactions",
    surface: "native",
    path: "/reaction/user",
    aliases: ["/reactions/user"],
    price: perRows(5),
    summary: "Likes and recasts of a user on live casts, newest first",
    query: { fid: fid(), type: kind(), ...page() },
    response: ReactionPageResponse,
    run: ({ reads }, { query }) => respondWithReactionsOfUser(reads, query),
  }),
  read({
    id: "getReactions",
    surface: "compat",
    path: "/reaction",
    price: perRows(5),
    summary: "Reactions to a cast if `hash` is present, otherwise of a user; newest first",
    query: { hash: optional(hash()), fid: optional(fid()), kinds: compatKinds(), ...compatPage() },
    response: Type.Union([CastReactions, UserReactions]),
    run: ({ reads }, { query }) => {
      const { hash, fid } = query;
      if (hash !== undefined) return respondWithCompatReactionsOnCast(reads, { ...query, hash });
      if (fid === undefined) throw new ApiError("badRequest", "missing query parameter fid");
      return respondWithCompatReactionsOfUser(reads, { ...query, fid });
    },
  }),
  read({
    id: "getCastReactions",
    surface: "compat",
    path: "/reaction/cast",
    aliases: ["/reactions/cast"],
    price: perRows(2),
    summary: "Likes and recasts of a cast, newest first",
    query: { hash: hash(), kinds: compatKinds(), ...compatPage() },
    response: CastReactions,
    run: ({ reads }, { query }) => respondWithCompatReactionsOnCast(reads, query),
  }),
  read({
    id: "getUserReactions",
    surface: "compat",
    path: "/reaction/user",
    aliases: ["/reactions/user"],
    price: perRows(5),
    summary: "Likes and recasts of a user on live casts, newest first",
    query: { fid: fid(), kinds: renamed(choiceList(NAMES), "type", "types"), ...compatPage() },
    response: UserReactions,
    run: ({ reads }, { query }) => respondWithCompatReactionsOfUser(reads, query),
  }),
];

function respondWithReactions(reads: Reads, find: (db: IndexDatabase) => Page<Reaction>) {
  return runQuery(reads, find, hydrationOf(undefined), ({ rows, cursor }, hydration) => ({
    reactions: rows.flatMap((reaction) => presentReaction(reaction, hydration) ?? []),
    next: { cursor },
  }));
}

const hydrationOf =
  (viewerFid: number | undefined) =>
  ({ rows }: Page<Reaction>) => ({
    fids: rows.map((reaction) => reaction.fid),
    castIds: new Set(rows.map((reaction) => reaction.castId)),
    viewerFid,
  });

function respondWithReactionsOnCast(
  reads: Reads,
  query: PageQuery & {
    readonly hash: Hash;
    readonly fid: number | undefined;
    readonly types: readonly ReactionKind[];
  },
) {
  const { hash, fid: authorFid, types: kinds, limit } = query;
  const [kind, ...others] = kinds;
  // Cursors of a single kind still have the format from when `types` accepted only one word.
  if (kind !== undefined && others.length === 0) {
    const after = decodeCursor(castReactionsCursor(kind), query.cursor);
    return respondWithReactions(reads, (db) => reactionsOnCast(db, { hash, authorFid, kind, limit, after }));
  }
  const after = decodeCursor(mixedCastReactionsCursor, query.cursor);
  return respondWithReactions(reads, (db) =>
    mixedReactionsOnCast(db, { hash, authorFid, kinds, limit, after }),
  );
}

function respondWithReactionsOfUser(
  reads: Reads,
  query: PageQuery & { readonly fid: number; readonly type: ReactionKind },
) {
  const after = decodeCursor(userReactionsCursor(query.type), query.cursor);
  const { fid, type: kind, limit } = query;
  return respondWithReactions(reads, (db) => reactionsOfUser(db, { fid, kind, limit, after }));
}

interface CompatQuery extends PageQuery {
  readonly kinds: readonly ReactionKind[];
}

function respondWithCompatReactionsOnCast(reads: Reads, query: CompatQuery & { readonly hash: Hash }) {
  const cursor = mixedCastReactionsCursor;
  const after = decodeCursor(cursor, query.cursor);
  const { limit, viewer_fid: viewerFid } = query;
  return runQuery(
    reads,
    (db) =>
      ruledPage(
        openListRules(reads, { viewerFid }),
        { limit, after, cursor },
        (page) => mixedReactionsOnCast(db, { ...query, ...page }),
        ({ accounts }) => accounts,
      ),
    hydrationOf(viewerFid),
    presentCastReactions,
  );
}

/** Selects a user's reactions to casts that are shown. */
const shownReactions =
  ({ casts }: ListRules) =>
  (reactions: readonly Reaction[]) =>
    casts(reactions.map((reaction) => ({ id: reaction.castId, reaction }))).map(({ reaction }) => reaction);

function respondWithCompatReactionsOfUser(reads: Reads, query: CompatQuery & { readonly fid: number }) {
  const cursor = mixedUserReactionsCursor;
  const after = decodeCursor(cursor, query.cursor);
  const { limit, viewer_fid: viewerFid } = query;
  return runQuery(
    reads,
    (db) =>
      ruledPage(
        openListRules(reads, { viewerFid, subjectFid: query.fid }),
        { limit, after, cursor },
        (page) => mixedReactionsOfUser(db, { ...query, ...page }),
        shownReactions,
      ),
    hydrationOf(viewerFid),
    presentUserReactions,
  );
}

export type ObjectTypeCheck = Assignable<PresentedReaction, Static<typeof NativeReaction>> &
  Assignable<ReturnType<typeof presentCastReactions>, Static<typeof CastReactions>> &
  Assignable<ReturnType<typeof presentUserReactions>, Static<typeof UserReactions>>;
