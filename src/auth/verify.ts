import type { ServiceNames } from "../config/names.ts";
import { ApiError, pausedByOperator } from "../http/errors.ts";
import { UNKNOWN_FID } from "../protocol/fid.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log/logger.ts";
import type { ConfirmedCustodyOf } from "./confirmed-owners.ts";
import type { CustodyOf, StaleReason } from "./custody.ts";
import type { NonceStore } from "./nonce-store.ts";
import type { SessionLookup } from "./session.ts";
import { createSignedHeadersReader } from "./signed-headers.ts";
import { createSignedOpHasher, isWellFormedSignature, recoverSigner } from "./typed-data.ts";

/** Dependencies of the verification of signed operations. */
export interface AuthDeps {
  readonly names: ServiceNames;
  /** Decides how old a signature is. */
  readonly clock: Clock;
  /** Decides which sessions have ended: that of the state. */
  readonly stateClock: Clock;
  /** `auth.signed_at_window_secs`. */
  readonly windowSecs: number;
  readonly nonces: NonceStore;
  /** Undefined where the operator has turned sessions off. */
  readonly sessions: SessionLookup | undefined;
  /** That of the index. */
  readonly custodyOf: CustodyOf;
  /** Decides. Default: that of the index. */
  readonly confirmedCustodyOf?: ConfirmedCustodyOf;
  /** While this returns a reason, a custody address in the index may be outdated. */
  readonly staleReason: StaleReason;
  /** Whether the operator has paused signed operations. */
  readonly isPaused: () => boolean;
  readonly log: Logger;
}

/**
 * Verifies a request by its headers and the bytes of its body, and spends its nonce. Resolves with the signing fid.
 */
export type Verify = (request: {
  readonly headers: Headers;
  /** Reads the body and computes its keccak256. Called only after all checks that do not need it have passed. */
  readonly bodyHash: () => Promise<Uint8Array>;
  /** The operation of the requested method and path. */
  readonly op: string;
}) => Promise<number>;

const unauthorized = (message: string) => new ApiError("unauthorized", message);

/**
 * Creates the verification of signed operations. The checks run in the order of the contract, cheap ones first. Every
 * failure is 401, with three exceptions: a valid signature of another operation is 400; an index that lags so far
 * that a previous owner might be accepted, and an owner whom a second node has not confirmed yet, are 503. A request that fails a check stores nothing.
 *
 * The last step spends the nonce by one atomic insert, so that of any number of copies only one succeeds. The nonce
 * is spent before query and body are validated, and stays spent whatever the result of the request: the signature
 * does not cover the query, so the same headers would otherwise be valid for another query.
 */
export function createVerify(deps: AuthDeps): Verify {
  const { names, clock, windowSecs, nonces, custodyOf, staleReason, isPaused } = deps;
  const { confirmedCustodyOf = custodyOf } = deps;
  const readHeaders = createSignedHeadersReader(names);
  let digestOf: ReturnType<typeof createSignedOpHasher> | undefined;

  return async ({ headers, bodyHash, op }) => {
    if (isPaused()) throw pausedByOperator("signed operations");
    const { signature, ...signed } = readHeaders(headers);
    const { fid, nonce } = signed;
    const now = nowSecs(clock);
    if (Math.abs(now - signed.signedAt) > windowSecs) {
      throw unauthorized(`signed at more than ${windowSecs} seconds from the server's time`);
    }
    const times = { nowSecs: now, validUntil: signed.signedAt + windowSecs };
    if (await nonces.isSpent({ fid, nonce }, times)) throw nonceSpent();
    // The digest of a fid above 2^53 - 1 would be that of another fid.
    if (fid === UNKNOWN_FID) throw unauthorized("unknown fid");
    if (!isWellFormedSignature(signature)) throw unauthorized("signature is not valid");
    // Checked again below. A lagging index may not contain the fid yet; that is reported after the signature check.
    if (!custodyOf(fid) && (await staleReason()) === undefined) throw unauthorized("unknown fid");
    const requestHash = await bodyHash();
    // Created at the first request, so that the start does not wait for its hashes.
    digestOf ??= createSignedOpHasher(names);
    const signer = recoverSigner(digestOf({ ...signed, requestHash }), signature);
    if (!signer) throw unauthorized("signature is not valid");
    const stale = await staleReason();
    if (stale !== undefined) throw new ApiError("unavailable", `signed operations have to wait: ${stale}`);
    const custody = await confirmedCustodyOf(fid, signer);
    if (!custody) throw unauthorized("unknown fid");
    if (Buffer.compare(signer, custody) !== 0) {
      throw unauthorized("signature is not by the custody address of the fid");
    }
    if (signed.op !== op) {
      throw new ApiError("badRequest", "signed op does not match the HTTP method/path");
    }
    // A request signed a whole window in the future is valid for two windows from now.
    const isFirst = await nonces.spend({ fid, nonce }, { ...times, expiresAt: now + 2 * windowSecs });
    if (!isFirst) throw nonceSpent();
    return fid;
  };
}

function nonceSpent(): ApiError {
  return unauthorized("nonce was used before");
}
