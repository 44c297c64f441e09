import { ok, type Result } from "../../lib/result.ts";
import { type JsonObject, ownValue } from "../../management/fields.ts";
import { badField, type Refusal, refused } from "../../management/refusal.ts";
import type { CastId } from "../../protocol/wire/generated/message.ts";

/** Readers of fields that several writes share. Each refuses an invalid value with a text that names the field. */

const HASH = /^(?:0x)?([0-9a-f]{40})$/i;
const MAX_URL_BYTES = 256;

export function readFid(value: unknown, name: string): Result<number, Refusal> {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0
    ? ok(value)
    : badField(`${name} must be an fid`);
}

/** Returns the 20 bytes of a cast hash of 40 hex digits, with or without `0x`; undefined for any other text. */
function parseCastHash(text: string): Uint8Array | undefined {
  const digits = HASH.exec(text)?.[1];
  return digits === undefined ? undefined : Uint8Array.fromHex(digits);
}

export function readCastHash(value: unknown, name: string): Result<Uint8Array, Refusal> {
  const hash = typeof value === "string" ? parseCastHash(value) : undefined;
  return hash ? ok(hash) : badField(`${name} must be a cast hash of 40 hex digits`);
}

/** Reads an absolute URL of 1 to 256 bytes. It is stored as given. */
export function readUrl(value: unknown, name: string): Result<string, Refusal> {
  return typeof value === "string" &&
    value.isWellFormed() &&
    Buffer.byteLength(value) <= MAX_URL_BYTES &&
    URL.canParse(value)
    ? ok(value)
    : badField(`${name} must be an absolute URL of at most ${MAX_URL_BYTES} bytes`);
}

/** Reads bytes in hex, with or without `0x`, of exactly `length` bytes. */
export function readHex(value: unknown, name: string, length: number): Result<Uint8Array, Refusal> {
  const digits = typeof value === "string" ? value.replace(/^0x/i, "") : "";
  return digits.length === 2 * length && /^[0-9a-f]+$/i.test(digits)
    ? ok(Uint8Array.fromHex(digits))
    : badField(`${name} must be ${2 * length} hex digits`);
}

/** The lookups for resolving a reference to a cast. */
export interface CastLookups {
  /** Returns the author of a live cast in the index. */
  authorOf(hash: Uint8Array): number | undefined;
  /** Returns the hash of the cast that a client's URL names; `other` if the URL is not of a client's cast. */
  hashOfUrl(url: string): Uint8Array | "unknown" | "other";
}

/** A cast, or a URL that is not of a cast. */
export type CastOrUrl = { readonly castId: CastId } | { readonly url: string };

/**
 * Resolves the target of a reply or a reaction: a cast hash, the URL of a cast in a client, or another absolute URL. The author of a cast
 * is taken from the index; `authorFid` is only used for casts that the index does not have.
 */
export function resolveCastOrUrl(
  lookups: CastLookups,
  value: unknown,
  names: { readonly field: string; readonly authorField: string },
  authorFid: unknown,
): Result<CastOrUrl, Refusal> {
  const { field, authorField } = names;
  if (typeof value !== "string") return badField(`${field} must be a string`);
  const stated = authorFid === undefined || authorFid === null ? undefined : readFid(authorFid, authorField);
  if (stated && !stated.ok) return stated;
  let hash = parseCastHash(value);
  if (!hash) {
    const ofUrl = lookups.hashOfUrl(value);
    if (ofUrl === "unknown") return refused("notFound", `${field} is the URL of an unknown cast`);
    if (ofUrl === "other") {
      const url = readUrl(value, field);
      return url.ok ? ok({ url: url.value }) : badField(`${field} must be a cast hash or an absolute URL`);
    }
    hash = ofUrl;
  }
  const author = lookups.authorOf(hash);
  if (author !== undefined && stated && stated.value !== author) {
    return badField(`${authorField} is not the author of the cast`);
  }
  const fid = author ?? stated?.value;
  return fid === undefined
    ? refused("notFound", `${field} is an unknown cast`)
    : ok({ castId: { fid, hash } });
}

/** No channel has a longer name. */
const MAX_NAME_CHARS = 1024;

export const NO_SUCH_CHANNEL = "no registered channel has this name";

/** Reads `channel_id`: any name of a channel. */
export function readChannelName(request: JsonObject): Result<string, Refusal> {
  const name = ownValue(request, "channel_id");
  return typeof name === "string" && name !== "" && name.length <= MAX_NAME_CHARS
    ? ok(name)
    : badField(`channel_id must be a text of at most ${MAX_NAME_CHARS} characters`);
}
