import { parseStrictJsonBytes } from "../../lib/json.ts";
import { ok, type Result } from "../../lib/result.ts";
import { type JsonObject, ownValue, readObject, readText } from "../../management/fields.ts";
import { badField, type Refusal } from "../../management/refusal.ts";
import type { TokenDetails, TokenEventName, TokenEventWith } from "../store/token-store.ts";

/** Details as they were sent, with an unchecked URL. */
export type GivenDetails = Omit<TokenDetails, "host">;

/** An event as it was sent, with an unchecked URL. */
export type GivenEvent = TokenEventWith<GivenDetails>;

const MAX_URL_CHARS = 1024;
const MAX_TOKEN_CHARS = 256;

/** Events by all names that clients use. */
const EVENT_NAMES: ReadonlyMap<unknown, TokenEventName> = new Map([
  ["miniapp_added", "miniapp_added"],
  ["miniapp_removed", "miniapp_removed"],
  ["notifications_enabled", "notifications_enabled"],
  ["notifications_disabled", "notifications_disabled"],
  // Former names, from when mini apps were called frames.
  ["frame_added", "miniapp_added"],
  ["frame_removed", "miniapp_removed"],
]);

export const readDetailsUrl = readText({ min: 1, max: MAX_URL_CHARS });
export const readDetailsToken = readText({ min: 1, max: MAX_TOKEN_CHARS });

/** Reads the payload of an envelope. Unknown keys are ignored. */
export function readTokenEvent(payload: Uint8Array): Result<GivenEvent, Refusal> {
  const body = readObject(parseStrictJsonBytes(payload), "payload");
  if (!body.ok) return body;
  const event = ownValue(body.value, "event");
  if (event === undefined) return badField("missing field event");
  const name = EVENT_NAMES.get(event);
  if (name === undefined) return badField("event is unknown");
  if (name === "miniapp_removed" || name === "notifications_disabled") return ok({ name });
  const read = readDetails(body.value);
  if (!read.ok) return read;
  const details = read.value;
  if (name === "miniapp_added") return ok({ name, details });
  return details === undefined ? badField("missing field notificationDetails") : ok({ name, details });
}

function readDetails(body: JsonObject): Result<GivenDetails | undefined, Refusal> {
  const spelling = Object.hasOwn(body, "notificationDetails")
    ? "notificationDetails"
    : "notification_details";
  const input = ownValue(body, spelling);
  if (input === undefined) return ok(undefined);
  const details = readObject(input, "notificationDetails");
  if (!details.ok) return details;
  const url = readDetailsUrl(ownValue(details.value, "url"), "notificationDetails.url");
  if (!url.ok) return url;
  const token = readDetailsToken(ownValue(details.value, "token"), "notificationDetails.token");
  return token.ok ? ok({ url: url.value, token: token.value }) : token;
}
