import type { AuditEntry } from "../audit/audit-store.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { KeyFacts } from "./key-facts.ts";
import { type SignerState, stateOf } from "./signer-status.ts";
import type { SignerStore, StoredSigner } from "./signer-store.ts";

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
export interface SignerStates {
  see(signer: StoredSigner, origin: RequestOrigin): Promise<SeenSigner>;
}

export interface SignerStatesDeps {
  readonly store: Pick<SignerStore, "find" | "approve">;
  readonly facts: KeyFacts;
  readonly clock: Clock;
  /** The applied block of each shard of the index; null on a node that follows no other. */
  readonly appliedBlocks: () => Readonly<Record<string, number>> | null;
}

export function createSignerStates({ store, facts, clock, appliedBlocks }: SignerStatesDeps): SignerStates {
  function isBehind(blocks: Readonly<Record<string, number>>): boolean {
    const applied = appliedBlocks() ?? {};
    return Object.entries(blocks).some(([shard, block]) => (applied[shard] ?? block) < block);
  }
  const state = (signer: StoredSigner) => stateOf(signer, { facts, nowSecs: nowSecs(clock), isBehind });

  return {
    async see(signer, origin) {
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
