import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { Rejection } from "../protocol/rejection.ts";
import { type SignedMessage, toWire } from "../protocol/signed-message.ts";
import type { BulkMessageResponse } from "../protocol/wire/generated/hub.ts";
import { Message } from "../protocol/wire/generated/message.ts";

const LENGTH_DELIMITED = 2;
/** `messages` of a SubmitBulkMessagesRequest. */
const MESSAGES_FIELD = 1;
/** `data` of a Message. */
const DATA_FIELD = 1;

/**
 * The encoded messages of a SubmitBulkMessagesRequest, each still undecoded, so that one broken message is refused
 * by itself. Refuses bytes that are no such request.
 */
export function splitBulkRequest(bytes: Uint8Array): Uint8Array[] | Rejection {
  const messages: Uint8Array[] = [];
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field === MESSAGES_FIELD && wireType === LENGTH_DELIMITED) messages.push(reader.bytes());
      else reader.skip(wireType);
    }
  } catch {
    return new Rejection("bad_request.parse_failure", "request cannot be decoded");
  }
  return messages;
}

/** A message as it is given back: with the data that its hash covers, whatever `data` came beside it. */
export function answerWith(message: SignedMessage): Message {
  return { ...toWire(message), data: message.data };
}

/** The result of a message that was taken, in the answer to a bulk request. */
export function acceptedInBulk(message: SignedMessage): BulkMessageResponse {
  return { response: { $case: "message", value: answerWith(message) } };
}

/** The result of a message that was refused, in the answer to a bulk request. */
export function refusedInBulk(rejection: Rejection, received: Uint8Array | undefined): BulkMessageResponse {
  const value = { hash: claimedHash(received), errCode: rejection.code, message: rejection.reason };
  return { response: { $case: "messageError", value } };
}

/** The hash that a refused message carries, by which its sender knows it; empty when there is none to read. */
function claimedHash(received: Uint8Array | undefined): Uint8Array {
  try {
    return received ? Message.decode(received).hash : new Uint8Array();
  } catch {
    return new Uint8Array();
  }
}

/** Encodes `answerWith` of a message: its data goes out as the bytes that were signed, and is not encoded again. */
export function encodeAnswer(message: SignedMessage): Uint8Array {
  const data = new BinaryWriter().tag(DATA_FIELD, LENGTH_DELIMITED).bytes(message.dataBytes);
  return Message.encode(toWire(message), data).finish();
}
