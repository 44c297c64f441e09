import { invalid, Rejection } from "./rejection.ts";
import { MessageData } from "./wire/generated/message.ts";
import { MESSAGE_DATA_FORM, wireFault } from "./wire-form.ts";

/** No message type has larger data (that of a compact link state); more is refused before it is read. */
export const MAX_DATA_BYTES_OF_ANY_TYPE = 65_536;

/**
 * Decodes the data of a message as strictly as the reference node: invalid UTF-8, wrong wire types and lengths
 * that do not fit are a `bad_request.parse_failure`. An integer above 2^53 - 1 makes the generated decoder throw,
 * which the caller turns into the same code.
 */
export function decodeMessageData(dataBytes: Uint8Array): MessageData | Rejection {
  if (dataBytes.length > MAX_DATA_BYTES_OF_ANY_TYPE) {
    return invalid(`data is larger than ${MAX_DATA_BYTES_OF_ANY_TYPE} bytes`);
  }
  const fault = wireFault(dataBytes, MESSAGE_DATA_FORM);
  if (fault !== undefined) return new Rejection("bad_request.parse_failure", `data: ${fault}`);
  return MessageData.decode(dataBytes);
}
