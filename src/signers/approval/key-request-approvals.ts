import { randomBytes } from "node:crypto";
import { ok, type Result } from "../../lib/result.ts";
import { canonicalKey } from "../../protocol/auth-address.ts";
import { buildMessage, ed25519KeyFromSeed } from "../../protocol/message/build-message.ts";
import { toFarcasterSecs } from "../../protocol/time.ts";
import { fromHex } from "../../protocol/validate/eth.ts";
import { nowSecs } from "../../runtime/clock.ts";
import { domainOf, keyAddData, keyAddTypedData } from "../key-add.ts";
import type { KeyFacts } from "../key-facts.ts";
import { grantedTo, typesOf } from "../permissions.ts";
import { refuse, type SignerRefusal } from "../refusal.ts";
import { tokenDigestOf } from "./approval-token.ts";
import type { Approvals, ApprovalsDeps, PreparedApproval, PreparedOnChain } from "./approvals.ts";
import {
  keyTaken,
  networkRefusal,
  refuseDeadline,
  refuseKeyAdd,
  refuseNonce,
  SIGNATURE_VALID_SECS,
  unconfirmed,
  unknownWallet,
} from "./key-add-checks.ts";
import type { KeyRequestEntry, StoredKeyRequest, StoredKeyRequests } from "./key-requests.ts";

type Outcome<T> = Promise<Result<T, SignerRefusal> | undefined>;

/** Approval by link of keys that apps hold themselves. Methods return undefined if the link is not for such a key. */
export type KeyRequestApprovals = ReturnType<typeof createKeyRequestApprovals>;

// biome-ignore lint/suspicious/noExplicitAny: any method
type SuccessOf<M extends (...args: any) => Promise<Result<unknown, SignerRefusal>>> = Extract<
  Awaited<ReturnType<M>>,
  { ok: true }
>["value"];

type Deps = Pick<
  ApprovalsDeps,
  "registry" | "custodyOf" | "network" | "clock" | "keyTtlSecs" | "submit" | "calls"
> & { readonly facts: KeyFacts; readonly stored: StoredKeyRequests };

/** Types that a gasless key can be granted. All of them, because apps that hold a key do not ask for fewer. */
const SCOPES = grantedTo(typesOf([]));
const SEED_BYTES = 32;

export function createKeyRequestApprovals(deps: Deps) {
  const { stored, registry, facts, custodyOf, network, clock, keyTtlSecs, submit, calls } = deps;

  async function find(token: string) {
    const digest = tokenDigestOf(token);
    return digest && (await stored.find(digest));
  }

  /** Returns the terms of a gasless key. */
  const termsOf = ({ key }: KeyRequestEntry, fid: number, nonce: number, deadline: number) => ({
    fid,
    key: fromHex(key),
    scopes: SCOPES,
    ttlSecs: keyTtlSecs,
    nonce,
    deadline,
  });

  /** Returns the app's request with its custody address, which must still be the one that signed. */
  async function requestOf({ appFid, key, deadline, signature }: KeyRequestEntry) {
    const signed = { requestFid: appFid, key: canonicalKey(fromHex(key)), deadline };
    const custody = await custodyOf(appFid);
    if (!custody || !domainOf(signed, fromHex(signature), custody))
      return refuse("conflict", "the app's custody address has changed; ask the app for a new link");
    return ok({ request: signed, requestSigner: custody, requestSignature: fromHex(signature) });
  }

  const usedUp = async (request: StoredKeyRequest) =>
    (await stored.see(request)) && refuse("conflict", "a user has approved this link", { code: "conflict" });

  async function submitOne(
    found: StoredKeyRequest,
    [, approval, origin]: Parameters<Approvals["submit"]>,
  ): ReturnType<Approvals["submit"]> {
    const { entry } = found;
    const { fid, nonce, deadline, custodySignature } = approval;
    if (!entry.isGasless)
      return refuse("badRequest", "this key is added on chain, by a transaction of the user's wallet");
    const late = (await usedUp(found)) ?? refuseDeadline(deadline, clock);
    if (late) return late;
    const custody = await custodyOf(fid);
    if (!custody) return refuse("notFound", `fid ${fid} is not registered`);
    const terms = termsOf(entry, fid, nonce, deadline);
    const forged =
      refuseKeyAdd(terms, custodySignature, custody) ?? refuseNonce(nonce, registry.userNonce(fid));
    if (forged) return forged;
    const requested = await requestOf(entry);
    if (!requested.ok) return requested;
    const head = { fid, timestamp: toFarcasterSecs(nowSecs(clock)), network };
    const data = keyAddData({ terms, custodySignature, ...requested.value, head });
    // The network requires a valid envelope, but any key may sign it: only its content matters.
    const message = buildMessage(data, ed25519KeyFromSeed(new Uint8Array(randomBytes(SEED_BYTES))));
    const sent = await submit(message, { ...origin, ownerFid: entry.ownerFid, apiKeyId: null });
    if (!sent.ok) return networkRefusal(sent.error);
    const state = await stored.see(found);
    return ok({ status: state?.status ?? "pending_approval", fid, hash: message.hash });
  }

  return {
    async view(token: string): Outcome<SuccessOf<Approvals["view"]>> {
      const found = await find(token);
      if (!found) return undefined;
      const { appFid, deadline, redirectUrl, isGasless } = found.entry;
      const state = await stored.see(found);
      const key = fromHex(found.entry.key);
      return ok({
        status: state?.status ?? "pending_approval",
        appFid,
        publicKey: key,
        scopes: canonicalKey(key) === key ? SCOPES : [],
        ttlSecs: isGasless ? keyTtlSecs : null,
        deadline,
        redirectUrl,
        userFid: state?.fid ?? null,
      });
    },

    async prepare(token: string, address: Uint8Array): Outcome<PreparedApproval | PreparedOnChain> {
      const found = await find(token);
      if (!found) return undefined;
      const { entry, digest } = found;
      const refused = (await usedUp(found)) ?? calls.count(digest);
      if (refused) return refused;
      const fid = registry.fidOfCustody(address);
      if (fid === undefined) return unknownWallet();
      try {
        const requested = await requestOf(entry);
        if (!requested.ok) return requested;
        const key = fromHex(entry.key);
        const isTaken = entry.isGasless
          ? facts.isTaken(key, { fid, requestFid: entry.appFid })
          : facts.isOnChain(fid, canonicalKey(key));
        if (isTaken) return keyTaken();
        if (entry.isGasless) {
          const deadline = toFarcasterSecs(nowSecs(clock)) + SIGNATURE_VALID_SECS;
          const terms = termsOf(entry, fid, registry.userNonce(fid) + 1, deadline);
          return ok({ fid, keyAdd: keyAddTypedData(terms), keyRequest: null });
        }
        const { requestSigner, requestSignature } = requested.value;
        const request = { key, requestFid: entry.appFid, requestSigner, requestDeadline: entry.deadline };
        return ok({ fid, onChain: { ...request, requestSignature } });
      } catch (cause) {
        return unconfirmed(cause);
      }
    },

    async submit(...args: Parameters<Approvals["submit"]>): Outcome<SuccessOf<Approvals["submit"]>> {
      const [token] = args;
      const found = await find(token);
      if (!found) return undefined;
      const limited = calls.count(found.digest);
      if (limited) return limited;
      try {
        return await calls.inTurn(token, () => submitOne(found, args));
      } catch (cause) {
        return unconfirmed(cause);
      }
    },
  };
}
