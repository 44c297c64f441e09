import { ok, type Result } from "../../lib/result.ts";
import { badField, type Refusal, refused } from "../../management/refusal.ts";
import type { CastId } from "../../protocol/wire/generated/message.ts";
import { parseCastHash, readFid, readUrl } from "./read-body.ts";

/** What a reference to a cast is resolved with. */
export interface CastLookups {
  /** The author of a live cast in the index. */
  authorOf(hash: Uint8Array): number | undefined;
  /** The hash of the cast that a client's URL names; `other` where the URL is none of a client's cast. */
  hashOfUrl(url: string): Uint8Array | "unknown" | "other";
}

/** A cast, or a URL that is none. */
export type CastOrUrl = { readonly castId: CastId } | { readonly url: string };

/**
 * Resolves what a reply or a reaction is for: a cast hash, the URL of a cast in a client, or another absolute URL. The author of
 * a cast is that of the index; `authorFid` is used for casts that the index does not have.
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
