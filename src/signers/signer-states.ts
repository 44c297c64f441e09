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

/** Origin of a request, for the audit log. */
export interface RequestOrigin {
  readonly requestId: string;
  /** Address of the client. */
  readonly address: string;
}

/** A signer with its current state. */
export interface SeenSigner {
  readonly signer: StoredSigner;
  readonly state: SignerState;
}

/** Derives the states of signers from the index, and stores each approval when it is first seen. */
export type SignerStates = ReturnType<typeof createSignerStates>;

export interface SignerStatesDeps {
  readonly store: Pick<SignerStore, "find" | "approve">;
  readonly facts: KeyFacts;
  readonly clock: Clock;
  /** Applied block of each shard of the index. Null on a node that does not follow another. */
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

/** State of a stored signer, derived from the index and the clock. */
export interface SignerState {
  readonly status: SignerStatus;
  /** The user, from the first approval on. */
  readonly fid: number | null;
  /** When an approved gasless key expires unless it is used, in unix seconds. Null for other keys. */
  readonly expiresAt: number | null;
  /** An approval to store: the index has it, and no node has stored it yet. */
  readonly seen: { readonly fid: number; readonly by: ApprovalWay } | null;
}

interface StatusContext {
  readonly facts: KeyFacts;
  readonly nowSecs: number;
  /** Reports whether this node's index has not reached the blocks at which another node saw an approval. */
  isBehind(blocks: NonNullable<Approval["blocks"]>): boolean;
}

/**
 * Returns the state of a signer. A signer belongs to its first user forever. Until it has one, a key counts only if this service's page
 * added it, or if the app that was registered for the signer requested it. Otherwise anyone who has seen a public key could register it
 * for their own fid, and an app's user would be signed in as a stranger. For a signer without a registered app, a key counts that a user
 * has on chain at their own request: apps that add it themselves compare the fid.
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

/**
 * Returns the user who has the key at the request of the page or of the registered app. Without a registered app, returns the user who
 * requested the key themselves.
 */
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
