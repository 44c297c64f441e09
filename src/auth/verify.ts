import type { ServiceNames } from "../config/names.ts";
import { ApiError, pausedByOperator, wrongOp } from "../http/errors.ts";
import { UNKNOWN_FID } from "../protocol/fid.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log/logger.ts";
import type { NonceStore } from "./nonce-store.ts";
import { isSameAddress, type StaleReason } from "./owners/custody.ts";
import type { Owners } from "./owners/owners.ts";
import type { SessionLookup } from "./session.ts";
import { createSignedHeadersReader } from "./signed-headers.ts";
import { createSignedOpHasher, isWellFormedSignature, recoverSigner } from "./typed-data.ts";

/** Asks the contract of an owner's wallet whether it accepts a signature. It limits the calls that strangers can cause. */
export type OwnerContracts = (request: {
  readonly address: Uint8Array;
  readonly digest: Uint8Array;
  readonly signature: Uint8Array;
  /** The client whose share of the calls it uses. */
  readonly client: string;
}) => Promise<"valid" | "invalid" | "unavailable" | "busy" | "limited">;

/** Dependencies of the verification of signed operations. */
export interface AuthDeps {
  readonly names: ServiceNames;
  /** Determines the age of a signature. */
  readonly clock: Clock;
  /** Determines which sessions have ended: the clock of the state. */
  readonly stateClock: Clock;
  /** `auth.signed_at_window_secs`. */
  readonly windowSecs: number;
  readonly nonces: NonceStore;
  /** Undefined if the operator has disabled sessions. */
  readonly sessions: SessionLookup | undefined;
  readonly owners: Owners;
  /** Undefined without an Optimism RPC: then only keys can sign. */
  readonly contracts?: OwnerContracts | undefined;
  /** While it returns a reason, a custody address in the index may be outdated. */
  readonly staleReason: StaleReason;
  /** Reports whether the operator has paused signed operations. */
  readonly isPaused: () => boolean;
  readonly log: Logger;
}

/** The owner who has signed a request. */
export interface SigningOwner {
  readonly fid: number;
  /** The custody address that authorized the request, 20 bytes. The fid may have a different one by now. */
  readonly custody: Uint8Array;
}

/** Verifies a request by its headers and the bytes of its body, and spends its nonce. */
export type Verify = (request: {
  readonly headers: Headers;
  /** Reads the body and computes its keccak256. Called only after all checks that do not need it have passed. */
  readonly bodyHash: () => Promise<Uint8Array>;
  /** The operation of the requested method and path. */
  readonly op: string;
  /** The sender, as client limits identify it. */
  readonly client: string;
}) => Promise<SigningOwner>;

const unauthorized = (message: string) => new ApiError("unauthorized", message);

/**
 * Creates the verifier of signed operations, by the key of the custody address or by its contract. The checks run in the order of the
 * specification, cheap ones first. Every failure is 401, except:
 * - 400: a valid signature of another operation;
 * - 503: the index lags so far that a previous owner might be accepted, a second node has not confirmed the owner yet, or a contract
 *   cannot be asked;
 * - 429: the client has used up its share of calls to contracts.
 *
 * A request that fails a check stores nothing.
 *
 * The last step spends the nonce by one atomic insert, so that only one of any number of copies succeeds. The nonce is spent before query
 * and body are validated, and stays spent whatever the result of the request: the signature does not cover the query, so the same headers
 * would otherwise be valid for another query.
 */
export function createVerify(deps: AuthDeps): Verify {
  const { names, clock, windowSecs, nonces, owners, contracts, staleReason, isPaused } = deps;
  const readHeaders = createSignedHeadersReader(names, contracts !== undefined);
  let digestOf: ReturnType<typeof createSignedOpHasher> | undefined;

  /** Reports whether an owner's wallet contract accepts a signature that the owner's key did not make. */
  async function acceptsAsContract(
    fid: number,
    address: Uint8Array,
    request: { readonly digest: Uint8Array; readonly signature: Uint8Array; readonly client: string },
  ): Promise<boolean> {
    if (!contracts) return false;
    const verdict = await contracts({ ...request, address });
    if (verdict === "limited")
      throw new ApiError("tooManyRequests", "too many checks of contract wallets; try again");
    if (verdict === "busy" || verdict === "unavailable")
      throw new ApiError("unavailable", "the contract of the custody address could not be asked; try again");
    if (verdict === "invalid") return false;
    const confirmed = await owners.custodyOf(fid, address);
    return confirmed !== undefined && isSameAddress(confirmed, address);
  }

  return async ({ headers, bodyHash, op, client }) => {
    if (isPaused()) throw pausedByOperator("signed operations");
    const { signature, ...signed } = readHeaders(headers);
    const { fid, nonce } = signed;
    const now = nowSecs(clock);
    if (Math.abs(now - signed.signedAt) > windowSecs) {
      throw unauthorized(`signed at more than ${windowSecs} seconds from the server's time`);
    }
    const times = { nowSecs: now, validUntil: signed.signedAt + windowSecs };
    if (await nonces.isSpent({ fid, nonce }, times)) throw nonceSpent();
    // An fid above 2^53 - 1 would have the digest of another fid.
    if (fid === UNKNOWN_FID) throw unauthorized("unknown fid");
    if (!contracts && !isWellFormedSignature(signature)) throw unauthorized("signature is not valid");
    // Checked again below. A lagging index may not contain the fid yet; that is reported after the signature check.
    if (!owners.inIndex(fid) && (await staleReason()) === undefined && !(await owners.newest(fid)))
      throw unauthorized("unknown fid");
    const requestHash = await bodyHash();
    // Created at the first request, so that startup does not wait for its hashes.
    digestOf ??= createSignedOpHasher(names);
    const digest = digestOf({ ...signed, requestHash });
    const signer = recoverSigner(digest, signature);
    if (!signer && !contracts) throw unauthorized("signature is not valid");
    const stale = await staleReason();
    if (stale !== undefined) throw new ApiError("unavailable", `signed operations have to wait: ${stale}`);
    const custody = await (signer ? owners.custodyOf(fid, signer) : owners.newest(fid));
    if (!custody) throw unauthorized("unknown fid");
    const isByKey = signer !== undefined && isSameAddress(signer, custody);
    if (!isByKey && !(await acceptsAsContract(fid, custody, { digest, signature, client }))) {
      throw notByCustody();
    }
    if (signed.op !== op) {
      throw wrongOp(op);
    }
    if (!(await owners.recordAct(fid, custody))) throw notByCustody();
    // A request signed a whole window in the future is valid for two windows from now.
    const isFirst = await nonces.spend({ fid, nonce }, { ...times, expiresAt: now + 2 * windowSecs });
    if (!isFirst) throw nonceSpent();
    return { fid, custody };
  };
}

function notByCustody(): ApiError {
  return unauthorized("signature is not by the custody address of the fid");
}

function nonceSpent(): ApiError {
  return unauthorized("nonce was used before");
}
