import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { Rejection } from "../protocol/rejection.ts";
import { claimedHash, type SignedMessage, toWire } from "../protocol/signed-message.ts";
import type { BulkMessageResponse } from "../protocol/wire/generated/hub.ts";
import { Message } from "../protocol/wire/generated/message.ts";

const LENGTH_DELIMITED = 2;
/** `messages` of a SubmitBulkMessagesRequest. */
const MESSAGES_FIELD = 1;
/** `data` of a Message. */
const DATA_FIELD = 1;
/** Hashes have 20 bytes; whatever else stands in their place is not sent back. */
const MAX_SHOWN_HASH_BYTES = 64;

/** Fields that are no messages: nobody sends any, and each costs a look. */
const MAX_OTHER_FIELDS = 1000;

/**
 * The encoded messages of a SubmitBulkMessagesRequest, each still undecoded, so that one broken message is refused
 * by itself. Refuses bytes that are no such request, and stops reading one that holds more than `maxMessages`.
 */
export function splitBulkRequest(bytes: Uint8Array, maxMessages: number): Uint8Array[] | Rejection {
  const messages: Uint8Array[] = [];
  let otherFields = 0;
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field === MESSAGES_FIELD && wireType === LENGTH_DELIMITED) {
        if (messages.length === maxMessages)
          return new Rejection(
            "bad_request.invalid_param",
            `a request holds at most ${maxMessages} messages`,
          );
        messages.push(reader.bytes());
      } else {
        if (++otherFields > MAX_OTHER_FIELDS) return UNREADABLE;
        reader.skip(wireType, field);
      }
    }
  } catch {
    return UNREADABLE;
  }
  return messages;
}

const UNREADABLE = new Rejection("bad_request.parse_failure", "request cannot be decoded");

/** A message as it is given back: with the data that its hash covers, whatever `data` came beside it. */
export function respondWith(message: SignedMessage): Message {
  return { ...toWire(message), data: message.data };
}

/** The result of a message that was taken, in the answer to a bulk request. */
export function acceptedInBulk(message: SignedMessage): BulkMessageResponse {
  return { response: { $case: "message", value: respondWith(message) } };
}

/** The result of a message that was refused, in the answer to a bulk request. */
export function refusedInBulk(rejection: Rejection, received: Uint8Array | undefined): BulkMessageResponse {
  // By the hash that it carries its sender knows the message.
  const claimed = received && claimedHash(received);
  const hash = claimed && claimed.length <= MAX_SHOWN_HASH_BYTES ? claimed : new Uint8Array();
  return {
    response: { $case: "messageError", value: { hash, errCode: rejection.code, message: rejection.reason } },
  };
}

/** Encodes `answerWith` of a message: its data goes out as the bytes that were signed, and is not encoded again. */
export function encodeResponse(message: SignedMessage): Uint8Array {
  const data = new BinaryWriter().tag(DATA_FIELD, LENGTH_DELIMITED).bytes(message.dataBytes);
  return Message.encode(toWire(message), data).finish();
}
