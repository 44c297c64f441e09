import type { AuditEntry } from "../audit/audit-store.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { KeyFact, KeyFacts } from "./key-facts.ts";
import type {
  Approval,
  ApprovalWay,
  ManagedSigner,
  SignerStore,
  StoredSigner,
} from "./store/signer-store.ts";

/** Who looks, for the audit log. */
export interface RequestOrigin {
  readonly requestId: string;
  /** The client's address. */
  readonly address: string;
}

/** A signer with its state as of now. */
export interface SeenSigner {
  readonly signer: StoredSigner;
  readonly state: SignerState;
}

/** Computes the states of signers from the index, and stores each approval at first sight. */
export type SignerStates = ReturnType<typeof createSignerStates>;

export interface SignerStatesDeps {
  readonly store: Pick<SignerStore, "find" | "approve">;
  readonly facts: KeyFacts;
  readonly clock: Clock;
  /** The applied block of each shard of the index; null on a node that follows no other. */
  readonly appliedBlocks: () => Readonly<Record<string, number>> | null;
}

export function createSignerStates({ store, facts, clock, appliedBlocks }: SignerStatesDeps) {
  function isBehind(blocks: Readonly<Record<string, number>>): boolean {
    const applied = appliedBlocks() ?? {};
    return Object.entries(blocks).some(([shard, block]) => (applied[shard] ?? block) < block);
  }
  const state = (signer: StoredSigner) => stateOf(signer, { facts, nowSecs: nowSecs(clock), isBehind });

  return {
    async see(signer: StoredSigner, origin: RequestOrigin): Promise<SeenSigner> {
      const now = state(signer);
      const { signerUuid, request } = signer;
      const endsRequest = now.status === "approved" && request !== null && request.usedAt === null;
      if (!now.seen && !endsRequest) return { signer, state: now };
      const seen = { at: nowSecs(clock), blocks: appliedBlocks() };
      const approval = now.seen ? { ...now.seen, ...seen } : signer.approval;
      if (!approval) throw new Error("an approved signer has a user");
      const entry = approvalEntry(signer, approval.fid, { ...origin, clock });
      const ended = { signerUuid, tokenDigest: request?.tokenDigest ?? null };
      await store.approve(ended, { ...approval, at: seen.at }, entry);
      // Another node may have seen another user first.
      const stored = (await store.find(signer.signerUuid)) ?? { ...signer, approval };
      return { signer: stored, state: state(stored) };
    },
  };
}

function approvalEntry(
  { ownerFid, signerUuid }: StoredSigner,
  userFid: number,
  { requestId, address, clock }: RequestOrigin & { readonly clock: Clock },
): AuditEntry {
  const action = "signer.approve";
  const who = { ownerFid, apiKeyId: null, signerUuid, userFid, hash: null };
  return { atMs: clock.nowMs(), action, ...who, outcome: "ok", requestId, address };
}

export type SignerStatus = "generated" | "pending_approval" | "approved" | "revoked";

/** What the index and the clock make of a stored signer. */
export interface SignerState {
  readonly status: SignerStatus;
  /** The user, from the first approval on. */
  readonly fid: number | null;
  /** Unix seconds at which an approved gasless key expires unless it is used; null for others. */
  readonly expiresAt: number | null;
  /** An approval that is to be stored: the index has it, and no node has seen it before. */
  readonly seen: { readonly fid: number; readonly by: ApprovalWay } | null;
}

interface StatusContext {
  readonly facts: KeyFacts;
  readonly nowSecs: number;
  /** Whether this node's index has yet to reach the blocks at which an approval was seen on another node. */
  isBehind(blocks: NonNullable<Approval["blocks"]>): boolean;
}

/**
 * Returns the state of a signer. A signer belongs to its first user for ever. Before that, a key counts only if this service's
 * page added it, or if the app that was registered for it requested it: anybody who has seen a public key can register it for
 * an fid of theirs, and an app's user would then be signed in as a stranger. For a signer that no app was ever registered for, the key
 * counts that a user has on chain at their own request: apps that bring it there themselves compare the fid.
 */
function stateOf(signer: ManagedSigner, context: StatusContext): SignerState {
  const { approval } = signer;
  if (approval) return approvedState(signer, approval, context);
  const found = firstUser(signer, context);
  if (!found) return unapproved(signer, context, "generated", null);
  const { fact, by } = found;
  return {
    status: "approved",
    fid: fact.fid,
    expiresAt: fact.expiresAt,
    seen: { fid: fact.fid, by },
  };
}

function approvedState(signer: ManagedSigner, approval: Approval, context: StatusContext): SignerState {
  const { fid, blocks } = approval;
  const fact = context.facts.of(fid, signer.publicKey, context.nowSecs);
  if (fact || (blocks && context.isBehind(blocks)))
    return { status: "approved", fid, expiresAt: fact?.expiresAt ?? null, seen: null };
  return unapproved(signer, context, "revoked", fid);
}

function unapproved(
  { request }: ManagedSigner,
  { nowSecs }: StatusContext,
  otherwise: "generated" | "revoked",
  fid: number | null,
): SignerState {
  const isPending = request !== null && request.usedAt === null && nowSecs <= request.deadline;
  return { status: isPending ? "pending_approval" : otherwise, fid, expiresAt: null, seen: null };
}

/** The user who has the key at the request of the page or of the registered app or, where none was registered, at their own. */
function firstUser(
  { publicKey, request, submitted }: ManagedSigner,
  { facts, nowSecs }: StatusContext,
): { readonly fact: KeyFact; readonly by: ApprovalWay } | undefined {
  if (!request) {
    const fact = facts.selfRequested(publicKey);
    return fact && { fact, by: "chain" };
  }
  if (submitted) {
    const fact = facts.of(submitted.fid, publicKey, nowSecs);
    if (fact && fact.expiresAt !== null && fact.requestFid === submitted.requestFid)
      return { fact, by: "page" };
  }
  const fact = facts.requestedBy(request.appFid, publicKey, nowSecs);
  if (!fact || fact.addedAt > request.deadline) return undefined;
  return { fact, by: fact.expiresAt === null ? "chain" : "key" };
}
