import type { AuditEntry } from "../../audit/audit-store.ts";
import type { ConfirmedCustodyOf } from "../../auth/owners/owners.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import { ok, type Result } from "../../lib/result.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { grantedTo, typesOf } from "../permissions.ts";
import { noMasterKey, refuse, type SignerRefusal, unknownSigner } from "../refusal.ts";
import type { SignersRpc } from "../rpc.ts";
import type { SignerActor } from "../signer-keys.ts";
import type { SignerStates } from "../signer-states.ts";
import { MAX_FIRST, type SignerView } from "../signer-views.ts";
import type { ApprovalRequest, SignerStore, StoredSigner } from "../store/signer-store.ts";
import type { ApprovalTokens } from "./approval-token.ts";

/** A signer that its owner creates without an app's request. */
export interface WantedSigner {
  readonly permissions: readonly number[];
  /** The only user who may approve it. Undefined for any user. */
  readonly userFid: number | undefined;
  /** When the link ends, in unix seconds. Undefined for one day from now. */
  readonly deadline: number | undefined;
}

export interface LoginSigner {
  readonly signerUuid: string;
  /** The user approves the signer on the page of this token. Null if it is already approved. */
  readonly approvalToken: string | null;
}

/** Signers whose users request the key themselves, so that no app has to sign. */
export interface UserRequests {
  /** Creates a signer and a link at which its user approves it, at the user's own request. */
  createForApproval(actor: SignerActor, wanted: WantedSigner): Promise<Result<SignerView, SignerRefusal>>;
  /**
   * Returns the owner's signer for a user who has signed in: an approved one that may sign everything, otherwise one that is pending for
   * this user.
   *
   * @param waiting the signer that was pending for this user before.
   */
  forLogin(
    actor: SignerActor,
    fid: number,
    waiting: string | undefined,
  ): Promise<Result<LoginSigner, SignerRefusal>>;
}

const LOGIN_REQUEST_SECS = 3600;
const LINK_SECS = 86_400;
const MAX_REQUEST_SECS = 7 * 86_400;

export function createUserRequests({
  store,
  states,
  custodyOf,
  clock,
  tokens,
  linkBase,
  thread,
  view,
}: {
  readonly store: SignerStore;
  readonly states: SignerStates;
  readonly custodyOf: ConfirmedCustodyOf;
  readonly clock: Clock;
  readonly tokens: ApprovalTokens | undefined;
  readonly linkBase: () => string | undefined;
  readonly thread: RpcClient<SignersRpc>;
  readonly view: (signer: StoredSigner, actor: SignerActor) => Promise<SignerView>;
}): UserRequests {
  /** Stores a request by the user, for which no app has to sign. Undefined if the signer was deleted. */
  async function requestByUser(
    actor: SignerActor,
    signerUuid: string,
    deadline: number,
    links: ApprovalTokens,
  ): Promise<ApprovalRequest | undefined> {
    const { ownerFid } = actor;
    const request = {
      appFid: ownerFid,
      signature: new Uint8Array(),
      gaslessSignature: null,
      deadline,
      redirectUrl: null,
      ...links.create(),
    };
    const entry = registration(actor, { signerUuid }, clock);
    const isStored = await store.request({ signerUuid, ownerFid }, request, nowSecs(clock), entry);
    return isStored ? { ...request, usedAt: null } : undefined;
  }

  async function createForApproval(
    actor: SignerActor,
    { permissions, userFid, deadline = nowSecs(clock) + LINK_SECS }: WantedSigner,
  ): Promise<Result<SignerView, SignerRefusal>> {
    if (!tokens) return noMasterKey();
    if (!linkBase()) return noLinks();
    const outside = refuseDeadline(deadline, nowSecs(clock));
    if (outside) return outside;
    if (grantedTo(permissions).length < permissions.length)
      return refuse("badRequest", "a key that is approved by a link has no permissions in channels");
    if (userFid !== undefined && !(await custodyOf(userFid)))
      return refuse("notFound", `fid ${userFid} is not registered`);
    const created = await thread.createSigner(actor, permissions);
    if (!created.ok) return created;
    const { signerUuid } = created.value;
    const request = await requestByUser(actor, signerUuid, deadline, tokens);
    if (request && userFid !== undefined)
      await store.submitting(signerUuid, request.tokenDigest, { fid: userFid, requestFid: userFid });
    const stored = request && (await store.find(signerUuid));
    return stored ? ok(await view(stored, actor)) : unknownSigner();
  }

  return {
    createForApproval,

    async forLogin(actor, fid, waiting) {
      if (!tokens) return noMasterKey();
      const { ownerFid } = actor;
      const all = typesOf([]);
      const page = { after: 0, limit: MAX_FIRST };
      for (const signer of await store.listByOwnerAndFid(ownerFid, fid, page)) {
        const { state } = await states.see(signer, actor);
        const mayAll = all.every((type) => signer.permissions.includes(type));
        if (mayAll && state.status === "approved" && state.fid === fid)
          return ok({ signerUuid: signer.signerUuid, approvalToken: null });
      }
      const before = waiting === undefined ? undefined : await store.find(waiting);
      const isFree = before?.ownerFid === ownerFid && before.approval === null;
      const created = isFree ? ok(before) : await thread.createSigner(actor, all);
      if (!created.ok) return created;
      const { signerUuid } = created.value;
      const request = await requestByUser(actor, signerUuid, nowSecs(clock) + LOGIN_REQUEST_SECS, tokens);
      if (!request) return unknownSigner();
      return ok({ signerUuid, approvalToken: tokens.textOf(request) ?? null });
    },
  };
}

export const noLinks = () => refuse("notImplemented", "approval links need service.public_url");

export function refuseDeadline(deadline: number, now: number) {
  if (deadline <= now) return refuse("badRequest", "deadline must be in the future");
  if (deadline > now + MAX_REQUEST_SECS) return refuse("badRequest", "deadline must be within 7 days");
  return undefined;
}

export function registration(
  actor: SignerActor,
  { signerUuid }: Pick<StoredSigner, "signerUuid">,
  clock: Clock,
): AuditEntry {
  const { ownerFid, apiKeyId, requestId, address } = actor;
  const what = { action: "signer.request", signerUuid, userFid: null, hash: null, outcome: "ok" };
  return { atMs: clock.nowMs(), ownerFid, apiKeyId, ...what, requestId, address };
}
