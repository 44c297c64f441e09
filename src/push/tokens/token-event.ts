import type { TokenDetails, TokenEventName, TokenEventWith } from "../../db/state/records.ts";
import { parseStrictJsonBytes } from "../../lib/json.ts";
import { type JsonObject, ownValue, readObject, readText } from "../../management/fields.ts";
import { badField, Refusal } from "../../management/refusal.ts";

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
export function readTokenEvent(payload: Uint8Array): GivenEvent | Refusal {
  const body = readObject(parseStrictJsonBytes(payload), "payload");
  if (body instanceof Refusal) return body;
  const event = ownValue(body, "event");
  if (event === undefined) return badField("missing field event");
  const name = EVENT_NAMES.get(event);
  if (name === undefined) return badField("event is unknown");
  if (name === "miniapp_removed" || name === "notifications_disabled") return { name };
  const details = readDetails(body);
  if (details instanceof Refusal) return details;
  if (name === "miniapp_added") return { name, details };
  return details === undefined ? badField("missing field notificationDetails") : { name, details };
}

function readDetails(body: JsonObject): GivenDetails | undefined | Refusal {
  const spelling = Object.hasOwn(body, "notificationDetails")
    ? "notificationDetails"
    : "notification_details";
  const given = ownValue(body, spelling);
  if (given === undefined) return undefined;
  const details = readObject(given, "notificationDetails");
  if (details instanceof Refusal) return details;
  const url = readDetailsUrl(ownValue(details, "url"), "notificationDetails.url");
  if (url instanceof Refusal) return url;
  const token = readDetailsToken(ownValue(details, "token"), "notificationDetails.token");
  return token instanceof Refusal ? token : { url, token };
}
