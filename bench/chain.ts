import type { IndexDatabase } from "../src/db/index/database.ts";
import { createIngestEngine } from "../src/ingest/engine.ts";
import type { RelayedOp } from "../src/ingest/relayed-op.ts";
import { createRootKeeper } from "../src/ingest/trie/root-keeper.ts";
import { createWorkBudget, NO_BUDGET } from "../src/ingest/trie/work-budget.ts";
import { FARCASTER_EPOCH_UNIX_SECS } from "../src/protocol/time.ts";
import { SignedChunk } from "../src/protocol/wire/generated/certificate.ts";
import { FarcasterNetwork, MessageType } from "../src/protocol/wire/generated/message.ts";
import type { FollowedEvent } from "../src/protocol/wire/generated/upstream.ts";
import { AccountTrie } from "../src/trust/trie/trie.ts";
import { messageKey } from "../src/trust/trie-key.ts";
import { type ValidatorSet, ValidatorSets } from "../src/trust/validator-sets.ts";
import { verifyChunk } from "../src/trust/verify-block.ts";
import { relayedBlocks } from "../src/upstream/blocks/block-operations.ts";
import { Scope } from "../src/upstream/scope.ts";
import { ManualClock } from "../test/support/clock.ts";
import { makeSigner, signMessage } from "../test/support/messages.ts";
import { temporaryIndex } from "../test/support/temporary-index.ts";
import { vectorJson } from "../test/support/vectors.ts";
import type { Figure } from "./main.ts";
import { median } from "./start.ts";

const RUNS = 7;
const BLOCKS = 100;
/** Mainnet had about 25 messages and 3 blocks per second in November 2026. */
const MESSAGES_PER_BLOCK = 8;
const KEYS_PER_ACCOUNT = 900;
const ACCOUNTS = 100;
const FOLLOWED_FIDS = 10;
const FOLLOWED_RUNS = 6;
const BLOCKS_PER_SECOND = 3;
const NOW_SECS = 1_795_423_200;
const NOW = NOW_SECS - FARCASTER_EPOCH_UNIX_SECS;

/**
 * Measures the CPU time of verifying that 5 of 7 validators signed a block, compared with that of applying the messages of a
 * block, and of the root of an account. Calls to the upstream are not included.
 */
export async function benchChain(): Promise<Figure[]> {
  const { cases } = vectorJson<{ cases: { name: string; value: string; sets?: ValidatorSet[] }[] }>(
    "blocks.json",
  );
  const recorded = cases.find(({ name }) => name === "5 of 7");
  const chunk = Buffer.from(recorded?.value ?? "", "hex");
  const sets = new ValidatorSets(recorded?.sets ?? []);
  const verify = () => {
    for (let block = 0; block < BLOCKS; block++)
      if (!verifyChunk(sets, 1, SignedChunk.decode(chunk), undefined).ok) throw new Error("it was refused");
  };
  const trie = new AccountTrie();
  const keys = Array.from({ length: KEYS_PER_ACCOUNT }, (_, at) =>
    messageKey(1, MessageType.MESSAGE_TYPE_CAST_ADD, Bun.SHA1.hash(`${at}`) as Uint8Array),
  );
  const roots = () => {
    for (let account = 0; account < ACCOUNTS; account++) {
      trie.clear();
      for (const key of keys) trie.add(key);
      trie.root();
    }
  };
  const times = { apply: [] as number[], verify: [] as number[], roots: [] as number[] };
  for (let run = 0; run < RUNS; run++) {
    times.apply.push(applyMicros(run));
    times.verify.push(microsOf(verify));
    times.roots.push(microsOf(roots));
  }
  const apply = median(times.apply.slice(1)) / BLOCKS;
  const verified = median(times.verify.slice(1)) / BLOCKS;
  const of = `applying the ${MESSAGES_PER_BLOCK} messages of a block`;
  return [
    { what: of, value: apply, unit: "us" },
    {
      what: "verifying a block that 5 of 7 signed",
      value: verified,
      unit: "us",
      ratio: { of, value: verified / apply },
    },
    {
      what: `a key of an account with ${KEYS_PER_ACCOUNT}, for its root`,
      value: median(times.roots.slice(1)) / (ACCOUNTS * KEYS_PER_ACCOUNT),
      unit: "us",
    },
    ...followedSeconds(verify),
  ];
}

type Roots = "sample" | "full" | undefined;

const LEVELS: readonly { readonly what: string; readonly roots: Roots; readonly isVerified: boolean }[] = [
  { what: "trust.level = node", roots: undefined, isVerified: false },
  { what: "blocks", roots: undefined, isVerified: true },
  { what: "roots, sample", roots: "sample", isVerified: true },
  { what: "roots, full", roots: "full", isVerified: true },
];

/**
 * Measures the CPU time of a second of following: 25 messages in 3 blocks, for accounts with 900 casts each, at the levels
 * of `trust.level` and `trust.roots`. Time passes as on the network, so that the budget of `sample` is the same as in
 * operation.
 */
function followedSeconds(verify: () => void): Figure[] {
  const micros = (run: number, roots: Roots, isVerified: boolean) => {
    using index = temporaryIndex();
    let nowMs = 0;
    for (let block = 1; block <= BLOCKS; block++) castsOf(run, block, NOW, FOLLOWED_FIDS);
    const apply = applierOf(index.db, roots, () => nowMs);
    const total = microsOf(() => {
      for (let block = 1; block <= BLOCKS; block++) {
        apply.block(run, block);
        nowMs += 1000 / BLOCKS_PER_SECOND;
      }
      if (isVerified) verify();
    });
    return (total / BLOCKS) * BLOCKS_PER_SECOND;
  };
  const spent = LEVELS.map(() => Number.POSITIVE_INFINITY);
  for (let run = 0; run < FOLLOWED_RUNS; run++)
    for (const [at, { roots, isVerified }] of LEVELS.entries())
      spent[at] = Math.min(spent[at] as number, micros(run, roots, isVerified));
  const of = `a second of following, ${LEVELS[0]?.what}`;
  return LEVELS.map(({ what }, at) => ({
    what: `a second of following, ${what}`,
    value: spent[at] as number,
    unit: "us" as const,
    ...(at > 0 && { ratio: { of, value: (spent[at] as number) / (spent[0] as number) } }),
  }));
}

/** Fills an index with accounts of 900 casts, and returns a function that applies the next blocks to it. */
function applierOf(db: IndexDatabase, roots: Roots, nowMs: () => number) {
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  const engine = createIngestEngine({
    db,
    network,
    clock: new ManualClock(NOW_SECS),
    onFault: (cause) => {
      throw cause;
    },
    ...(roots && {
      roots: createRootKeeper({
        db,
        network,
        budget: roots === "full" ? NO_BUDGET : createWorkBudget(() => nowMs() + performance.now()),
        firstBudget: NO_BUDGET,
        scrubBudget: createWorkBudget(() => nowMs() + performance.now(), 0.001),
        maxKeysAtOnce: roots === "full" ? Number.POSITIVE_INFINITY : 5000,
      }),
    }),
  });
  engine.applyRelayed({ ops: history(), positions: [{ key: "upstream shards", position: 1 }], shards: 1 });
  const rules = rulesOf(network);
  const block = (run: number, number: number, fids = FOLLOWED_FIDS) => {
    const events = castsOf(run, number, NOW, fids);
    const one = { number, timestamp: NOW, hash: new Uint8Array(32), seqnum: 0, events };
    engine.applyRelayed({
      ...relayedBlocks(rules, { shard: 1, isJournal: false }, [one]),
      positions: [],
      followsKeys: roots !== undefined,
    });
  };
  // The first block computes all accounts; the second reads the keys of those that it changes.
  for (const number of [0, 1]) block(FOLLOWED_RUNS, number);
  return { block };
}

let oldCasts: RelayedOp[] | undefined;
/** Returns the old casts of the accounts. */
function history(): readonly RelayedOp[] {
  oldCasts ??= Array.from({ length: FOLLOWED_FIDS * KEYS_PER_ACCOUNT }, (_, at): RelayedOp => {
    const body = { $case: "castAddBody" as const, value: { text: `long ago ${at}` } };
    const [type, timestamp] = [MessageType.MESSAGE_TYPE_CAST_ADD, 1000 + at];
    const message = signMessage({ type, fid: 1 + (at % FOLLOWED_FIDS), timestamp, body }, makeSigner("old"));
    return { kind: "put", message, happenedAt: 0 };
  });
  return oldCasts;
}

/** Applies blocks of new casts to an empty index as the follower does. */
function applyMicros(run: number): number {
  using index = temporaryIndex();
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  const engine = createIngestEngine({
    db: index.db,
    network,
    clock: new ManualClock(NOW_SECS),
    onFault: (cause) => {
      throw cause;
    },
  });
  const rules = rulesOf(network);
  const blocks = Array.from({ length: BLOCKS }, (_, number) => ({
    number: number + 1,
    timestamp: NOW,
    hash: new Uint8Array(32),
    seqnum: 0,
    events: castsOf(run, number + 1, NOW),
  }));
  return microsOf(() => {
    for (const block of blocks)
      engine.applyRelayed({
        ...relayedBlocks(rules, { shard: 1, isJournal: false }, [block]),
        positions: [],
      });
  });
}

function rulesOf(network: FarcasterNetwork) {
  return {
    network,
    nameServer: undefined,
    nowUnixSecs: NOW_SECS,
    scope: new Scope(undefined, []),
    shards: 1,
    hasBlockShard: true,
    logsHubEvents: true,
    onRefused: ({ reason }: { reason: string }) => {
      throw new Error(reason);
    },
  };
}

const signed = new Map<string, FollowedEvent[]>();

/** Signs casts once, outside of the measurement. */
function castsOf(run: number, block: number, timestamp: number, fids = 500): FollowedEvent[] {
  return signed.getOrInsertComputed(`${run} ${block} ${fids}`, () => signCasts(run, block, timestamp, fids));
}

function signCasts(run: number, block: number, timestamp: number, fids: number): FollowedEvent[] {
  return Array.from({ length: MESSAGES_PER_BLOCK }, (_, at) => {
    const fid = 1 + ((block * MESSAGES_PER_BLOCK + at) % fids);
    const castAddBody = { text: `cast ${run} ${block} ${at}` };
    const data = {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid,
      timestamp,
      body: { $case: "castAddBody" as const, value: castAddBody },
    };
    return {
      type: 1,
      id: block * 2 ** 14 + at + 1,
      body: {
        $case: "merge" as const,
        value: { message: signMessage(data, makeSigner(`${fid}`)), deletedMessages: [] },
      },
    };
  });
}

/** Returns the CPU time of this process. */
function microsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
