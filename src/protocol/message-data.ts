import { invalid, Rejection } from "./rejection.ts";
import { MessageData } from "./wire/generated/message.ts";
import { MESSAGE_DATA_FORM, wireFault } from "./wire-form.ts";

/**
 * The largest data of any message type (that of a compact link state). Larger data is refused before it is decoded.
 */
export const MAX_DATA_BYTES_OF_ANY_TYPE = 65_536;

/**
 * Decodes the data of a message as strictly as the reference node: invalid UTF-8, wrong wire types and lengths that
 * do not fit are a `bad_request.parse_failure`. The generated decoder throws for an integer above 2^53 - 1; the
 * caller maps that to the same code.
 */
export function decodeMessageData(dataBytes: Uint8Array): MessageData | Rejection {
  if (dataBytes.length > MAX_DATA_BYTES_OF_ANY_TYPE) {
    return invalid(`data is larger than ${MAX_DATA_BYTES_OF_ANY_TYPE} bytes`);
  }
  const fault = wireFault(dataBytes, MESSAGE_DATA_FORM);
  if (fault !== undefined) return new Rejection("bad_request.parse_failure", `data: ${fault}`);
  return MessageData.decode(dataBytes);
}
