import { toFarcasterSecs } from "../../../protocol/time.ts";
import { type FarcasterNetwork, MessageType } from "../../../protocol/wire/generated/message.ts";
import {
  type CastColumns,
  type LinkColumns,
  linkTypeOf,
  type ReactionColumns,
  type TypedColumns,
  type UserDataColumns,
} from "./columns.ts";
import {
  CastIdTag,
  CastTag,
  DataTag,
  LinkTag,
  ReactionTag,
  startOfSecondPart,
  UserDataTag,
} from "./fields.ts";
import { numberBytes, varintBytes, WireWriter } from "./wire.ts";

/** Maximum size of the head: type, fid, timestamp, network, and the tag and length of the body. */
const HEAD_BYTES = 40;

// Encoding is synchronous, so all calls share one buffer.
const writer = new WireWriter();

/**
 * Encodes the data of a message from its columns in the canonical form of the generated encoder, in a fifth of its time.
 * Every message passes through here when it is merged and when it is read. A property test compares the two encoders.
 */
export function encodeData(columns: TypedColumns, network: FarcasterNetwork): Uint8Array {
  return writer.copy(write(columns, network));
}

/** Returns the hash of the message that has these columns. */
export function hashOfColumns(columns: TypedColumns, network: FarcasterNetwork): Uint8Array {
  return writer.hash(write(columns, network));
}

/** Reports whether `encodeData` of the columns produces `data`. */
export function encodesTo(columns: TypedColumns, network: FarcasterNetwork, data: Uint8Array): boolean {
  return writer.equals(write(columns, network), data);
}

/** Writes the data and returns its start. The body is written first, since its length precedes it. */
function write(columns: TypedColumns, network: FarcasterNetwork): number {
  writer.at = HEAD_BYTES;
  switch (columns.table) {
    case "casts":
      writeCast(columns);
      return writeHead(columns, MessageType.MESSAGE_TYPE_CAST_ADD, network, DataTag.CastAddBody);
    case "reactions":
      writeReaction(columns);
      return writeHead(columns, MessageType.MESSAGE_TYPE_REACTION_ADD, network, DataTag.ReactionBody);
    case "links":
      writeLink(columns);
      return writeHead(columns, MessageType.MESSAGE_TYPE_LINK_ADD, network, DataTag.LinkBody);
    case "user_data":
      writeUserData(columns);
      return writeHead(columns, MessageType.MESSAGE_TYPE_USER_DATA_ADD, network, DataTag.UserDataBody);
  }
}

/** Writes the fields before the body, backwards from where it starts. */
function writeHead(columns: TypedColumns, type: number, network: number, bodyTag: number): number {
  const end = writer.at;
  const bodyBytes = end - HEAD_BYTES;
  const timestamp = toFarcasterSecs(columns.timestamp);
  const headBytes =
    numberBytes(type) +
    numberBytes(columns.fid) +
    numberBytes(timestamp) +
    numberBytes(network) +
    1 +
    varintBytes(bodyBytes);
  const start = HEAD_BYTES - headBytes;
  writer.at = start;
  writer.number(DataTag.Type, type);
  writer.number(DataTag.Fid, columns.fid);
  writer.number(DataTag.Timestamp, timestamp);
  writer.number(DataTag.Network, network);
  writer.tag(bodyTag);
  writer.varint(bodyBytes);
  writer.at = end;
  return start;
}

function writeCast({ text, parentFid, parentHash, parentUrl, rest }: CastColumns): void {
  const second = rest === null ? 0 : startOfSecondPart(rest);
  writer.reserve(
    (rest?.length ?? 0) + (parentHash?.length ?? 0) + 3 * (text.length + (parentUrl?.length ?? 0)),
  );
  if (second > 0 && rest !== null) writer.raw(rest, 0, second);
  if (parentHash !== null) writeCastId(CastTag.ParentCastId, parentFid ?? 0, parentHash);
  else if (parentUrl !== null) writer.text(CastTag.ParentUrl, parentUrl);
  if (text !== "") writer.text(CastTag.Text, text);
  if (rest !== null) writer.raw(rest, second, rest.length);
}

function writeReaction({ type, targetFid, targetHash, targetUrl }: ReactionColumns): void {
  writer.reserve((targetHash?.length ?? 0) + 3 * (targetUrl?.length ?? 0));
  writer.number(ReactionTag.Type, type);
  if (targetHash !== null) writeCastId(ReactionTag.TargetCastId, targetFid, targetHash);
  else if (targetUrl !== null) writer.text(ReactionTag.TargetUrl, targetUrl);
}

function writeLink({ type, targetFid, displayedAt }: LinkColumns): void {
  const name = linkTypeOf(type);
  writer.reserve(3 * name.length);
  if (name !== "") writer.text(LinkTag.Type, name);
  if (displayedAt !== null) {
    // Optional fields and members of a oneof are written even if they are 0.
    writer.tag(LinkTag.DisplayTimestamp);
    writer.varint(toFarcasterSecs(displayedAt));
  }
  writer.tag(LinkTag.TargetFid);
  writer.varint(targetFid);
}

function writeUserData({ type, value }: UserDataColumns): void {
  writer.reserve(3 * value.length);
  writer.number(UserDataTag.Type, type);
  if (value !== "") writer.text(UserDataTag.Value, value);
}

function writeCastId(tag: number, fid: number, hash: Uint8Array): void {
  const hashBytes = hash.length === 0 ? 0 : 1 + varintBytes(hash.length) + hash.length;
  writer.tag(tag);
  writer.varint(numberBytes(fid) + hashBytes);
  writer.number(CastIdTag.Fid, fid);
  if (hashBytes > 0) writer.bytes(CastIdTag.Hash, hash);
}
