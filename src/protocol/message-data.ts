import { err, ok, type Result } from "../lib/result.ts";
import { invalid, type Rejection, rejection } from "./rejection.ts";
import { MessageData } from "./wire/generated/message.ts";
import { MESSAGE_DATA_SCHEMA } from "./wire/generated/wire-schemas.ts";
import { findWireError } from "./wire-check.ts";

/**
 * The largest data of any message type (that of a compact link state). Larger data is refused before it is decoded.
 */
export const MAX_DATA_BYTES_OF_ANY_TYPE = 65_536;

/**
 * Decodes the data of a message as strictly as the reference node: invalid UTF-8, wrong wire types and lengths that
 * do not fit are a `bad_request.parse_failure`. The generated decoder throws for an integer above 2^53 - 1; the
 * caller maps that to the same code.
 */
export function decodeMessageData(dataBytes: Uint8Array): Result<MessageData, Rejection> {
  if (dataBytes.length > MAX_DATA_BYTES_OF_ANY_TYPE) {
    return err(invalid(`data is larger than ${MAX_DATA_BYTES_OF_ANY_TYPE} bytes`));
  }
  const error = findWireError(dataBytes, MESSAGE_DATA_SCHEMA);
  if (error !== undefined) return err(rejection("bad_request.parse_failure", `data: ${error}`));
  return ok(MessageData.decode(dataBytes));
}
