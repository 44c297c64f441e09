import type { ConfirmedCustodyOf } from "../../auth/owners/owners.ts";
import { ok, type Result } from "../../lib/result.ts";
import { toFarcasterSecs } from "../../protocol/time.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import {
  type KeyAddTerms,
  type KeyAddTypedData,
  type KeyRequestTypedData,
  keyAddData,
  keyAddTypedData,
  keyRequestTypedData,
} from "../key-add.ts";
import type { KeyFacts, KeyRegistry } from "../key-facts.ts";
import { grantedTo } from "../permissions.ts";
import { locked, refuse, type SignerRefusal } from "../refusal.ts";
import type { SubmitMessage } from "../signer-keys.ts";
import type { RequestOrigin, SignerStates, SignerStatus } from "../signer-states.ts";
import type { ApprovalRequest, SignerStore, StoredSigner } from "../store/signer-store.ts";
import type { Vault } from "../vault.ts";
import { tokenDigestOf } from "./approval-token.ts";
import {
  keyTaken,
  networkRefusal,
  over,
  refuseDeadline,
  refuseKeyAdd,
  refuseNonce,
  SIGNATURE_VALID_SECS,
  unconfirmed,
  unknownWallet,
} from "./key-add-checks.ts";
import type { LinkCalls } from "./link-calls.ts";
import { ownRequest, signedRequest } from "./signed-request.ts";

/** What the approval page shows before its user signs. */
export interface ApprovalView {
  readonly status: SignerStatus;
  readonly appFid: number;
  /** 32 bytes, or 20 for an auth address. */
  readonly publicKey: Uint8Array;
  /** Message types that the key may sign. Empty for an auth address. */
  readonly scopes: readonly number[];
  /** How long the key stays valid after its last use, in seconds. Null for a key on chain. */
  readonly ttlSecs: number | null;
  /** Unix seconds. */
  readonly deadline: number;
  readonly redirectUrl: string | null;
  /** The only user who may approve. Null while any user may. */
  readonly userFid: number | null;
}

/** What a wallet has to sign. */
export interface PreparedApproval {
  readonly fid: number;
  readonly keyAdd: KeyAddTypedData;
  /** Null if the app has signed its own request for a gasless key. */
  readonly keyRequest: KeyRequestTypedData | null;
}

/** A key that its user adds on chain with a transaction, at the request of an app. */
export interface PreparedOnChain {
  readonly fid: number;
  readonly onChain: {
    /** 32 bytes, or 20 for an auth address. */
    readonly key: Uint8Array;
    readonly requestFid: number;
    /** Custody address of the app, 20 bytes. */
    readonly requestSigner: Uint8Array;
    readonly requestDeadline: number;
    readonly requestSignature: Uint8Array;
  };
}

/** Signatures of the prepared data by a user's custody address. */
export interface SignedApproval {
  readonly fid: number;
  readonly nonce: number;
  /** Farcaster seconds. */
  readonly deadline: number;
  readonly custodySignature: Uint8Array;
  readonly requestSignature: Uint8Array | undefined;
}

export interface ApprovalResult {
  readonly status: SignerStatus;
  readonly fid: number;
  readonly hash: Uint8Array;
}

/**
 * Approval of signers with gasless keys, on the thread that owns the vault. Callers need only the token of an approval URL, which ends
 * with its request.
 */
export interface Approvals {
  view(token: string): Promise<Result<ApprovalView, SignerRefusal>>;
  /** @param address address of the wallet that will sign, 20 bytes. */
  prepare(token: string, address: Uint8Array): Promise<Result<PreparedApproval, SignerRefusal>>;
  submit(
    token: string,
    approval: SignedApproval,
    origin: RequestOrigin,
  ): Promise<Result<ApprovalResult, SignerRefusal>>;
}

export interface ApprovalsDeps {
  readonly store: SignerStore;
  readonly states: SignerStates;
  readonly registry: KeyRegistry;
  readonly facts: Pick<KeyFacts, "isTaken">;
  readonly custodyOf: ConfirmedCustodyOf;
  readonly vault: Vault | undefined;
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  /** `signers.key_ttl_secs`. */
  readonly keyTtlSecs: number;
  readonly submit: SubmitMessage;
  readonly calls: LinkCalls;
}

interface Pending {
  readonly signer: StoredSigner;
  readonly request: ApprovalRequest;
}

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { store, states, registry, facts, custodyOf, vault, network, clock, keyTtlSecs, submit } = deps;
  const { calls } = deps;

  async function findPending(
    token: string,
    options: { readonly isCounted: boolean },
  ): Promise<Result<Pending, SignerRefusal>> {
    const digest = tokenDigestOf(token);
    const signer = digest && (await store.findByToken(digest));
    if (!digest || !signer?.request) return over();
    if (nowSecs(clock) > signer.request.deadline) return over();
    if (options.isCounted && signer.request.usedAt !== null) return over();
    const limited = options.isCounted ? calls.count(digest) : undefined;
    return limited ?? ok({ signer, request: signer.request });
  }

  function termsOf(
    { publicKey, permissions }: StoredSigner,
    fid: number,
    nonce: number,
    deadline: number,
  ): KeyAddTerms {
    return { fid, key: publicKey, scopes: grantedTo(permissions), ttlSecs: keyTtlSecs, nonce, deadline };
  }

  /** Only a signer's first user can approve it again, and only the first user who submits a request can submit it again. */
  function refuseStranger({ approval, submitted }: StoredSigner, fid: number) {
    if (approval !== null && approval.fid !== fid)
      return refuse(
        "conflict",
        `this signer is that of fid ${approval.fid}: approve as that fid, or ask the app for another signer`,
        { code: "conflict" },
      );
    if (submitted === null || submitted.fid === fid) return undefined;
    const why = `this link is for fid ${submitted.fid}: approve as that fid, or ask the app for another one`;
    return refuse("conflict", why, { code: "conflict" });
  }

  /** Returns why a user cannot approve a link that was already approved. Undefined for a link that ended in another way. */
  async function refuseApproved(token: string, fid: number) {
    const digest = tokenDigestOf(token);
    const signer = digest && (await store.findByToken(digest));
    if (!signer?.approval || signer.request?.usedAt == null) return undefined;
    const isSame = signer.approval.fid === fid;
    const who = isSame
      ? "you have approved this link in another window"
      : "another user has approved this link";
    return refuse("conflict", who, { code: "conflict" });
  }

  async function submitOne(
    token: string,
    approval: SignedApproval,
    origin: RequestOrigin,
  ): ReturnType<Approvals["submit"]> {
    const pending = await findPending(token, { isCounted: true });
    if (!pending.ok) return (await refuseApproved(token, approval.fid)) ?? pending;
    const { signer, request } = pending.value;
    const { fid, nonce, deadline, custodySignature, requestSignature } = approval;
    if (!vault?.knows(signer.keyId)) return locked();
    const late = refuseDeadline(deadline, clock);
    if (late) return late;
    const custody = await custodyOf(fid);
    if (!custody) return refuse("notFound", `fid ${fid} is not registered`);
    const stranger = refuseStranger(signer, fid);
    if (stranger) return stranger;
    // A key without scopes could be read as granting nothing, or everything.
    if (grantedTo(signer.permissions).length === 0) return needsChain();
    const terms = termsOf(signer, fid, nonce, deadline);
    const forged = refuseKeyAdd(terms, custodySignature, custody);
    if (forged) return forged;
    const signed = await signedRequest(request, terms, { custody, requestSignature, custodyOf });
    if (!signed.ok) return signed;
    const spent = refuseNonce(nonce, registry.userNonce(fid));
    if (spent) return spent;

    const { keyRequest } = signed.value;
    // Stored before it is submitted: a crash in between must not leave a key that approves nothing.
    const submitted = { fid, requestFid: keyRequest.requestFid };
    if (!(await store.submitting(signer.signerUuid, request.tokenDigest, submitted))) {
      const noted = await store.findByToken(request.tokenDigest);
      return (noted && refuseStranger(noted, fid)) ?? over();
    }
    const head = { fid, timestamp: toFarcasterSecs(nowSecs(clock)), network };
    const { requestSigner } = signed.value;
    const parts = { terms, custodySignature, request: keyRequest, requestSigner, head };
    const data = keyAddData({ ...parts, requestSignature: signed.value.requestSignature });
    const message = vault.sign(signer, data);
    const sent = await submit(message, { ...origin, ownerFid: signer.ownerFid, apiKeyId: null });
    if (!sent.ok) return networkRefusal(sent.error);
    const current = await store.find(signer.signerUuid);
    const state = current && (await states.see(current, origin)).state;
    return ok({ status: state?.status ?? "pending_approval", fid, hash: message.hash });
  }

  return {
    async view(token) {
      const pending = await findPending(token, { isCounted: false });
      if (!pending.ok) return pending;
      const { signer, request } = pending.value;
      const { state } = await states.see(signer, { requestId: "", address: "" });
      return ok({
        status: state.status,
        appFid: request.appFid,
        publicKey: signer.publicKey,
        scopes: grantedTo(signer.permissions),
        ttlSecs: keyTtlSecs,
        deadline: request.deadline,
        redirectUrl: request.redirectUrl,
        userFid: signer.approval?.fid ?? signer.submitted?.fid ?? null,
      });
    },

    async prepare(token, address) {
      const pending = await findPending(token, { isCounted: true });
      if (!pending.ok) return pending;
      const { signer, request } = pending.value;
      const fid = registry.fidOfCustody(address);
      if (fid === undefined) return unknownWallet();
      const stranger = refuseStranger(signer, fid);
      if (stranger) return stranger;
      if (grantedTo(signer.permissions).length === 0) return needsChain();
      const deadline = toFarcasterSecs(nowSecs(clock)) + SIGNATURE_VALID_SECS;
      const terms = termsOf(signer, fid, registry.userNonce(fid) + 1, deadline);
      const own = ownRequest(request, terms);
      // Checked before the user signs, because a client that has seen the public key can register it.
      if (facts.isTaken(signer.publicKey, { fid, requestFid: own ? fid : request.appFid })) return keyTaken();
      return ok({ fid, keyAdd: keyAddTypedData(terms), keyRequest: own && keyRequestTypedData(own) });
    },

    async submit(token, approval, origin) {
      try {
        return await calls.inTurn(token, () => submitOne(token, approval, origin));
      } catch (cause) {
        return unconfirmed(cause);
      }
    },
  };
}

function needsChain() {
  return refuse("badRequest", "what this signer is for needs a key that is added on chain");
}
