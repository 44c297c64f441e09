import { type Static, type TSchema, type TUnsafe, Type } from "@sinclair/typebox";
import { ok, type Result } from "../lib/result.ts";
import { hasUnprintable } from "../lib/text.ts";
import { textFault } from "../management/fields.ts";
import { badField, type Refusal } from "../management/refusal.ts";
import { checked, type Fault, schemaReader, Text } from "../management/request-schema.ts";
import { UNKNOWN_FID } from "../protocol/fid.ts";
import { hostFault } from "./open-links.ts";
import type { Audience, Notification } from "./store/campaigns/campaign-store.ts";

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
const MAX_TARGET_URL_CHARS = 256;

const documentedText = (max: number, description: string) => ({
  minLength: 1,
  maxLength: max,
  description,
  type: "string",
});

/** Documents a value that may be null, and checks it otherwise. */
export const nullable = <T>(documented: TSchema, check: Fault): TUnsafe<T | null> =>
  checked<T | null>({ anyOf: [documented, { type: "null" }] }, (value) =>
    value === null ? undefined : check(value),
  );

/** A u64 as a JSON number. No fid is above 2^53 - 1, so the rounding of larger numbers does not matter. */
export const fidFault: Fault = (value) =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 2 ** 64
    ? undefined
    : "must be an unsigned 64-bit integer";
export const Fid = checked<number>({ format: "int64", minimum: 0, type: "integer" }, fidFault);

const urlTextFault = textFault({ min: 1, max: MAX_TARGET_URL_CHARS });
export const TargetUrl = checked<string>(
  documentedText(MAX_TARGET_URL_CHARS, "https, on the host of the app's `app_url`"),
  (value) => urlTextFault(value) ?? targetUrlFault(value as string),
);

export const SentNotification = Type.Object({
  title: Text({ min: 1, max: MAX_TITLE_CHARS, description: "Unicode characters" }),
  body: Text({ min: 1, max: MAX_BODY_CHARS, description: "Unicode characters" }),
  target_url: TargetUrl,
  uuid: Type.Optional(
    nullable<string>(
      Type.String({
        description:
          "Any UUID. A user receives the same UUID of an app only once within 24 hours, so a send can be repeated safely.",
      }),
      (value) => (uuidOf(value) === undefined ? "must be a UUID" : undefined),
    ),
  ),
});

// The size limit of the body bounds these lists. Null is refused: an empty list means everyone, so a sender that means no one must not
// reach everyone.
export const TargetFids = Type.Array(Fid, {
  description: "Recipients; empty or absent for all users with an enabled token",
});

/** Filters of the audience; the hosted API puts them into a nested object. */
export const audienceFilters = {
  exclude_fids: Type.Optional(Type.Array(Fid, { description: "Fids that do not receive the notification" })),
  following_fid: Type.Optional(
    nullable<number>(
      Type.Integer({
        format: "int64",
        minimum: 0,
        description: "Only followers of this fid receive the notification",
      }),
      fidFault,
    ),
  ),
  minimum_user_score: Type.Optional(
    nullable<number>(
      Type.Number({
        description:
          "The least score of a recipient. It has an effect where `scores.enforce` of the node lists `sends`, and none elsewhere",
      }),
      (value) => (typeof value === "number" ? undefined : "must be a number"),
    ),
  ),
  near_location: Type.Optional(Type.Unknown({ description: "Accepted but not enforced" })),
} satisfies Record<string, TSchema>;

export const SendNotificationRequest = Type.Object(
  { notification: SentNotification, target_fids: Type.Optional(TargetFids), ...audienceFilters },
  { $id: "SendNotificationRequest" },
);

const readBody = schemaReader(SendNotificationRequest);

/** Reads the body of a send for the app at `appUrl`; a refusal names the field. */
export function readSendRequest(body: unknown, appUrl: string): Result<SendRequest, Refusal> {
  const read = readBody(body);
  if (!read.ok) return read;
  const { notification, ...audience } = read.value;
  const { title, body: text, target_url: targetUrl, uuid } = notification;
  // Clients open a URL only on the app's host, and report a sender that uses another one.
  const fault = hostFault(targetUrl, appUrl);
  if (fault !== undefined) return badField(`notification.target_url ${fault}`);
  return ok({
    notification: { title, body: text, targetUrl },
    uuid: uuidOf(uuid),
    audience: audienceOf(audience),
  });
}

function targetUrlFault(text: string): string | undefined {
  if (hasUnprintable(text)) return "must not contain control characters or invisible ones";
  const url = /^https:\/\/[^/?#\\\s]/i.test(text) && !/[\s\\]/.test(text) ? URL.parse(text) : null;
  if (url === null) return "must be an absolute https URL";
  return url.username !== "" || url.password !== "" ? "must not contain credentials" : undefined;
}

/** Accepts all common forms of RFC 9562: with or without hyphens, braces or `urn:uuid:`, in either case. */
function uuidOf(value: unknown): string | undefined {
  const bare = typeof value === "string" ? /^(?:urn:uuid:)?(.{32,38})$/i.exec(value)?.[1] : undefined;
  const unbraced = bare?.startsWith("{") && bare.endsWith("}") ? bare.slice(1, -1) : bare;
  const parts =
    unbraced === undefined
      ? null
      : (/^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/i.exec(unbraced) ??
        /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i.exec(unbraced));
  return parts?.slice(1).join("-").toLowerCase();
}

export function audienceOf({
  target_fids: targetFids = [],
  exclude_fids: excludeFids = [],
  following_fid: followingFid = null,
  minimum_user_score: minimumScore = null,
}: Omit<Static<typeof SendNotificationRequest>, "notification">): Audience {
  return {
    targetFids: targetFids.map(knownFid),
    excludeFids: excludeFids.map(knownFid),
    followingFid: followingFid === null ? null : knownFid(followingFid),
    ...(minimumScore !== null && { minimumScore }),
  };
}

function knownFid(fid: number): number {
  return Number.isSafeInteger(fid) ? fid : UNKNOWN_FID;
}
