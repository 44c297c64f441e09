import { shardCount } from "../db/index/counts/totals.ts";
import { areKeysKnown, forgetKnownKeys } from "../db/index/trie/known-keys.ts";
import { forgetRoots, hasStoredRoots } from "../db/index/trie/shard-proofs.ts";
import { unpackBytes } from "../lib/bytes.ts";
import type { MergeContext } from "./merge/merge.ts";
import type { RelayedBatch, RelayedBlocks } from "./relayed-op.ts";
import { applyKeyOperation, decodeKeyRecord, type KeyRecord } from "./trie/key-records.ts";

/** Roots that transactions of the network name for accounts: hints for finding the account that makes a shard root wrong. */
export type ClaimedRoot = Extract<KeyRecord, { readonly kind: "root" }>;

/**
 * Key changes that the blocks of a batch report for their shard's trie. They are applied block by block, before the
 * operations of each block, because a compact state deletes links of the preceding blocks.
 */
export class BlockKeys {
  readonly #context: MergeContext;
  readonly #shard: number;
  readonly #parts: RelayedBlocks["parts"];
  readonly #roots = new Map<string, ClaimedRoot>();
  #next = 0;

  constructor(context: MergeContext, blocks: RelayedBlocks | undefined) {
    this.#context = context;
    this.#shard = blocks?.shard ?? 0;
    this.#parts = blocks?.parts ?? [];
  }

  /** The newest root of each account. */
  get claimedRoots(): Iterable<ClaimedRoot> {
    return this.#roots.values();
  }

  /** Applies the key changes of the blocks up to `number`, each once. */
  applyUpTo(number: number): void {
    for (let part = this.#parts[this.#next]; part && part.number <= number; part = this.#parts[++this.#next])
      for (const bytes of part.keyRecords ? unpackBytes(part.keyRecords) : [])
        this.#apply(decodeKeyRecord(bytes));
  }

  #apply(record: KeyRecord): void {
    const { db, keys } = this.#context;
    if (record.kind === "key") keys.network(this.#shard, record.key, record.isPresent);
    else if (record.kind === "gasless") applyKeyOperation(db, keys, this.#shard, record);
    else this.#roots.set(record.account.toHex(), record);
  }
}

/** Starts to track the keys of the tries that a batch changes. Returns whether they are tracked. */
export function startKeys(
  { db, keys }: MergeContext,
  /** Whether the writer maintains the roots. */
  keepsRoots: boolean,
  { followsKeys = false, blocks, ops }: RelayedBatch,
): boolean {
  const isKept = hasStoredRoots(db);
  // Data read from the upstream's state also changes rows.
  const tracks = followsKeys || ((isKept || areKeysKnown(db)) && !blocks && ops.length > 0);
  if (tracks) keys.start(shardCount(db));
  const isUnverified = blocks !== undefined && !followsKeys;
  if (isKept && (!keepsRoots || isUnverified)) forgetRoots(db);
  if (isUnverified) forgetKnownKeys(db);
  return tracks;
}
