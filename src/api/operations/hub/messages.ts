import { perRows } from "../../../http/limits/prices.ts";
import { optional } from "../../../http/request/params.ts";
import type { MessageList } from "../../../read/hub/lists/message-lists.ts";
import type { Target } from "../../../read/hub/lists/single-messages.ts";
import type { PageQuery } from "../../../read/hub/page.ts";
import type { StoredMessage } from "../../../read/hub/stored-message.ts";
import { storedMessageJson, storedMessageText } from "./message-json.ts";
import { REACTION_TYPES, USER_DATA_TYPES } from "./names.ts";
import {
  cacheOfAll,
  hubRead,
  listReaderOf,
  markPartial,
  pageStream,
  type Shown,
  show,
  textFormat,
} from "./operation.ts";
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
import { HubMessage, HubMessages, HubMessagesOrOne } from "./schemas.ts";

interface PageParams {
  readonly pageSize: number;
  readonly pageToken: Uint8Array | undefined;
  readonly reverse: boolean;
  readonly withDataBytes: boolean;
}

export const list = { ...pageParams, ...dataBytesParam };

export const fidList = { fid: fidParam(), ...list };

const reactionType = enumParam("reaction_type", REACTION_TYPES);

export const hubMessageOperations = [
  hubRead({
    id: "hubCastById",
    path: "/castById",
    summary: "A live cast",
    query: { fid: fidParam(), hash: bytesParam("hash"), ...dataBytesParam },
    response: HubMessage,
    run: ({ reads }, { query }) =>
      show(reads.cast(query), (found) => storedMessageJson(found, query.withDataBytes)),
  }),
  hubRead({
    id: "hubCastsByFid",
    path: "/castsByFid",
    price: perRows(5),
    summary: "The casts of an fid, and the removes of casts",
    query: { ...fidList, ...timeParams },
    response: HubMessages,
    run: ({ reads }, { query, request }) =>
      respondWithMessages(reads.allCastMessagesByFid, query, query, request),
  }),
  hubRead({
    id: "hubCastsByParent",
    path: "/castsByParent",
    cache: cacheOfAll,
    price: perRows(5),
    summary: "The casts directly below a cast or a URL",
    query: {
      fid: optional(fidParam()),
      hash: optional(bytesParam("hash")),
      url: optional(textParam("url")),
      ...list,
    },
    response: HubMessages,
    run: ({ reads }, { query, request, set }) => {
      markPartial(reads, set);
      const { url, fid, hash } = query;
      return respondWithMessages(reads.castsByParent, { target: targetOf(url, fid, hash) }, query, request);
    },
  }),
  hubRead({
    id: "hubCastsByMention",
    path: "/castsByMention",
    cache: cacheOfAll,
    price: perRows(5),
    summary: "The casts that mention an fid",
    query: fidList,
    response: HubMessages,
    run: ({ reads }, { query, request, set }) => {
      markPartial(reads, set);
      return respondWithMessages(reads.castsByMention, query, query, request);
    },
  }),
  hubRead({
    id: "hubReactionById",
    path: "/reactionById",
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
    run: ({ reads }, { query }) => {
      const { fid, reactionType, targetFid, targetHash, targetUrl } = query;
      const target = targetOf(targetUrl, targetFid, targetHash);
      return show(reads.reaction({ fid, reactionType, target }), (found) =>
        storedMessageJson(found, query.withDataBytes),
      );
    },
  }),
  hubRead({
    id: "hubReactionsByFid",
    path: "/reactionsByFid",
    price: perRows(5),
    summary: "The reactions of an fid",
    query: { ...fidList, reactionType: optional(reactionType) },
    response: HubMessages,
    run: ({ reads }, { query, request }) => respondWithMessages(reads.reactionsByFid, query, query, request),
  }),
  hubRead({
    id: "hubReactionsByCast",
    path: "/reactionsByCast",
    cache: cacheOfAll,
    price: perRows(5),
    summary: "The reactions to a cast",
    query: {
      targetFid: fidParam("target_fid"),
      targetHash: bytesParam("target_hash"),
      reactionType: optional(reactionType),
      ...list,
    },
    response: HubMessages,
    run: ({ reads }, { query, request, set }) => {
      markPartial(reads, set);
      const { targetFid, targetHash, reactionType: type } = query;
      const target = targetOf(undefined, targetFid, targetHash);
      return respondWithMessages(reads.reactionsByTarget, { target, reactionType: type }, query, request);
    },
  }),
  hubRead({
    id: "hubReactionsByTarget",
    path: "/reactionsByTarget",
    cache: cacheOfAll,
    price: perRows(5),
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
    run: ({ reads }, { query, request, set }) => {
      markPartial(reads, set);
      const { url, targetUrl, targetFid, targetHash, castFid, castHash, reactionType: type } = query;
      const target = targetOf(url ?? targetUrl, targetFid ?? castFid, targetHash ?? castHash);
      return respondWithMessages(reads.reactionsByTarget, { target, reactionType: type }, query, request);
    },
  }),
  hubRead({
    id: "hubLinkById",
    path: "/linkById",
    summary: "A live link",
    query: {
      fid: fidParam(),
      targetFid: fidParam("target_fid"),
      linkType: textParam("link_type", { examples: ["follow"] }),
      ...dataBytesParam,
    },
    response: HubMessage,
    run: ({ reads }, { query }) =>
      show(reads.link(query), (found) => storedMessageJson(found, query.withDataBytes)),
  }),
  hubRead({
    id: "hubLinksByFid",
    path: "/linksByFid",
    price: perRows(5),
    summary: "The links of an fid",
    query: { ...fidList, linkType: optional(textParam("link_type")) },
    response: HubMessages,
    run: ({ reads }, { query, request }) => respondWithMessages(reads.linksByFid, query, query, request),
  }),
  hubRead({
    id: "hubLinksByTargetFid",
    path: "/linksByTargetFid",
    cache: cacheOfAll,
    price: perRows(5),
    summary: "The links of one type to an fid",
    query: {
      targetFid: fidParam("target_fid"),
      linkType: textParam("link_type", { examples: ["follow"] }),
      ...list,
    },
    response: HubMessages,
    run: ({ reads }, { query, request, set }) => {
      markPartial(reads, set);
      return respondWithMessages(reads.linksByTarget, query, query, request);
    },
  }),
  hubRead({
    id: "hubUserDataByFid",
    path: "/userDataByFid",
    price: perRows(5),
    summary: "The user data of an fid, or that of one type",
    query: { ...fidList, userDataType: optional(enumParam("user_data_type", USER_DATA_TYPES)) },
    response: HubMessagesOrOne,
    run: async ({ reads }, { query, request }) => {
      const { fid, userDataType, withDataBytes } = query;
      if (userDataType === undefined) return respondWithMessages(reads.userDataByFid, query, query, request);
      return show(reads.userData({ fid, userDataType }), (found) => listed(found, withDataBytes));
    },
  }),
  hubRead({
    id: "hubVerificationsByFid",
    path: "/verificationsByFid",
    price: perRows(5),
    summary: "The verified addresses of an fid, or one of them",
    query: { ...fidList, address: optional(bytesParam("address")) },
    response: HubMessagesOrOne,
    run: async ({ reads }, { query, request }) => {
      const { fid, address, withDataBytes } = query;
      if (address === undefined) return respondWithMessages(reads.verificationsByFid, query, query, request);
      return show(reads.verification({ fid, address }), (found) => listed(found, withDataBytes));
    },
  }),
];

function targetOf(
  url: string | undefined,
  fid: number | undefined,
  hash: Uint8Array | undefined,
): Target | undefined {
  if (url !== undefined) return { url };
  return fid === undefined || hash === undefined ? undefined : { fid, hash };
}

async function respondWithMessages<Query>(
  read: MessageList<Query>,
  query: Query,
  params: PageParams,
  request: Request,
): Promise<Shown> {
  const page: Query & PageQuery = { ...query, ...pageOf(params) };
  const format = textFormat((stored: StoredMessage) => storedMessageText(stored, params.withDataBytes));
  return show(await read(page, format, listReaderOf(request)), (found) => pageStream("messages", found));
}

/** Shows a single requested message both by itself and in a list, because clients of Hubble and of snapchain expect different forms. */
function listed(stored: StoredMessage, withDataBytes: boolean): Shown {
  const json = storedMessageJson(stored, withDataBytes);
  return { ...json, messages: [json], nextPageToken: "" };
}
