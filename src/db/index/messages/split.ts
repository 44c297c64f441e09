import { slotOf } from "../../../protocol/merge-rules.ts";
import type { SignedMessage } from "../../../protocol/signed-message.ts";
import { toUnixSecs } from "../../../protocol/time.ts";
import {
  CastAddBody,
  type FarcasterNetwork,
  type MessageData,
  MessageType,
} from "../../../protocol/wire/generated/message.ts";
import type { MessageColumns, SplitMessage, TypedColumns } from "./columns.ts";
import { encodesTo } from "./encode-data.ts";
import { storedLinkType } from "./link-type.ts";
import { readColumns } from "./read-data.ts";

/**
 * Splits a valid message into the values of its columns and its envelope. Whether the envelope needs the signed bytes is
 * decided by encoding the columns and comparing: what is stored gives the signed bytes in any case. `network` is that of
 * the index.
 */
export function splitMessage(message: SignedMessage, network: FarcasterNetwork): SplitMessage {
  const { dataBytes, hash, signature, signer } = message;
  const columns = columnsOf(message);
  const isRebuilt = columns.table !== "messages" && encodesTo(columns, network, dataBytes);
  return { columns, envelope: { signer, signature, data: isRebuilt ? null : dataBytes }, hash };
}

/** Returns the values of the columns of a valid message. */
export function columnsOf(message: SignedMessage): MessageColumns {
  const typed = readColumns(message.dataBytes) ?? typedColumnsOf(message.data);
  if (typed) return typed;
  const { fid, timestamp } = message.data;
  return { table: "messages", fid, timestamp, ...slotOf(message) };
}

function typedColumnsOf({ type, fid, timestamp, body }: MessageData): TypedColumns | undefined {
  const head = { fid, timestamp: toUnixSecs(timestamp) };
  switch (body?.$case) {
    case "castAddBody": {
      const { text, parent } = body.value;
      const cast = parent?.$case === "parentCastId" ? parent.value : undefined;
      const parentUrl = parent?.$case === "parentUrl" ? parent.value : null;
      const rest = CastAddBody.encode({ ...body.value, text: "", parent: undefined }).finish();
      return {
        table: "casts",
        ...head,
        text,
        parentFid: cast?.fid ?? null,
        parentHash: cast?.hash ?? null,
        parentUrl,
        rest: rest.length === 0 ? null : rest,
      };
    }
    case "reactionBody": {
      if (type !== MessageType.MESSAGE_TYPE_REACTION_ADD) return undefined;
      const { target } = body.value;
      const cast = target?.$case === "targetCastId" ? target.value : undefined;
      const targetUrl = target?.$case === "targetUrl" ? target.value : null;
      return {
        table: "reactions",
        ...head,
        type: body.value.type,
        targetFid: cast?.fid ?? 0,
        targetHash: cast?.hash ?? null,
        targetUrl,
      };
    }
    case "linkBody": {
      if (type !== MessageType.MESSAGE_TYPE_LINK_ADD) return undefined;
      const { target, displayTimestamp } = body.value;
      const displayedAt = displayTimestamp === undefined ? null : toUnixSecs(displayTimestamp);
      return {
        table: "links",
        ...head,
        type: storedLinkType(body.value.type),
        targetFid: target?.value ?? 0,
        displayedAt,
      };
    }
    case "userDataBody":
      return { table: "user_data", ...head, type: body.value.type, value: body.value.value };
    default:
      return undefined;
  }
}
