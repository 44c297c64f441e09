import { expect, test } from "bun:test";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { areKeysKnown, setKeysKnown } from "../../src/db/index/trie/known-keys.ts";
import {
  areRootsKept,
  putShardProof,
  setRootsComputed,
  shardProof,
} from "../../src/db/index/trie/shard-proofs.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import type { RelayedBatch } from "../../src/ingest/relayed-op.ts";
import { createRootKeeper } from "../../src/ingest/trie/root-keeper.ts";
import { NO_BUDGET } from "../../src/ingest/trie/work-budget.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { ManualClock } from "../support/clock.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";

const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const PROVEN = { provenHeight: 7, provenAt: DEFAULT_NOW_SECS, mismatchHeight: null, mismatches: 0 };
const BLOCK = {
  shard: 1,
  first: 8,
  last: 8,
  parts: [{ number: 8, time: DEFAULT_NOW_SECS, ops: 0 }],
  isJournal: false,
};

/** Returns what an index that knows all keys, and has the roots of all accounts, still has after a batch. */
function leftAfter({ keepsRoots, ...batch }: Partial<RelayedBatch> & { readonly keepsRoots: boolean }) {
  using db = openIndexInMemory();
  claimNetwork(db, "mainnet");
  const engine = createIngestEngine({
    db,
    network,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    onFault: (cause) => {
      throw cause;
    },
    ...(keepsRoots && {
      roots: createRootKeeper({
        db,
        network,
        budget: NO_BUDGET,
        maxKeysAtOnce: Number.POSITIVE_INFINITY,
      }),
    }),
  });
  db.transaction(() => {
    setRootsComputed(db, undefined);
    putShardProof(db, 1, PROVEN);
    setKeysKnown(db, 1, 0);
  });
  engine.applyRelayed({ ops: [], positions: [], shards: 1, ...batch });
  return [
    areRootsKept(db) && `roots, proven at ${shardProof(db, 1).provenHeight}`,
    areKeysKnown(db) && "keys",
  ].filter((one) => one !== false);
}

const [ROOTS, KEYS] = ["roots, proven at 7", "keys"];
const VERIFIED = { blocks: BLOCK, followsKeys: true };

test.each([
  ["verified blocks, by a writer that keeps roots", [ROOTS, KEYS], { keepsRoots: true, ...VERIFIED }],
  ["what no block says, by a writer that keeps roots", [ROOTS, KEYS], { keepsRoots: true }],
  ["blocks that are not verified, by a writer that keeps roots", [], { keepsRoots: true, blocks: BLOCK }],
  ["verified blocks, by a writer that keeps none", [KEYS], { keepsRoots: false, ...VERIFIED }],
  ["what no block says, by a writer that keeps none", [KEYS], { keepsRoots: false }],
  ["blocks that are not verified, by a writer that keeps none", [], { keepsRoots: false, blocks: BLOCK }],
])("after %s, an index has %j", (_, left, batch) => expect(leftAfter(batch)).toEqual(left));
