import { err, ok, type Result } from "../lib/result.ts";
import { Message } from "./wire/generated/message.ts";

/**
 * Encodes a message that is given as JSON, as the libraries of the protocol write it: bytes in base64, enums by name or number,
 * keys in camel or snake case. With `dataBytes`, `data` is not read: nothing signs it. Otherwise `data` is encoded.
 *
 * @returns the bytes of a message that is not validated, or why there are none.
 */
export function messageFromJson(json: unknown): Result<Uint8Array, string> {
  if (typeof json !== "object" || json === null || Array.isArray(json))
    return err("a message must be a JSON object");
  const hasDataBytes = ["dataBytes", "data_bytes"].some((key) => isText(Reflect.get(json, key)));
  try {
    const message = Message.fromJSON(hasDataBytes ? { ...json, data: undefined } : json);
    return ok(Message.encode(message).finish());
  } catch {
    return err("the request body is no message in the JSON of the protocol's libraries");
  }
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
