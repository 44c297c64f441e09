import { storedLinkType } from "../../../db/index/messages/columns.ts";
import type { Result } from "../../../lib/result.ts";
import { Store } from "../../../protocol/message/merge-rules.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import type { KeyShape } from "../../cursor.ts";
import { type Needed, type ReadContext, readList, readListOf } from "../context.ts";
import type { Page, PageQuery, RowFormat } from "../page.ts";
import { invalidParam, type Refusal, refuse } from "../refusal.ts";
import type { StoredMessage } from "../stored-message.ts";
import type { ListReader, Turns } from "../turns.ts";
import { castsBelow, castsBelowUrl, castsMentioning, castsOf } from "./cast-sources.ts";
import type { RowSource } from "./merge-sources.ts";
import {
  ADDS,
  ADDS_AND_REMOVES,
  allLinksOf,
  compactStatesOf,
  genericOf,
  linksOf,
  linksTo,
  REMOVES,
  reactionsOf,
  reactionsTo,
  userDataOf,
} from "./message-sources.ts";
import { idsOfTarget, type Target, targetError } from "./single-messages.ts";
import { listByHash, listBySender, readTimeList, type TimeList, type TimeRange } from "./time-list.ts";

/** A list of messages, in a format chosen by the caller. */
export type MessageList<Query> = <Item>(
  query: Query & PageQuery,
  format: RowFormat<StoredMessage, Item>,
  reader?: ListReader,
) => Promise<Result<Page<Item>, Refusal>>;

export interface FidQuery {
  readonly fid: number;
}
/** A `reactionType` of 0 means both types. */
export interface ReactionsByFidQuery extends FidQuery {
  readonly reactionType?: number | undefined;
}
/** A `linkType` of "" means all types. */
export interface LinksByFidQuery extends FidQuery {
  readonly linkType?: string | undefined;
}
export interface LinksByTargetQuery {
  readonly targetFid: number | undefined;
  readonly linkType?: string | undefined;
}
export interface TargetQuery {
  readonly target: Target | undefined;
}
export interface ReactionsByTargetQuery extends TargetQuery {
  readonly reactionType?: number | undefined;
}

/** Lists of live messages. They contain only adds unless the name says otherwise. */
export interface MessageLists {
  readonly castsByFid: MessageList<FidQuery>;
  readonly castsByParent: MessageList<TargetQuery>;
  readonly castsByMention: MessageList<FidQuery>;
  readonly reactionsByFid: MessageList<ReactionsByFidQuery>;
  readonly reactionsByTarget: MessageList<ReactionsByTargetQuery>;
  /** Like `reactionsByTarget`, but for one type and a cast. */
  readonly reactionsByCast: MessageList<ReactionsByTargetQuery>;
  readonly linksByFid: MessageList<LinksByFidQuery>;
  readonly linksByTarget: MessageList<LinksByTargetQuery>;
  readonly compactLinkStatesByFid: MessageList<FidQuery>;
  readonly userDataByFid: MessageList<FidQuery>;
  readonly verificationsByFid: MessageList<FidQuery>;
  /** Adds and removes, here and below. */
  readonly allCastMessagesByFid: MessageList<FidQuery & TimeRange>;
  readonly allReactionMessagesByFid: MessageList<FidQuery & TimeRange>;
  /** Excludes compact states. */
  readonly allLinkMessagesByFid: MessageList<FidQuery & TimeRange>;
  readonly allVerificationMessagesByFid: MessageList<FidQuery & TimeRange>;
  readonly allUserDataMessagesByFid: MessageList<FidQuery & TimeRange>;
  readonly allLendStorageMessagesByFid: MessageList<FidQuery & TimeRange>;
}

type Sources = readonly RowSource<StoredMessage>[];

const LISTS = {
  castsByFid: listByHash("GetCastsByFid"),
  castsByParent: listByHash("GetCastsByParent"),
  castsByMention: listByHash("GetCastsByMention"),
  reactionsByFid: listByHash("GetReactionsByFid"),
  reactionsByTarget: listBySender("GetReactionsByTarget"),
  reactionsByCast: listBySender("GetReactionsByCast"),
  linksByFid: listByHash("GetLinksByFid"),
  linksByTarget: listBySender("GetLinksByTarget"),
  compactLinkStatesByFid: listByHash("GetLinkCompactStateMessageByFid"),
  userDataByFid: listByHash("GetUserDataByFid"),
  verificationsByFid: listByHash("GetVerificationsByFid"),
  allCastMessagesByFid: listByHash("GetAllCastMessagesByFid"),
  allReactionMessagesByFid: listByHash("GetAllReactionMessagesByFid"),
  allLinkMessagesByFid: listByHash("GetAllLinkMessagesByFid"),
  allVerificationMessagesByFid: listByHash("GetAllVerificationMessagesByFid"),
  allUserDataMessagesByFid: listByHash("GetAllUserDataMessagesByFid"),
  allLendStorageMessagesByFid: listByHash("GetAllLendStorageMessagesByFid"),
} as const;

const BOTH_TYPES = [ReactionType.REACTION_TYPE_LIKE, ReactionType.REACTION_TYPE_RECAST];

export function createMessageLists(context: ReadContext): MessageLists {
  const byFid = <Query extends FidQuery & TimeRange>(
    list: TimeList<StoredMessage, readonly ["int", "hash"]>,
    needed: Needed,
    sourcesOf: (query: Query, turns: Turns) => Sources | Promise<Sources>,
  ): MessageList<Query> => {
    return async (query, format, reader) =>
      readListOf(context, { fid: query.fid, needed, reader }, async (turns) =>
        readTimeList(list, await sourcesOf(query, turns), { page: query, format, turns }),
      );
  };

  const overAll = <Query, Shape extends readonly ["int", ...KeyShape]>(
    list: TimeList<StoredMessage, Shape>,
    sourcesOf: (query: Query) => Sources,
    refusalOf: (query: Query) => ReturnType<typeof refuse> | undefined = () => undefined,
  ): MessageList<Query> => {
    return async (query, format, reader) =>
      refusalOf(query) ??
      readList(context, reader, (turns) =>
        readTimeList(list, sourcesOf(query), { page: query, format, turns }),
      );
  };

  const reactionsOn = ({ target, reactionType }: ReactionsByTargetQuery): Sources =>
    target === undefined
      ? []
      : idsOfTarget(context, target).flatMap((id) =>
          typesOf(reactionType).map((type) => reactionsTo(context, id, type)),
        );
  const verifications =
    (kinds: typeof ADDS | typeof ADDS_AND_REMOVES) =>
    (query: FidQuery): Sources => [genericOf(context, query.fid, Store.Verifications, kinds)];
  const userData = ({ fid }: FidQuery): Sources => [userDataOf(context, fid)];

  return {
    castsByFid: byFid(LISTS.castsByFid, "all", ({ fid }) => [castsOf(context, fid)]),
    castsByParent: overAll<TargetQuery, readonly ["int", "hash"]>(
      LISTS.castsByParent,
      ({ target }) => {
        if (target === undefined) return [];
        const sourceOf = "url" in target ? castsBelowUrl : castsBelow;
        return idsOfTarget(context, target).map((id) => sourceOf(context, id));
      },
      ({ target }) => targetError(target, "Parent not specified"),
    ),
    castsByMention: overAll(LISTS.castsByMention, ({ fid }) => [castsMentioning(context, fid)]),
    reactionsByFid: async (query, format, reader) =>
      reactionTypeError(query.reactionType) ??
      byFid<ReactionsByFidQuery>(LISTS.reactionsByFid, "all", ({ fid, reactionType }) =>
        typesOf(reactionType).map((type) => reactionsOf(context, fid, type)),
      )(query, format, reader),
    reactionsByTarget: overAll(
      LISTS.reactionsByTarget,
      reactionsOn,
      ({ target, reactionType }) =>
        targetError(target, "Target not specified") ?? reactionTypeError(reactionType),
    ),
    reactionsByCast: overAll(LISTS.reactionsByCast, reactionsOn, ({ target, reactionType }) => {
      const cast = target !== undefined && "url" in target ? undefined : target;
      const refusal = targetError(cast, "Target not specified") ?? reactionTypeError(reactionType);
      return refusal ?? (reactionType ? undefined : invalidParam("reaction_type is required"));
    }),
    linksByFid: byFid<LinksByFidQuery>(LISTS.linksByFid, "all", ({ fid, linkType = "" }, turns) =>
      linkType === "" ? allLinksOf(context, fid, turns) : linksOf(context, fid, storedLinkType(linkType)),
    ),
    linksByTarget: overAll<LinksByTargetQuery, readonly ["int", "int", "int"]>(
      LISTS.linksByTarget,
      ({ targetFid = 0, linkType = "" }) => linksTo(context, targetFid, storedLinkType(linkType)),
      ({ targetFid, linkType = "" }) => {
        if (targetFid === undefined) return refuse("not_found", "Target not specified");
        return linkType === "" ? invalidParam("link_type is required") : undefined;
      },
    ),
    compactLinkStatesByFid: byFid(LISTS.compactLinkStatesByFid, "all", ({ fid }) => [
      compactStatesOf(context, fid),
    ]),
    userDataByFid: byFid(LISTS.userDataByFid, "profile", userData),
    verificationsByFid: byFid(LISTS.verificationsByFid, "profile", verifications(ADDS)),
    allCastMessagesByFid: byFid(LISTS.allCastMessagesByFid, "all", ({ fid }) => [
      castsOf(context, fid),
      genericOf(context, fid, Store.Casts, REMOVES),
    ]),
    allReactionMessagesByFid: byFid(LISTS.allReactionMessagesByFid, "all", ({ fid }) => [
      ...BOTH_TYPES.map((type) => reactionsOf(context, fid, type)),
      genericOf(context, fid, Store.Reactions, REMOVES),
    ]),
    allLinkMessagesByFid: byFid(LISTS.allLinkMessagesByFid, "all", async ({ fid }, turns) => [
      ...(await allLinksOf(context, fid, turns)),
      genericOf(context, fid, Store.Links, REMOVES),
    ]),
    allVerificationMessagesByFid: byFid(
      LISTS.allVerificationMessagesByFid,
      "profile",
      verifications(ADDS_AND_REMOVES),
    ),
    allUserDataMessagesByFid: byFid(LISTS.allUserDataMessagesByFid, "profile", userData),
    allLendStorageMessagesByFid: byFid(LISTS.allLendStorageMessagesByFid, "all", ({ fid }) => [
      genericOf(context, fid, Store.StorageLends, ADDS),
    ]),
  };
}

function typesOf(reactionType: number | undefined): number[] {
  return reactionType ? [reactionType] : BOTH_TYPES;
}

function reactionTypeError(type: number | undefined): ReturnType<typeof refuse> | undefined {
  return !type || BOTH_TYPES.includes(type) ? undefined : invalidParam("Invalid reaction type");
}
