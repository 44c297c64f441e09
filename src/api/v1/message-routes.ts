import { Elysia } from "elysia";
import { optional } from "../../http/params.ts";
import type { HubReads } from "../../read/hub/hub-reads.ts";
import type { MessageList } from "../../read/hub/message-lists.ts";
import type { PageQuery } from "../../read/hub/page.ts";
import type { Target } from "../../read/hub/single-messages.ts";
import type { StoredMessage } from "../../read/hub/stored-message.ts";
import { hubRead } from "./hub-operation.ts";
import { storedMessageJson, storedMessageText } from "./message-json.ts";
import { REACTION_TYPES, USER_DATA_TYPES } from "./names.ts";
import {
  bytesParam,
  dataBytesParam,
  enumParam,
  fidParam,
  pageOf,
  pageParams,
  textParam,
  timeParams,
} from "./params.ts";
import { listReaderOf, pageStream, type Shown, show, textFormat } from "./responses.ts";
import { HubMessage, HubMessages, HubMessagesOrOne } from "./schemas.ts";

interface PageParams {
  readonly pageSize: number;
  readonly pageToken: Uint8Array | undefined;
  readonly reverse: boolean;
  readonly withDataBytes: boolean;
}

const list = { ...pageParams, ...dataBytesParam };
const fidList = { fid: fidParam(), ...list };
const reactionType = enumParam("reaction_type", REACTION_TYPES);

/** The routes of messages. */
export function messageRoutes(reads: HubReads) {
  // A list over all fids says in a header that it is partial, and cached responses have no headers of their own.
  const overAll = reads.isPartial ? undefined : "shared";
  const mark = (set: { headers: Record<string, unknown> }): void => {
    if (reads.isPartial) set.headers["x-partial"] = "fids";
  };
  const messages = async <Query>(
    read: MessageList<Query>,
    query: Query,
    params: PageParams,
    request: Request,
  ): Promise<Shown> => {
    const page: Query & PageQuery = { ...query, ...pageOf(params) };
    const format = textFormat((stored: StoredMessage) => storedMessageText(stored, params.withDataBytes));
    return show(await read(page, format, listReaderOf(request)), (found) => pageStream("messages", found));
  };
  /** The one message that was asked for, alone and in a list: clients of Hubble and of snapchain read it. */
  const listed = (stored: StoredMessage, withDataBytes: boolean): Shown => {
    const json = storedMessageJson(stored, withDataBytes);
    return { ...json, messages: [json], nextPageToken: "" };
  };

  return new Elysia({ name: "hub-messages" })
    .get(
      "/castById",
      ({ query }) => show(reads.cast(query), (found) => storedMessageJson(found, query.withDataBytes)),
      hubRead({
        id: "CastById",
        summary: "A live cast",
        query: { fid: fidParam(), hash: bytesParam("hash"), ...dataBytesParam },
        response: HubMessage,
        cache: "shared",
      }),
    )
    .get(
      "/castsByFid",
      ({ query, request }) => messages(reads.allCastMessagesByFid, query, query, request),
      hubRead({
        id: "CastsByFid",
        summary: "The casts of an fid, and the removes of casts",
        query: { ...fidList, ...timeParams },
        response: HubMessages,
        cache: "shared",
      }),
    )
    .get(
      "/castsByParent",
      ({ query, request, set }) => {
        mark(set);
        const { url, fid, hash } = query;
        return messages(reads.castsByParent, { target: targetOf(url, fid, hash) }, query, request);
      },
      hubRead({
        id: "CastsByParent",
        summary: "The casts directly below a cast or a URL",
        query: {
          fid: optional(fidParam()),
          hash: optional(bytesParam("hash")),
          url: optional(textParam("url")),
          ...list,
        },
        response: HubMessages,
        cache: overAll,
      }),
    )
    .get(
      "/castsByMention",
      ({ query, request, set }) => {
        mark(set);
        return messages(reads.castsByMention, query, query, request);
      },
      hubRead({
        id: "CastsByMention",
        summary: "The casts that mention an fid",
        query: fidList,
        response: HubMessages,
        cache: overAll,
      }),
    )
    .get(
      "/reactionById",
      ({ query }) => {
        const { fid, reactionType, targetFid, targetHash, targetUrl } = query;
        const target = targetOf(targetUrl, targetFid, targetHash);
        return show(reads.reaction({ fid, reactionType, target }), (found) =>
          storedMessageJson(found, query.withDataBytes),
        );
      },
      hubRead({
        id: "ReactionById",
        summary: "A live reaction",
        query: {
          fid: fidParam(),
          reactionType,
          targetFid: optional(fidParam("target_fid")),
          targetHash: optional(bytesParam("target_hash")),
          targetUrl: optional(textParam("target_url")),
          ...dataBytesParam,
        },
        response: HubMessage,
        cache: "shared",
      }),
    )
    .get(
      "/reactionsByFid",
      ({ query, request }) => messages(reads.reactionsByFid, query, query, request),
      hubRead({
        id: "ReactionsByFid",
        summary: "The reactions of an fid",
        query: { ...fidList, reactionType: optional(reactionType) },
        response: HubMessages,
        cache: "shared",
      }),
    )
    .get(
      "/reactionsByCast",
      ({ query, request, set }) => {
        mark(set);
        const { targetFid, targetHash, reactionType: type } = query;
        const target = targetOf(undefined, targetFid, targetHash);
        return messages(reads.reactionsByTarget, { target, reactionType: type }, query, request);
      },
      hubRead({
        id: "ReactionsByCast",
        summary: "The reactions to a cast",
        query: {
          targetFid: fidParam("target_fid"),
          targetHash: bytesParam("target_hash"),
          reactionType: optional(reactionType),
          ...list,
        },
        response: HubMessages,
        cache: overAll,
      }),
    )
    .get(
      "/reactionsByTarget",
      ({ query, request, set }) => {
        mark(set);
        const { url, targetUrl, targetFid, targetHash, castFid, castHash, reactionType: type } = query;
        const target = targetOf(url ?? targetUrl, targetFid ?? castFid, targetHash ?? castHash);
        return messages(reads.reactionsByTarget, { target, reactionType: type }, query, request);
      },
      hubRead({
        id: "ReactionsByTarget",
        summary: "The reactions to a cast or a URL",
        query: {
          url: optional(textParam("url")),
          targetUrl: optional(textParam("target_url")),
          targetFid: optional(fidParam("target_fid")),
          targetHash: optional(bytesParam("target_hash")),
          castFid: optional({ ...fidParam(), keys: ["target_cast_id[fid]", "targetCastId[fid]"] }),
          castHash: optional({
            ...bytesParam("hash"),
            keys: ["target_cast_id[hash]", "targetCastId[hash]"],
          }),
          reactionType: optional(reactionType),
          ...list,
        },
        response: HubMessages,
        cache: overAll,
      }),
    )
    .get(
      "/linkById",
      ({ query }) => show(reads.link(query), (found) => storedMessageJson(found, query.withDataBytes)),
      hubRead({
        id: "LinkById",
        summary: "A live link",
        query: {
          fid: fidParam(),
          targetFid: fidParam("target_fid"),
          linkType: textParam("link_type", { examples: ["follow"] }),
          ...dataBytesParam,
        },
        response: HubMessage,
        cache: "shared",
      }),
    )
    .get(
      "/linksByFid",
      ({ query, request }) => messages(reads.linksByFid, query, query, request),
      hubRead({
        id: "LinksByFid",
        summary: "The links of an fid",
        query: { ...fidList, linkType: optional(textParam("link_type")) },
        response: HubMessages,
        cache: "shared",
      }),
    )
    .get(
      "/linksByTargetFid",
      ({ query, request, set }) => {
        mark(set);
        return messages(reads.linksByTarget, query, query, request);
      },
      hubRead({
        id: "LinksByTargetFid",
        summary: "The links of one type to an fid",
        query: {
          targetFid: fidParam("target_fid"),
          linkType: textParam("link_type", { examples: ["follow"] }),
          ...list,
        },
        response: HubMessages,
        cache: overAll,
      }),
    )
    .get(
      "/userDataByFid",
      async ({ query, request }) => {
        const { fid, userDataType, withDataBytes } = query;
        if (userDataType === undefined) return messages(reads.userDataByFid, query, query, request);
        return show(reads.userData({ fid, userDataType }), (found) => listed(found, withDataBytes));
      },
      hubRead({
        id: "UserDataByFid",
        summary: "The user data of an fid, or that of one type",
        query: { ...fidList, userDataType: optional(enumParam("user_data_type", USER_DATA_TYPES)) },
        response: HubMessagesOrOne,
        cache: "shared",
      }),
    )
    .get(
      "/verificationsByFid",
      async ({ query, request }) => {
        const { fid, address, withDataBytes } = query;
        if (address === undefined) return messages(reads.verificationsByFid, query, query, request);
        return show(reads.verification({ fid, address }), (found) => listed(found, withDataBytes));
      },
      hubRead({
        id: "VerificationsByFid",
        summary: "The verified addresses of an fid, or one of them",
        query: { ...fidList, address: optional(bytesParam("address")) },
        response: HubMessagesOrOne,
        cache: "shared",
      }),
    );
}

function targetOf(
  url: string | undefined,
  fid: number | undefined,
  hash: Uint8Array | undefined,
): Target | undefined {
  if (url !== undefined) return { url };
  return fid === undefined || hash === undefined ? undefined : { fid, hash };
}
