import { invalid, type Rejection } from "../rejection.ts";
import type { FrameActionBody } from "../wire/generated/message.ts";
import { checkCastId } from "./fields.ts";

const MAX_BUTTON = 5;
const MAX_URL_BYTES = 1024;

/** The optional fields and their limits in bytes. */
const OPTIONAL = [
  ["inputText", "input_text", 256],
  ["state", "state", 4096],
  ["transactionId", "transaction_id", 256],
  ["address", "address", 64],
] as const;

/** Validates the action of a user in a frame. It is signed for the frame's server and never stored. */
export function validateFrameAction(body: FrameActionBody): Rejection | undefined {
  if (body.buttonIndex > MAX_BUTTON) return invalid(`button_index is above ${MAX_BUTTON}`);
  if (body.url.length < 1 || body.url.length > MAX_URL_BYTES)
    return invalid(`url must be 1 to ${MAX_URL_BYTES} bytes`);
  for (const [field, name, maxBytes] of OPTIONAL)
    if (body[field].length > maxBytes) return invalid(`${name} is longer than ${maxBytes} bytes`);
  return body.castId && checkCastId(body.castId, "cast_id");
}
