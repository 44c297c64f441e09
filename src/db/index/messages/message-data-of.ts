import { toFarcasterSecs } from "../../../protocol/time.ts";
import {
  type CastAddBody,
  type FarcasterNetwork,
  type MessageData,
  MessageType,
} from "../../../protocol/wire/generated/message.ts";
import type { CastColumns, LinkColumns, ReactionColumns, TypedColumns } from "./columns.ts";
import { linkTypeOf } from "./link-type.ts";
import { decodeRest } from "./rest.ts";

/** Builds the decoded data of a message from its columns. */
export function messageDataOf(columns: TypedColumns, network: FarcasterNetwork): MessageData {
  const { type, body } = bodyOf(columns);
  return { type, fid: columns.fid, timestamp: toFarcasterSecs(columns.timestamp), network, body };
}

function bodyOf(columns: TypedColumns): Pick<MessageData, "type" | "body"> {
  switch (columns.table) {
    case "casts":
      return {
        type: MessageType.MESSAGE_TYPE_CAST_ADD,
        body: {
          $case: "castAddBody",
          value: { ...decodeRest(columns.rest), text: columns.text, parent: parentOf(columns) },
        },
      };
    case "reactions":
      return {
        type: MessageType.MESSAGE_TYPE_REACTION_ADD,
        body: { $case: "reactionBody", value: { type: columns.type, target: targetOf(columns) } },
      };
    case "links":
      return { type: MessageType.MESSAGE_TYPE_LINK_ADD, body: { $case: "linkBody", value: linkOf(columns) } };
    case "user_data":
      return {
        type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
        body: { $case: "userDataBody", value: { type: columns.type, value: columns.value } },
      };
  }
}

function parentOf({ parentFid, parentHash, parentUrl }: CastColumns): CastAddBody["parent"] {
  if (parentHash !== null) return { $case: "parentCastId", value: { fid: parentFid ?? 0, hash: parentHash } };
  return parentUrl === null ? undefined : { $case: "parentUrl", value: parentUrl };
}

function targetOf({ targetFid, targetHash, targetUrl }: ReactionColumns) {
  if (targetHash !== null)
    return { $case: "targetCastId" as const, value: { fid: targetFid, hash: targetHash } };
  return targetUrl === null ? undefined : { $case: "targetUrl" as const, value: targetUrl };
}

function linkOf({ type, targetFid, displayedAt }: LinkColumns) {
  return {
    type: linkTypeOf(type),
    displayTimestamp: displayedAt === null ? undefined : toFarcasterSecs(displayedAt),
    target: { $case: "targetFid" as const, value: targetFid },
  };
}
