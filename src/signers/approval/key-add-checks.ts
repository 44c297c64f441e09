import { UnconfirmedError } from "../../auth/owners/owners.ts";
import type { Err } from "../../lib/result.ts";
import { toFarcasterSecs } from "../../protocol/time.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { type KeyAddTerms, recoverKeyAdd } from "../key-add.ts";
import { refuse, type SignerRefusal } from "../refusal.ts";

/** Refusals shared by the approvals of managed signers and of keys that apps hold. */

/** How long a signature that is prepared now stays valid, in seconds. */
export const SIGNATURE_VALID_SECS = 3600;
const NETWORK_LIMIT_SECS = 60;

type Refused = Err<SignerRefusal> | undefined;

export const over = () =>
  refuse("gone", "this approval link has expired; ask the app for a new one", { code: "gone" });

export const unknownWallet = () =>
  refuse("notFound", "this wallet is the custody address of no fid; contract wallets cannot approve here");

export const keyTaken = () =>
  refuse("conflict", "the key of this signer is registered otherwise; ask the app for a new signer", {
    code: "conflict",
  });

/** Reports whether a recovered address equals this one. */
export function isBy(signer: Uint8Array | undefined, address: Uint8Array): boolean {
  return signer !== undefined && Buffer.compare(signer, address) === 0;
}

/** @param deadline Farcaster seconds. */
export function refuseDeadline(deadline: number, clock: Clock): Refused {
  const now = toFarcasterSecs(nowSecs(clock));
  if (deadline < now) return refuse("badRequest", "deadline has passed; prepare again");
  if (deadline > now + 2 * SIGNATURE_VALID_SECS) return refuse("badRequest", "deadline is too far ahead");
  return undefined;
}

export function refuseKeyAdd(terms: KeyAddTerms, signature: Uint8Array, custody: Uint8Array): Refused {
  if (isBy(recoverKeyAdd(terms, signature), custody)) return undefined;
  return refuse("badRequest", "custody_signature is not of the fid's custody address");
}

/** @param last last nonce that the custody address signed. */
export function refuseNonce(nonce: number, last: number): Refused {
  if (nonce > last) return undefined;
  return refuse("conflict", "nonce was used meanwhile; prepare again", { code: "conflict" });
}

/** The network accepts one key per user and minute. */
export function networkRefusal(error: SignerRefusal): Err<SignerRefusal> {
  const { kind, message, ...more } = error;
  const retryAfterSecs = kind === "tooManyRequests" ? NETWORK_LIMIT_SECS : more.retryAfterSecs;
  return refuse(kind, message, { ...more, ...(retryAfterSecs === undefined ? {} : { retryAfterSecs }) });
}

/**
 * Returns the refusal while a second node has not confirmed an owner. A refusal, because an error class would not survive the port to the
 * HTTP worker.
 *
 * @throws any other cause.
 */
export function unconfirmed(cause: unknown): Err<SignerRefusal> {
  if (!(cause instanceof UnconfirmedError)) throw cause;
  const { message, code = "unconfirmed", retryAfterSecs = 0 } = cause;
  return refuse("unavailable", message, { code, retryAfterSecs });
}
