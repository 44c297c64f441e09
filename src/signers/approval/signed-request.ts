import type { ConfirmedCustodyOf } from "../../auth/owners/owners.ts";
import { ok, type Result } from "../../lib/result.ts";
import { type KeyAddTerms, type KeyRequest, recoverKeyRequest } from "../key-add.ts";
import { refuse, type SignerRefusal } from "../refusal.ts";
import type { ApprovalRequest } from "../store/signer-store.ts";
import { isBy } from "./key-add-checks.ts";

/** Returns the request that the user makes if the app has not signed one for gasless keys. */
export function ownRequest(
  { gaslessSignature }: ApprovalRequest,
  { fid, key, deadline }: KeyAddTerms,
): KeyRequest | null {
  return gaslessSignature ? null : { requestFid: fid, key, deadline };
}

interface SignedKeyRequest {
  readonly keyRequest: KeyRequest;
  /** 20 bytes. */
  readonly requestSigner: Uint8Array;
  readonly requestSignature: Uint8Array;
}

/** Returns the request of a KEY_ADD with the signature of its fid's current custody address. */
export async function signedRequest(
  request: ApprovalRequest,
  terms: KeyAddTerms,
  options: {
    /** Custody address of the user. */
    readonly custody: Uint8Array;
    readonly requestSignature: Uint8Array | undefined;
    readonly custodyOf: ConfirmedCustodyOf;
  },
): Promise<Result<SignedKeyRequest, SignerRefusal>> {
  const own = ownRequest(request, terms);
  if (own) {
    const { custody, requestSignature } = options;
    if (!requestSignature) return refuse("badRequest", "request_signature is missing");
    if (!isBy(recoverKeyRequest("gasless", own, requestSignature), custody))
      return refuse("badRequest", "request_signature is not of the fid's custody address");
    return ok({ keyRequest: own, requestSigner: custody, requestSignature });
  }
  const { appFid, deadline, gaslessSignature } = request;
  const keyRequest = { requestFid: appFid, key: terms.key, deadline };
  const custody = await options.custodyOf(appFid);
  if (
    !gaslessSignature ||
    !custody ||
    !isBy(recoverKeyRequest("gasless", keyRequest, gaslessSignature), custody)
  )
    return refuse("conflict", "the app's custody address has changed; ask the app for a new link");
  return ok({ keyRequest, requestSigner: custody, requestSignature: gaslessSignature });
}
