import { createIngestEngine } from "../src/ingest/engine.ts";
import { FARCASTER_EPOCH_UNIX_SECS } from "../src/protocol/time.ts";
import { SignedChunk } from "../src/protocol/wire/generated/certificate.ts";
import { FarcasterNetwork, MessageType } from "../src/protocol/wire/generated/message.ts";
import type { FollowedEvent } from "../src/protocol/wire/generated/upstream.ts";
import { AccountTrie } from "../src/trust/trie.ts";
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
/** Mainnet had some 25 messages and 3 blocks a second in November 2026. */
const MESSAGES_PER_BLOCK = 8;
const KEYS_PER_ACCOUNT = 900;
const ACCOUNTS = 100;
const NOW_SECS = 1_795_423_200;

/**
 * Measures the CPU time of verifying that 5 of 7 validators signed a block, against that of applying the messages of a block, and
 * of the root of an account. Calls to the upstream are not among it.
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
  ];
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
  const rules = {
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
  const timestamp = NOW_SECS - FARCASTER_EPOCH_UNIX_SECS;
  const blocks = Array.from({ length: BLOCKS }, (_, number) => ({
    number: number + 1,
    timestamp,
    hash: new Uint8Array(32),
    seqnum: 0,
    events: castsOf(run, number + 1, timestamp),
  }));
  return microsOf(() => {
    for (const block of blocks)
      engine.applyRelayed({
        ...relayedBlocks(rules, { shard: 1, isJournal: false }, [block]),
        positions: [],
      });
  });
}

function castsOf(run: number, block: number, timestamp: number): FollowedEvent[] {
  return Array.from({ length: MESSAGES_PER_BLOCK }, (_, at) => {
    const fid = 1 + ((block * MESSAGES_PER_BLOCK + at) % 500);
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

/** CPU time of this process. */
function microsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
