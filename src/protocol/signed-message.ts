import { BinaryReader } from "@bufbuild/protobuf/wire";
import { err, ok, type Result } from "../lib/result.ts";
import { decodeMessageData } from "./message-data.ts";
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
 * it. Otherwise `data` is encoded again in canonical form, as the reference node does. Returns a
 * `bad_request.parse_failure` for bytes that are not a message, and for integers above 2^53 - 1.
 */
export function decodeMessage(bytes: Uint8Array): Result<SignedMessage, Rejection> {
  try {
    const error = findWireError(bytes, MESSAGE_SCHEMA);
    if (error !== undefined) return err(parseFailure(error));
    return fromWire(Message.decode(bytes));
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

const HASH_FIELD = 2;
const LENGTH_DELIMITED = 2;

/**
 * Returns the hash field of an encoded message without decoding the rest; undefined if it cannot be read. The hash is
 * not verified.
 */
export function claimedHash(bytes: Uint8Array): Uint8Array | undefined {
  let hash: Uint8Array | undefined;
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field === HASH_FIELD && wireType === LENGTH_DELIMITED) hash = reader.bytes();
      else reader.skip(wireType);
    }
  } catch {
    return undefined;
  }
  return hash;
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

function fromWire(message: Message): Result<SignedMessage, Rejection> {
  const dataBytes =
    message.dataBytes !== undefined && message.dataBytes.length > 0
      ? message.dataBytes
      : message.data && MessageData.encode(message.data).finish();
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

function parseFailure(cause: unknown): Rejection {
  const detail = cause instanceof Error ? cause.message : cause;
  return rejection("bad_request.parse_failure", `message cannot be decoded: ${detail}`);
}
