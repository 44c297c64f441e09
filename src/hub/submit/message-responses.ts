import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { err, ok, type Result } from "../../lib/result.ts";
import { claimedHash, type SignedMessage, toWire } from "../../protocol/message/signed-message.ts";
import { type Rejection, rejection } from "../../protocol/rejection.ts";
import type { BulkMessageResponse } from "../../protocol/wire/generated/hub.ts";
import { Message } from "../../protocol/wire/generated/message.ts";

const LENGTH_DELIMITED = 2;
/** `messages` of a SubmitBulkMessagesRequest. */
const MESSAGES_FIELD = 1;
/** `data` of a Message. */
const DATA_FIELD = 1;
/** Hashes have 20 bytes. Longer bytes are not returned. */
const MAX_SHOWN_HASH_BYTES = 64;

/** Maximum number of unknown fields. Clients send none, and each costs time. */
const MAX_OTHER_FIELDS = 1000;

/**
 * Splits a SubmitBulkMessagesRequest into encoded messages, so that a malformed message is refused on its own. Refuses bytes
 * that are not such a request, and stops if there are more than `maxMessages`.
 */
export function splitBulkRequest(bytes: Uint8Array, maxMessages: number): Result<Uint8Array[], Rejection> {
  const messages: Uint8Array[] = [];
  let otherFields = 0;
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field === MESSAGES_FIELD && wireType === LENGTH_DELIMITED) {
        if (messages.length === maxMessages)
          return err(
            rejection("bad_request.invalid_param", `a request holds at most ${maxMessages} messages`),
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
  return ok(messages);
}

const UNREADABLE = err(rejection("bad_request.parse_failure", "request cannot be decoded"));

/**
 * Returns the wire object of a message for a response. Its `data` is what its hash covers, whatever `data` the request had.
 */
export function toResponse(message: SignedMessage): Message {
  return { ...toWire(message), data: message.data };
}

/** Returns the result of an accepted message in a bulk response. */
export function acceptedInBulk(message: SignedMessage): BulkMessageResponse {
  return { response: { $case: "message", value: toResponse(message) } };
}

/** Returns the result of a refused message in a bulk response. */
export function refusedInBulk(
  { code, reason }: Rejection,
  received: Uint8Array | undefined,
): BulkMessageResponse {
  // The sender identifies the message by the hash in it.
  const claimed = received && claimedHash(received);
  const hash = claimed && claimed.length <= MAX_SHOWN_HASH_BYTES ? claimed : new Uint8Array();
  return {
    response: { $case: "messageError", value: { hash, errCode: code, message: reason } },
  };
}

/** Encodes the response for a message. Its data is the signed bytes, which are not encoded again. */
export function encodeResponse(message: SignedMessage): Uint8Array {
  const data = new BinaryWriter().tag(DATA_FIELD, LENGTH_DELIMITED).bytes(message.dataBytes);
  return Message.encode(toWire(message), data).finish();
}
