import { ok, type Result } from "../../lib/result.ts";
import { type JsonObject, ownValue } from "../../management/fields.ts";
import { badField, type Refusal } from "../../management/refusal.ts";

/** Longer names are those of no channel. */
const MAX_NAME_CHARS = 1024;

export const NO_SUCH_CHANNEL = "no registered channel has this name";

/** Reads `channel_id`: any name of a channel. */
export function readChannelName(request: JsonObject): Result<string, Refusal> {
  const name = ownValue(request, "channel_id");
  return typeof name === "string" && name !== "" && name.length <= MAX_NAME_CHARS
    ? ok(name)
    : badField(`channel_id must be a text of at most ${MAX_NAME_CHARS} characters`);
}
