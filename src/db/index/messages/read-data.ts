import { toUnixSecs } from "../../../protocol/time.ts";
import { type CastId, MessageType } from "../../../protocol/wire/generated/message.ts";
import {
  type CastColumns,
  type LinkColumns,
  type ReactionColumns,
  storedLinkType,
  type TypedColumns,
  type UserDataColumns,
} from "./columns.ts";
import { CastIdTag, CastTag, DataTag, LinkTag, ReactionTag, UserDataTag } from "./fields.ts";
import { WireReader } from "./wire.ts";

/** The fields that precede the body. */
interface Head {
  readonly fid: number;
  readonly timestamp: number;
}

// Reading is synchronous, so all calls share one reader.
const reader = new WireReader();

/**
 * Reads the columns of a cast, reaction, link or user data from the signed bytes, in a third of the time of the generated
 * decoder. Returns undefined for other types, and for bytes in an unusual form, for which the caller uses the generated
 * decoder. The bytes must be those of a valid message; blobs of the result are views of them.
 */
export function readColumns(data: Uint8Array): TypedColumns | undefined {
  reader.reset(data);
  const type = reader.uint32(DataTag.Type);
  const fid = reader.number(DataTag.Fid);
  const head = { fid, timestamp: toUnixSecs(reader.uint32(DataTag.Timestamp)) };
  reader.uint32(DataTag.Network);
  const columns = readBody(type, head);
  return columns === undefined || reader.failed || reader.left > 0 ? undefined : columns;
}

function readBody(type: number, head: Head): TypedColumns | undefined {
  switch (type) {
    case MessageType.MESSAGE_TYPE_CAST_ADD:
      return beginsBody(DataTag.CastAddBody) ? readCast(head) : undefined;
    case MessageType.MESSAGE_TYPE_REACTION_ADD:
      return beginsBody(DataTag.ReactionBody) ? readReaction(head) : undefined;
    case MessageType.MESSAGE_TYPE_LINK_ADD:
      return beginsBody(DataTag.LinkBody) ? readLink(head) : undefined;
    case MessageType.MESSAGE_TYPE_USER_DATA_ADD:
      return beginsBody(DataTag.UserDataBody) ? readUserData(head) : undefined;
    default:
      return undefined;
  }
}

/** Reads the tag and the length of the body, which must end where the data ends. */
function beginsBody(tag: number): boolean {
  return reader.take(tag) && reader.length() === reader.left;
}

function readCast({ fid, timestamp }: Head): CastColumns {
  const first = reader.at;
  while (reader.take(CastTag.EmbedDeprecated)) reader.skip();
  if (reader.take(CastTag.Mentions)) reader.skip();
  const firstEnd = reader.at;

  const parent = reader.take(CastTag.ParentCastId) ? readCastId() : undefined;
  const parentUrl = !parent && reader.take(CastTag.ParentUrl) ? reader.text() : null;
  const text = reader.take(CastTag.Text) ? reader.text() : "";

  const second = reader.at;
  if (reader.take(CastTag.MentionsPositions)) reader.skip();
  while (reader.take(CastTag.Embed)) reader.skip();
  reader.uint32(CastTag.Type);
  const rest = joined(reader.view(first, firstEnd), reader.view(second, reader.at));
  return {
    table: "casts",
    fid,
    timestamp,
    text,
    parentFid: parent?.fid ?? null,
    parentHash: parent?.hash ?? null,
    parentUrl,
    rest,
  };
}

function readReaction({ fid, timestamp }: Head): ReactionColumns {
  const type = reader.uint32(ReactionTag.Type);
  const target = reader.take(ReactionTag.TargetCastId) ? readCastId() : undefined;
  const targetUrl = !target && reader.take(ReactionTag.TargetUrl) ? reader.text() : null;
  return {
    table: "reactions",
    fid,
    timestamp,
    type,
    targetFid: target?.fid ?? 0,
    targetHash: target?.hash ?? null,
    targetUrl,
  };
}

/** A link without a target has no columns, because the target is stored as a number and 0 is a valid one. */
function readLink({ fid, timestamp }: Head): LinkColumns | undefined {
  const type = storedLinkType(reader.take(LinkTag.Type) ? reader.text() : "");
  const displayedAt = reader.take(LinkTag.DisplayTimestamp) ? toUnixSecs(reader.varint32()) : null;
  if (!reader.take(LinkTag.TargetFid)) return undefined;
  const targetFid = reader.varint();
  return { table: "links", fid, timestamp, type, targetFid, displayedAt };
}

function readUserData({ fid, timestamp }: Head): UserDataColumns {
  const type = reader.uint32(UserDataTag.Type);
  const value = reader.take(UserDataTag.Value) ? reader.text() : "";
  return { table: "user_data", fid, timestamp, type, value };
}

function readCastId(): CastId {
  const length = reader.length();
  const end = reader.at + length;
  const fid = reader.number(CastIdTag.Fid);
  const hash = reader.take(CastIdTag.Hash) ? reader.bytes() : new Uint8Array();
  if (reader.at !== end) reader.failed = true;
  return { fid, hash };
}

/** Joins the parts of a body into `casts.rest`; null if both are empty. */
function joined(first: Uint8Array, second: Uint8Array): Uint8Array | null {
  if (first.length === 0) return second.length === 0 ? null : second;
  return second.length === 0 ? first : Buffer.concat([first, second]);
}
