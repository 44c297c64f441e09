import { isoTime } from "../../../lib/iso-time.ts";
import { ok, type Result } from "../../../lib/result.ts";
import { ownValue, readObject } from "../../../management/fields.ts";
import { badField, type Refusal } from "../../../management/refusal.ts";
import type { TokenRecord } from "../../store/token-store.ts";
import { readDetailsToken, readDetailsUrl } from "../token-event.ts";

/** A token in the list format of the hosted API. */
export interface ListedToken {
  readonly object: "notification_token";
  readonly fid: number;
  readonly status: "enabled" | "disabled";
  /** Absent, together with `token`, when the app was added without notifications. */
  readonly url?: string;
  readonly token?: string;
  /** ISO 8601. */
  readonly created_at: string;
  readonly updated_at: string;
}

/** A validated entry of such a list, with an unchecked URL. Times are unix seconds. */
export interface GivenToken {
  readonly fid: number;
  readonly url: string;
  readonly token: string;
  readonly isEnabled: boolean;
  readonly createdAt: number | undefined;
  readonly updatedAt: number | undefined;
}

export function listToken({ fid, state, details, createdAt, updatedAt }: TokenRecord): ListedToken {
  return {
    object: "notification_token",
    fid,
    status: state === "enabled" ? "enabled" : "disabled",
    ...(details ? { url: details.url, token: details.token } : {}),
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
  };
}

/** Reads an entry of a list. Unknown keys are ignored; the refusals are a bounded set of texts. */
export function readListedToken(value: unknown): Result<GivenToken, Refusal> {
  const input = readObject(value, "the token");
  if (!input.ok) return input;
  const fid = ownValue(input.value, "fid");
  if (typeof fid !== "number" || !Number.isSafeInteger(fid) || fid < 1) {
    return badField("fid must be a positive integer");
  }
  const status = ownValue(input.value, "status") ?? "enabled";
  if (status === "invalid") return badField("status is invalid: the client takes nothing for it");
  if (status !== "enabled" && status !== "disabled") {
    return badField("status must be enabled, disabled or invalid");
  }
  const url = readDetailsUrl(ownValue(input.value, "url"), "url");
  if (!url.ok) return url;
  const token = readDetailsToken(ownValue(input.value, "token"), "token");
  if (!token.ok) return token;
  const createdAt = readTime(ownValue(input.value, "created_at"), "created_at");
  if (!createdAt.ok) return createdAt;
  const updatedAt = readTime(ownValue(input.value, "updated_at"), "updated_at");
  if (!updatedAt.ok) return updatedAt;
  return ok({
    fid,
    url: url.value,
    token: token.value,
    isEnabled: status === "enabled",
    createdAt: createdAt.value,
    updatedAt: updatedAt.value,
  });
}

const ISO_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;

/** Reads a time in ISO 8601 as unix seconds; undefined for none. */
function readTime(value: unknown, name: string): Result<number | undefined, Refusal> {
  if (value === undefined || value === null) return ok(undefined);
  const ms = typeof value === "string" && ISO_TIME.test(value) ? Date.parse(value) : Number.NaN;
  return ms >= 0 ? ok(Math.floor(ms / 1000)) : badField(`${name} must be a time in ISO 8601`);
}
