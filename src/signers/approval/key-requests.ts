import { type AuditStore, recordRefusal } from "../../audit/audit-store.ts";
import type { ConfirmedCustodyOf } from "../../auth/owners/owners.ts";
import { ok, type Result } from "../../lib/result.ts";
import { canonicalKey } from "../../protocol/auth-address.ts";
import { fromHex, type Hex, toHex } from "../../protocol/validate/eth.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { isRedirectUrl } from "../../sign-in/domain.ts";
import type { OneTimeKind, OneTimeStore } from "../../sign-in/one-time-store.ts";
import { domainOf } from "../key-add.ts";
import type { KeyFacts } from "../key-facts.ts";
import { noMasterKey, refuse, type SignerRefusal } from "../refusal.ts";
import type { SignerActor } from "../signer-keys.ts";
import type { ApprovalTokens } from "./approval-token.ts";

/** An app's request that a user add a key that the app itself holds. Bytes are in hex. */
export interface KeyRequestEntry {
  readonly ownerFid: number;
  readonly appFid: number;
  /** 32 bytes, or 20 for an auth address. */
  readonly key: Hex;
  /** Unix seconds. */
  readonly deadline: number;
  /** The app's custody signature of the SignedKeyRequest, 65 bytes. */
  readonly signature: Hex;
  /** Whether the signature is for a gasless key rather than for the contract. */
  readonly isGasless: boolean;
  readonly redirectUrl: string | null;
}

/** A requested key, for the app that requested it. */
export interface RequestedKey {
  readonly status: "pending_approval" | "approved" | "revoked";
  /** The user. Null while the request is pending. */
  readonly fid: number | null;
  /** URL at which a user approves the key. Set while the request is pending. */
  readonly approvalUrl: string | undefined;
}

/** Requests for keys that apps hold. The node never has the private keys. */
export interface KeyRequests {
  /** Creates a request that asks users to approve a key. Repeating the same request returns the same link. */
  request(
    actor: SignerActor,
    request: {
      readonly key: Uint8Array;
      readonly appFid: number;
      readonly deadline: number;
      readonly signature: Uint8Array;
      readonly redirectUrl: string | undefined;
    },
  ): Promise<Result<RequestedKey, SignerRefusal>>;
  /** Returns a key that the owner has requested; undefined if no request is valid anymore. */
  find(ownerFid: number, key: Uint8Array): Promise<RequestedKey | undefined>;
}

/** Maximum number of pending requests per owner. */
const MAX_WAITING = 1000;
const MAX_REQUEST_SECS = 30 * 86_400;
const ADDRESS_BYTES = 20;

const kindOf = (ownerFid: number): OneTimeKind => `key-request:${ownerFid}`;
const isAddress = (key: Uint8Array) => key.length === ADDRESS_BYTES;

/** A request with its digest in the store. */
export interface StoredKeyRequest {
  readonly digest: Uint8Array;
  readonly entry: KeyRequestEntry;
  /** The first user who approved it, once that was seen. */
  readonly approvedBy: number | null;
}

/** Outcome of a request that a user has approved. */
export interface RequestOutcome {
  readonly status: "approved" | "revoked";
  readonly fid: number;
}

/** Requests of all owners, and their outcome according to the index. */
export interface StoredKeyRequests {
  find(digest: Uint8Array): Promise<StoredKeyRequest | undefined>;
  /**
   * Returns the outcome of a request, and stores its first user. A key that someone else requested, for the same user or another, does
   * not count.
   */
  see(request: StoredKeyRequest): Promise<RequestOutcome | undefined>;
}

export function createStoredKeyRequests(deps: {
  readonly store: Pick<OneTimeStore, "find" | "complete">;
  readonly facts: KeyFacts;
  readonly clock: Clock;
}): StoredKeyRequests {
  const { store, facts, clock } = deps;
  return {
    async find(digest) {
      const found = await store.find(digest, nowSecs(clock));
      if (!found?.kind.startsWith("key-request:")) return undefined;
      const { fid } = (found.result ?? {}) as { fid?: number };
      return { digest, entry: found.payload as KeyRequestEntry, approvedBy: fid ?? null };
    },

    async see({ digest, entry: { appFid, key: text }, approvedBy }) {
      const key = fromHex(text);
      const now = nowSecs(clock);
      if (approvedBy !== null) {
        const isActive = isAddress(key)
          ? facts.isOnChain(approvedBy, canonicalKey(key))
          : facts.of(approvedBy, key, now) !== undefined;
        return { status: isActive ? "approved" : "revoked", fid: approvedBy };
      }
      const user = isAddress(key)
        ? facts.addressRequestedBy(appFid, canonicalKey(key))
        : facts.requestedBy(appFid, key, now);
      if (!user) return undefined;
      await store.complete(digest, { fid: user.fid }, now);
      return { status: "approved", fid: user.fid };
    },
  };
}

export function createKeyRequests(deps: {
  readonly store: Pick<OneTimeStore, "add">;
  readonly stored: StoredKeyRequests;
  readonly audit: Pick<AuditStore, "append">;
  readonly custodyOf: ConfirmedCustodyOf;
  readonly clock: Clock;
  /** Undefined without a master key. */
  readonly tokens: ApprovalTokens | undefined;
  readonly linkBase: () => string | undefined;
}): KeyRequests {
  const { store, stored, audit, custodyOf, clock, tokens, linkBase } = deps;

  async function viewOf(request: StoredKeyRequest, token: string): Promise<RequestedKey> {
    const outcome = await stored.see(request);
    if (outcome) return { ...outcome, approvalUrl: undefined };
    const base = linkBase();
    return { status: "pending_approval", fid: null, approvalUrl: base && `${base}/approve/${token}` };
  }

  async function request(
    actor: SignerActor,
    { key, appFid, deadline, signature, redirectUrl }: Parameters<KeyRequests["request"]>[1],
  ): Promise<Result<RequestedKey, SignerRefusal>> {
    if (!tokens) return noMasterKey();
    if (!linkBase()) return refuse("notImplemented", "approval links need service.public_url");
    const now = nowSecs(clock);
    if (deadline <= now) return refuse("badRequest", "deadline must be in the future");
    if (deadline > now + MAX_REQUEST_SECS) return refuse("badRequest", "deadline must be within 30 days");
    if (redirectUrl !== undefined && !isRedirectUrl(redirectUrl))
      return refuse("badRequest", "redirect_url must be an https URL or a URL of an app's own scheme");
    const custody = await custodyOf(appFid);
    if (!custody) return refuse("notFound", `app_fid ${appFid} is not registered`);
    const signedKey = canonicalKey(key);
    const domain = domainOf({ requestFid: appFid, key: signedKey, deadline }, signature, custody);
    if (!domain) return refuse("forbidden", "signature is not of the custody address of app_fid");
    if (isAddress(key) && domain === "gasless")
      return refuse("badRequest", "signature: an auth address is added on chain; sign for the contract");
    const { ownerFid } = actor;
    const entry: KeyRequestEntry = {
      ownerFid,
      appFid,
      key: toHex(key),
      deadline,
      signature: toHex(signature),
      isGasless: domain === "gasless",
      redirectUrl: redirectUrl ?? null,
    };
    const [{ token, digest }] = tokens.named(nameOf(ownerFid, key));
    const before = await stored.find(digest);
    if (before && JSON.stringify(before.entry) === JSON.stringify(entry))
      return ok(await viewOf(before, token));
    const kind = kindOf(ownerFid);
    const waiting = { digest, kind, payload: entry, expiresAt: deadline };
    const isAdded = await store.add(waiting, MAX_WAITING, auditEntry(actor, clock));
    if (!isAdded)
      return refuse("tooManyRequests", `at most ${MAX_WAITING} keys of an owner may wait for users`);
    return ok(await viewOf({ digest, entry, approvedBy: null }, token));
  }

  return {
    request: async (actor, asked) =>
      recordRefusal(audit, auditEntry(actor, clock), await request(actor, asked)),

    async find(ownerFid, key) {
      for (const { token, digest } of tokens?.named(nameOf(ownerFid, key)) ?? []) {
        const found = await stored.find(digest);
        if (found) return viewOf(found, token);
      }
      return undefined;
    },
  };
}

const nameOf = (ownerFid: number, key: Uint8Array) => `key request ${ownerFid} ${toHex(key)}`;

function auditEntry({ ownerFid, apiKeyId, requestId, address }: SignerActor, clock: Clock) {
  const what = { action: "signer.request", signerUuid: null, userFid: null, hash: null, outcome: "ok" };
  return { atMs: clock.nowMs(), ownerFid, apiKeyId, ...what, requestId, address };
}
