import { hasUnprintable } from "../lib/printable.ts";
import { ok, type Result } from "../lib/result.ts";
import { type JsonObject, ownValue, readList, readObject, readText } from "../management/fields.ts";
import { badField, type Refusal } from "../management/refusal.ts";
import type { Audience, Notification } from "./store/campaign-store.ts";

/** Stands for every fid above 2^53 - 1; no such fid exists. */
const UNKNOWN_FID = -1;

/** A validated request to send a notification. */
export interface SendRequest {
  /** Without the id, which defaults to the campaign's. */
  readonly notification: Omit<Notification, "notificationId">;
  /** Lower case with hyphens. */
  readonly uuid: string | undefined;
  readonly audience: Audience;
}

export const MAX_TITLE_CHARS = 32;
export const MAX_BODY_CHARS = 128;
export const MAX_TARGET_URL_CHARS = 256;

const readTitle = readText({ min: 1, max: MAX_TITLE_CHARS });
const readBody = readText({ min: 1, max: MAX_BODY_CHARS });
const readUrlText = readText({ min: 1, max: MAX_TARGET_URL_CHARS });
// The size limit of the body bounds these lists.
const readFids = readList(Number.MAX_SAFE_INTEGER, readAnyFid);

/** Reads the body of a send for the app at `appUrl`; a refusal names the field. */
export function readSendRequest(body: unknown, appUrl: string): Result<SendRequest, Refusal> {
  const request = readObject(body, "request body");
  if (!request.ok) return request;
  const notification = readNotification(request.value, appUrl);
  if (!notification.ok) return notification;
  const audience = readAudience(request.value);
  return audience.ok ? ok({ ...notification.value, audience: audience.value }) : audience;
}

function readNotification(
  request: JsonObject,
  appUrl: string,
): Result<Omit<SendRequest, "audience">, Refusal> {
  const input = ownValue(request, "notification");
  if (input === undefined) return badField("missing field notification");
  const notification = readObject(input, "notification");
  if (!notification.ok) return notification;
  const field = <T>(
    key: string,
    read: (value: unknown, name: string) => Result<T, Refusal>,
  ): Result<T, Refusal> => {
    const value = ownValue(notification.value, key);
    const name = `notification.${key}`;
    return value === undefined ? badField(`missing field ${name}`) : read(value, name);
  };
  const title = field("title", readTitle);
  if (!title.ok) return title;
  const body = field("body", readBody);
  if (!body.ok) return body;
  const targetUrl = field("target_url", (value, name) => readTargetUrl(value, name, appUrl));
  if (!targetUrl.ok) return targetUrl;
  const givenUuid = ownValue(notification.value, "uuid") ?? null;
  const uuid = givenUuid === null ? ok(undefined) : readUuid(givenUuid);
  if (!uuid.ok) return uuid;
  return ok({
    notification: { title: title.value, body: body.value, targetUrl: targetUrl.value },
    uuid: uuid.value,
  });
}

/** Clients open it only on the host of the app, and report a sender that uses another one. */
function readTargetUrl(value: unknown, name: string, appUrl: string): Result<string, Refusal> {
  const read = readUrlText(value, name);
  if (!read.ok) return read;
  const text = read.value;
  if (hasUnprintable(text)) return badField(`${name} must not contain control characters or invisible ones`);
  const url = /^https:\/\/[^/?#\\\s]/i.test(text) && !/[\s\\]/.test(text) ? URL.parse(text) : null;
  if (url === null) return badField(`${name} must be an absolute https URL`);
  if (url.username !== "" || url.password !== "") return badField(`${name} must not contain credentials`);
  const { host } = new URL(appUrl);
  return url.host === host ? read : badField(`${name} must be on the host of the app, ${host}`);
}

/** Accepts all common forms of RFC 9562: with or without hyphens, braces or `urn:uuid:`, in either case. */
function readUuid(value: unknown): Result<string, Refusal> {
  const bare = typeof value === "string" ? /^(?:urn:uuid:)?(.{32,38})$/i.exec(value)?.[1] : undefined;
  const unbraced = bare?.startsWith("{") && bare.endsWith("}") ? bare.slice(1, -1) : bare;
  const parts =
    unbraced === undefined
      ? null
      : (/^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/i.exec(unbraced) ??
        /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i.exec(unbraced));
  return parts === null
    ? badField("notification.uuid must be a UUID")
    : ok(parts.slice(1).join("-").toLowerCase());
}

function readAudience(request: JsonObject): Result<Audience, Refusal> {
  const targetFids = readOptionalFids(request, "target_fids");
  if (!targetFids.ok) return targetFids;
  const excludeFids = readOptionalFids(request, "exclude_fids");
  if (!excludeFids.ok) return excludeFids;
  const following = ownValue(request, "following_fid") ?? null;
  const followingFid = following === null ? ok(null) : readAnyFid(following, "following_fid");
  if (!followingFid.ok) return followingFid;
  const score = ownValue(request, "minimum_user_score") ?? null;
  if (score !== null && typeof score !== "number") return badField("minimum_user_score must be a number");
  return ok({
    targetFids: targetFids.value,
    excludeFids: excludeFids.value,
    followingFid: followingFid.value,
  });
}

/** Rejects `null`: an empty list means everyone, so a sender that means no one must not reach everyone. */
function readOptionalFids(request: JsonObject, key: string): Result<readonly number[], Refusal> {
  const input = ownValue(request, key);
  return input === undefined ? ok([]) : readFids(input, key);
}

/** Reads a u64 as a JSON number. No fid is above 2^53 - 1, so the rounding of larger numbers does not matter. */
function readAnyFid(value: unknown, name: string): Result<number, Refusal> {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > 2 ** 64) {
    return badField(`${name} must be an unsigned 64-bit integer`);
  }
  return ok(Number.isSafeInteger(value) ? value : UNKNOWN_FID);
}
