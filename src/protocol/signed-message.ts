import { BinaryReader } from "@bufbuild/protobuf/wire";
import { err, ok, type Result } from "../lib/result.ts";
import { decodeMessageData, MAX_DATA_BYTES_OF_ANY_TYPE } from "./message-data.ts";
import { messageHash } from "./message-hash.ts";
import { type Rejection, rejection } from "./rejection.ts";
import { Message, MessageData } from "./wire/generated/message.ts";
import { MESSAGE_SCHEMA } from "./wire/generated/wire-schemas.ts";
import { findWireError } from "./wire-check.ts";

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
 * Decodes a wire `Message`. If `data_bytes` is set, the envelope's own `data` is ignored because no signature covers
 * it. Otherwise the signed bytes are `data` as it was sent, if it has the hash of the message: published clients hash an encoding
 * that is not canonical. If it has another, `data` is encoded again in canonical form, as the reference node does. Returns a
 * `bad_request.parse_failure` for bytes that are not a message, and for integers above 2^53 - 1.
 */
export function decodeMessage(bytes: Uint8Array): Result<SignedMessage, Rejection> {
  try {
    const error = findWireError(bytes, MESSAGE_SCHEMA);
    if (error !== undefined) return err(parseFailure(error));
    const message = Message.decode(bytes);
    return fromWire(message, hasDataBytes(message) ? undefined : fieldOf(bytes, DATA_FIELD));
  } catch (cause) {
    return err(parseFailure(cause));
  }
}

/** Like `decodeMessage`, for an envelope that is already decoded. */
export function signedMessageFromWire(message: Message): Result<SignedMessage, Rejection> {
  try {
    return fromWire(message);
  } catch (cause) {
    return err(parseFailure(cause));
  }
}

const DATA_FIELD = 1;
const HASH_FIELD = 2;
const LENGTH_DELIMITED = 2;

/**
 * Returns the hash field of an encoded message without decoding the rest; undefined if it cannot be read. The hash is
 * not verified.
 */
export function claimedHash(bytes: Uint8Array): Uint8Array | undefined {
  try {
    return fieldOf(bytes, HASH_FIELD);
  } catch {
    return undefined;
  }
}

/** Returns the last value of a field of bytes. */
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

/** Encodes a message in the form in which the node stores it: `data_bytes` only, without `data`. */
export function encodeMessage(message: SignedMessage): Uint8Array {
  return Message.encode(toWire(message)).finish();
}

/** Returns the wire object of a message, with `data_bytes` only. */
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

/** @param sentData `data` as it was sent, if the message has no `data_bytes`. */
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
