import { BinaryReader } from "@bufbuild/protobuf/wire";
import { err, ok, type Result } from "../../lib/result.ts";
import { invalid, type Rejection, rejection } from "../rejection.ts";
import { CastType, Message, MessageData } from "../wire/generated/message.ts";
import { MESSAGE_DATA_SCHEMA, MESSAGE_SCHEMA } from "../wire/generated/wire-schemas.ts";
import { findWireError } from "../wire-check.ts";
import { messageHash } from "./message-hash.ts";

/**
 * A decoded message: the fields of its envelope, and the data that its hash covers. `data` is always decoded from
 * `dataBytes`.
 */
export interface SignedMessage {
  readonly data: MessageData;
  readonly dataBytes: Uint8Array;
  readonly hash: Uint8Array;
  readonly hashScheme: number;
  readonly signature: Uint8Array;
  readonly signatureScheme: number;
  readonly signer: Uint8Array;
}

/**
 * Decodes a wire `Message`. If `data_bytes` is set, the envelope's own `data` is ignored, because no signature covers it.
 * Otherwise the signed bytes are `data` as sent, if it has the hash of the message: published clients hash an encoding that
 * is not canonical. If its hash differs, `data` is encoded again in canonical form, as the reference node does. Returns a
 * `bad_request.parse_failure` for bytes that are not a message, or that are larger than any message. Integers above 2^53 - 1
 * are read as 2^53 - 1.
 */
export function decodeMessage(bytes: Uint8Array): Result<SignedMessage, Rejection> {
  if (bytes.length > MAX_MESSAGE_BYTES)
    return err(parseFailure(`it is larger than ${MAX_MESSAGE_BYTES} bytes`));
  try {
    const error = findWireError(bytes, MESSAGE_SCHEMA);
    if (error !== undefined) return err(parseFailure(error));
    const message = Message.decode(bytes);
    return fromWire(message, hasDataBytes(message) ? undefined : fieldOf(bytes, DATA_FIELD));
  } catch (cause) {
    return err(parseFailure(cause));
  }
}

export type DecodeMessage = typeof decodeMessage;

/** Returns a `decodeMessage` that decodes the bytes of each array only once. The bytes must not change. */
export function decodingOnce(): DecodeMessage {
  const decoded = new Map<Uint8Array, ReturnType<DecodeMessage>>();
  return (bytes) => decoded.getOrInsertComputed(bytes, decodeMessage);
}

/** Like `decodeMessage`, for an envelope that is already decoded. */
export function signedMessageFromWire(message: Message): Result<SignedMessage, Rejection> {
  try {
    return fromWire(message);
  } catch (cause) {
    return err(parseFailure(cause));
  }
}

/**
 * Twice the largest data, plus as much for the rest of the envelope. Once decoded, empty items need eighty times their
 * bytes.
 */
const MAX_MESSAGE_BYTES = 262_144;

const DATA_FIELD = 1;
const HASH_FIELD = 2;
const LENGTH_DELIMITED = 2;

/**
 * Returns the hash field of an encoded message without decoding the rest; undefined if it cannot be read. The hash is not
 * verified.
 */
export function claimedHash(bytes: Uint8Array): Uint8Array | undefined {
  try {
    return fieldOf(bytes, HASH_FIELD);
  } catch {
    return undefined;
  }
}

/** Returns the last value of a bytes field. */
function fieldOf(bytes: Uint8Array, wanted: number): Uint8Array | undefined {
  let value: Uint8Array | undefined;
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === wanted && wireType === LENGTH_DELIMITED) value = reader.bytes();
    else reader.skip(wireType, field);
  }
  return value;
}

/** Encodes a message in the form in which the node stores it: only `data_bytes`, without `data`. */
export function encodeMessage(message: SignedMessage): Uint8Array {
  return Message.encode(toWire(message)).finish();
}

/** Returns the wire object of a message, with only `data_bytes`. */
export function toWire(message: SignedMessage): Message {
  return {
    data: undefined,
    hash: message.hash,
    hashScheme: message.hashScheme,
    signature: message.signature,
    signatureScheme: message.signatureScheme,
    signer: message.signer,
    dataBytes: message.dataBytes,
  };
}

function hasDataBytes({ dataBytes }: Message): boolean {
  return dataBytes !== undefined && dataBytes.length > 0;
}

/** @param sentData `data` as sent, if the message has no `data_bytes`. */
function fromWire(message: Message, sentData?: Uint8Array): Result<SignedMessage, Rejection> {
  const dataBytes = hasDataBytes(message) ? message.dataBytes : signedData(message, sentData);
  if (!dataBytes)
    return err(rejection("bad_request.parse_failure", "message has neither data_bytes nor data"));
  const data = decodeMessageData(dataBytes);
  if (!data.ok) return data;
  return ok({
    data: data.value,
    dataBytes,
    hash: message.hash,
    hashScheme: message.hashScheme,
    signature: message.signature,
    signatureScheme: message.signatureScheme,
    signer: message.signer,
  });
}

function signedData({ data, hash }: Message, sentData: Uint8Array | undefined): Uint8Array | undefined {
  const isRead = sentData !== undefined && sentData.length <= MAX_DATA_BYTES_OF_ANY_TYPE;
  if (isRead && Buffer.compare(messageHash(sentData), hash) === 0) return sentData;
  return data && MessageData.encode(data).finish();
}

function parseFailure(cause: unknown): Rejection {
  const detail = cause instanceof Error ? cause.message : cause;
  return rejection("bad_request.parse_failure", `message cannot be decoded: ${detail}`);
}

/** Size of the largest data of any message type (a compact link state). Larger data is refused before it is decoded. */
export const MAX_DATA_BYTES_OF_ANY_TYPE = 65_536;

/**
 * Decodes the data of a message as strictly as the reference node: invalid UTF-8, wrong wire types and inconsistent lengths
 * are a `bad_request.parse_failure`.
 */
export function decodeMessageData(dataBytes: Uint8Array): Result<MessageData, Rejection> {
  if (dataBytes.length > MAX_DATA_BYTES_OF_ANY_TYPE) {
    return err(invalid(`data is larger than ${MAX_DATA_BYTES_OF_ANY_TYPE} bytes`));
  }
  const error = findWireError(dataBytes, MESSAGE_DATA_SCHEMA);
  if (error !== undefined) return err(rejection("bad_request.parse_failure", `data: ${error}`));
  return ok(MessageData.decode(dataBytes));
}

/**
 * Encodes a message given as JSON in the form that the protocol's libraries write: bytes in base64, enums by name or number,
 * keys in camel or snake case. With `dataBytes`, `data` is not read, because nothing signs it. Otherwise `data` is encoded.
 *
 * @returns the bytes of a message that is not validated, or why there are none.
 */
export function messageFromJson(json: unknown): Result<Uint8Array, string> {
  if (typeof json !== "object" || json === null || Array.isArray(json))
    return err("a message must be a JSON object");
  const hasDataBytes = ["dataBytes", "data_bytes"].some((key) => isText(Reflect.get(json, key)));
  try {
    const data = hasDataBytes ? undefined : withCastType(Reflect.get(json, "data"));
    const message = Message.fromJSON({ ...json, data });
    return ok(Message.encode(message).finish());
  } catch {
    return err("the request body is no message in the JSON of the protocol's libraries");
  }
}

/** The libraries write the type of a cast as `LONG_CAST`, without the prefix that the names of all other enums have. */
function withCastType(data: unknown): unknown {
  if (typeof data !== "object" || data === null) return data;
  const entries = Object.entries(data).map(([key, body]) => {
    const name = `CAST_TYPE_${body?.type}`;
    const isNamed = (key === "castAddBody" || key === "cast_add_body") && name in CastType;
    return [key, isNamed ? { ...body, type: name } : body];
  });
  return Object.fromEntries(entries);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** Returns the fids, other than its author, that a response with the message shows; may include 0 and repeated fids. */
export function mentionedFids({ body }: MessageData): number[] {
  switch (body?.$case) {
    case "castAddBody": {
      const { mentions, parent, embeds } = body.value;
      const embedded = embeds.flatMap(({ embed }) => (embed?.$case === "castId" ? [embed.value.fid] : []));
      return [...mentions, ...embedded, ...(parent?.$case === "parentCastId" ? [parent.value.fid] : [])];
    }
    case "reactionBody":
      return body.value.target?.$case === "targetCastId" ? [body.value.target.value.fid] : [];
    case "linkBody":
      return [body.value.target?.value ?? 0];
    default:
      return [];
  }
}
