import type { IndexDatabase } from "../../db/index/database.ts";
import type { Verifier } from "../../ingest/bulk/verify/verifier.ts";
import type { RelayedOp } from "../../ingest/relayed-op.ts";
import { UserNameProof, UserNameType } from "../../protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../protocol/wire/generated/on-chain.ts";
import { fnameKey, onChainKey, type TrieKey } from "../../trust/trie-key.ts";
import type { RelayRules } from "../blocks/validate-relayed.ts";
import type { UpstreamClient } from "../calls/client.ts";
import { unreadKeys } from "../calls/trie-nodes.ts";
import { readFid } from "../fill/read-fid.ts";
import { EVENT_TYPES, storedEvents } from "../fill/stored.ts";

/** An account with more bytes is not healed, because its operations are in memory and in one transaction. */
const MAX_BYTES = 64 * 1024 * 1024;

export interface HealingReadDeps {
  readonly client: UpstreamClient;
  readonly db: IndexDatabase;
  readonly rules: RelayRules;
  readonly verifier: Verifier;
}

/** The state of an fid on another node. */
export interface HealingRead {
  readonly ops: readonly RelayedOp[];
  /** See `HealedAccount`. */
  readonly uncertain: readonly TrieKey[];
}

/**
 * Reads what the index lacks of an fid, and what it has too much. Leaves out operations that no root covers: another record
 * under the key of a stored one (an on-chain event with other contents, a proof with another owner), keys and nonces.
 */
export async function readHealingOps(deps: HealingReadDeps, fid: number): Promise<HealingRead> {
  const ops: RelayedOp[] = [];
  let bytes = 0;
  const emit = async (more: readonly RelayedOp[]) => {
    for (const op of more) bytes += op.kind === "putAll" ? op.messages.bytes.length : 0;
    if (bytes > MAX_BYTES) throw new Error(`fid ${fid} has too many messages to be healed`);
    ops.push(...more);
  };
  await readFid({ ...deps, emit }, fid, true);
  return { ops: withoutUnbound(deps.db, fid, ops), uncertain: await unreadKeys(deps.client, fid) };
}

function withoutUnbound(db: IndexDatabase, fid: number, ops: readonly RelayedOp[]): RelayedOp[] {
  const stored = new Map<string, string>();
  for (const type of EVENT_TYPES)
    for (const [bytes, { blockNumber, logIndex }] of storedEvents(db, fid, type))
      stored.set(nameOfEvent({ type, blockNumber, logIndex }), keyOfEvent(Uint8Array.fromHex(bytes)));
  const [had, gets] = [new Set<string>(stored.values()), new Set<string>()];
  for (const op of ops) {
    if (op.kind === "onChainEvent") gets.add(keyOfEvent(op.event));
    if (op.kind === "proof" && op.removed) had.add(keyOfProof(op.removed));
    if (op.kind === "proof" && op.added) gets.add(keyOfProof(op.added));
  }
  return ops.filter((op) => {
    switch (op.kind) {
      case "put":
      case "putAll":
      case "remove":
        return true;
      case "onChainEvent":
        return !had.has(keyOfEvent(op.event));
      case "removeOnChainEvent":
        return !gets.has(stored.get(nameOfEvent(op.ref)) ?? "");
      case "proof": {
        const { added, removed } = op;
        if (added) return isFname(added) && !had.has(keyOfProof(added));
        return removed !== undefined && isFname(removed) && !gets.has(keyOfProof(removed));
      }
      default:
        return false;
    }
  });
}

function nameOfEvent(event: {
  readonly type: number;
  readonly blockNumber: number;
  readonly logIndex: number;
}): string {
  return `${event.type} ${event.blockNumber} ${event.logIndex}`;
}

function keyOfEvent(bytes: Uint8Array): string {
  return onChainKey(bytes)?.toHex() ?? OnChainEvent.decode(bytes).transactionHash.toHex();
}

function keyOfProof(bytes: Uint8Array): string {
  return fnameKey(bytes)?.toHex() ?? bytes.toHex();
}

function isFname(bytes: Uint8Array): boolean {
  return UserNameProof.decode(bytes).type === UserNameType.USERNAME_TYPE_FNAME;
}
