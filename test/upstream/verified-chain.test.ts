import { describe, expect, test } from "bun:test";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { getPosition } from "../../src/db/index/positions.ts";
import { chainHeadOf } from "../../src/db/index/upstream-work.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { SignedBlock, SignedChunk } from "../../src/protocol/wire/generated/certificate.ts";
import { HubEvent } from "../../src/protocol/wire/generated/hub.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { MAINNET_VALIDATORS, type ValidatorSet, ValidatorSets } from "../../src/trust/validator-sets.ts";
import { type Follower, startFollower, type Verification } from "../../src/upstream/follower.ts";
import { ManualClock } from "../support/clock.ts";
import { type Recording, recordedChain, serveRecording } from "../support/upstream/recorded.ts";
import { vectorJson } from "../support/vectors.ts";

const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_DEVNET;
/** Some minutes after the chain was recorded. */
const NOW_SECS = 1_795_423_200;
const LAST_BLOCK = 100;
const SHARDS = [0, 1, 2];
const PATIENCE_MS = 20_000;
const TIMINGS = { pollMs: 4, retryMs: 2, maxRetryMs: 16, roomPollMs: 4, stallMs: 100, callTimeoutMs: 20_000 };

const chain = recordedChain("four-validators/");
const [validators] = vectorJson<{ sets: [ValidatorSet] }>("four-validators/validators.json").sets;
/** A block of shard 0 with an event. */
const EVENTFUL = chain.blocks.find(({ bytes }) => SignedBlock.decode(bytes).events.length > 0)?.number ?? 0;
/** Validators of which only the first signs the recorded chain. */
const [known = ""] = signersOf();
const strangers = [MAINNET_VALIDATORS[0]?.public_keys[0] ?? ""];
const setFrom = (height: number, keys: readonly string[]): ValidatorSet => ({
  effective_at: height,
  shard_ids: SHARDS,
  public_keys: keys,
});

function signersOf(): string[] {
  const chunk = SignedChunk.decode(chain.chunks.get(1)?.[49]?.bytes ?? new Uint8Array());
  return (chunk.commits?.signatures ?? []).map(({ signer }) => signer.toHex());
}

/** An index that follows the recorded network of four validators, of which three sign. */
async function follow({
  sets = [validators] as readonly ValidatorSet[],
  onUnknownSet = "stop" as Verification["onUnknownSet"],
  isFollowing = true,
} = {}) {
  const stack = new AsyncDisposableStack();
  const heads = new Map(SHARDS.map((shard) => [shard, LAST_BLOCK]));
  let recording: Recording = chain;
  let { url } = stack.use(await serveRecording(() => recording, heads));
  const db = stack.use(openIndexInMemory());
  claimNetwork(db, "devnet");
  const clock = new ManualClock(NOW_SECS);
  const engine = createIngestEngine({
    db,
    network: NETWORK,
    clock,
    onFault: (cause) => {
      throw cause;
    },
  });
  const waiting: (() => void)[] = [];
  const wake = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  const faults: string[] = [];
  const peerErrors: string[] = [];
  let follower: Follower | undefined;
  stack.defer(async () => follower?.stop());
  const applied = (shard: number) => getPosition(db, `upstream ${shard} applied`) ?? 0;
  const followed = {
    db,
    clock,
    heads,
    faults,
    peerErrors,
    applied,
    trust: () => follower?.progress().trust,
    peerError: () => follower?.progress().peerError,
    certified: () => SHARDS.map((shard) => chainHeadOf(db, shard)?.certified),
    switchTo(other: string) {
      url = other;
    },
    serve(changed: Recording) {
      recording = changed;
    },
    know(changed: readonly ValidatorSet[]) {
      sets = changed;
    },
    start() {
      follower = startFollower({
        url,
        db,
        writer: {
          async apply(batch) {
            engine.applyRelayed(batch);
            wake();
          },
          buildStep: async () => engine.buildStep(),
        },
        network: NETWORK,
        nameServer: undefined,
        verification: {
          validators: () => ({ origin: "file", sets: new ValidatorSets(sets) }),
          onUnknownSet,
        },
        clock,
        fids: undefined,
        concurrency: 1,
        timings: TIMINGS,
        onFault: (what, cause) => {
          faults.push(`${what}: ${cause}`);
          wake();
        },
        onPeerError: ({ reason }) => {
          peerErrors.push(reason);
          wake();
        },
      });
    },
    async stop() {
      await follower?.stop();
      follower = undefined;
    },
    async until(isOver: () => boolean) {
      const tooLong = AbortSignal.timeout(PATIENCE_MS);
      tooLong.addEventListener("abort", wake);
      while (!isOver()) {
        if (tooLong.aborted)
          throw new Error(`stuck at ${SHARDS.map(applied)}: ${faults.at(-1)} ${peerErrors}`);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    allApplied: (height = LAST_BLOCK) =>
      followed.until(() => SHARDS.every((shard) => applied(shard) === height)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  if (isFollowing) followed.start();
  return followed;
}

/** The recorded network with one block of a shard changed. */
function withChunk(shard: number, height: number, change: (chunk: SignedChunk) => void): Recording {
  const replace = (bytes: Uint8Array) => {
    const chunk = SignedChunk.decode(Uint8Array.from(bytes));
    change(chunk);
    return SignedChunk.encode(chunk).finish();
  };
  const chunks = new Map(chain.chunks);
  chunks.set(
    shard,
    (chain.chunks.get(shard) ?? []).map((one) =>
      one.number === height ? { number: height, bytes: replace(one.bytes) } : one,
    ),
  );
  return { ...chain, chunks };
}

function withBlock(height: number, change: (block: SignedBlock) => void): Recording {
  const blocks = chain.blocks.map((one) => {
    if (one.number !== height) return one;
    const block = SignedBlock.decode(Uint8Array.from(one.bytes));
    change(block);
    return { number: height, bytes: SignedBlock.encode(block).finish() };
  });
  return { ...chain, blocks };
}

/** The recorded network with another hash in the confirmation of a block's events. */
function withConfirmation(shard: number, height: number): Recording {
  const events = new Map(chain.events);
  events.set(
    shard,
    (chain.events.get(shard) ?? []).map(({ id, bytes }) => {
      const event = HubEvent.decode(bytes);
      if (event.body?.$case !== "blockConfirmedBody" || event.body.value.blockNumber !== height)
        return { id, bytes };
      event.body.value.blockHash = event.body.value.blockHash.toReversed();
      return { id, bytes: HubEvent.encode(event).finish() };
    }),
  );
  return { ...chain, events };
}

const flip = (bytes: Uint8Array) => {
  bytes[7] = (bytes[7] ?? 0) ^ 1;
};

describe("following a chain that validators sign", () => {
  test("verifies each block of each shard, and stores the heads with what was applied", async () => {
    await using followed = await follow();
    await followed.allApplied();
    expect(followed.certified()).toEqual([LAST_BLOCK, LAST_BLOCK, LAST_BLOCK]);
    expect(followed.trust()).toEqual({
      level: "blocks",
      reason: undefined,
      validators: "file",
      shards: SHARDS.map((shard) => ({ shard, verifiedHeight: LAST_BLOCK, isSetUnknown: false })),
      refused: {},
    });
    const expected = vectorJson<Record<string, { last_hash: string }>>("four-validators/expected.json");
    for (const shard of SHARDS)
      expect(chainHeadOf(followed.db, shard)?.hash.toHex()).toBe(
        expected[`chain_shard_${shard}`]?.last_hash ?? "",
      );
  });

  const lies: [string, string, number, Recording][] = [
    [
      "a changed signature",
      "bad_signature",
      1,
      withChunk(1, 50, ({ commits }) => commits?.signatures.forEach(({ signature }) => void flip(signature))),
    ],
    [
      "a changed root",
      "hash_mismatch",
      1,
      withChunk(1, 50, ({ header }) => header && Object.assign(header, { shardRoot: new Uint8Array(20) })),
    ],
    ["too few signatures", "no_quorum", 2, withChunk(2, 50, ({ commits }) => commits?.signatures.pop())],
    [
      "no certificate",
      "no_commits",
      2,
      withChunk(2, 50, (chunk) => Object.assign(chunk, { commits: undefined })),
    ],
    ["events of another block", "events_of_other_block", 1, withConfirmation(1, 50)],
    [
      "a changed witness",
      "witness_hash",
      0,
      withBlock(50, (block) => Object.assign(block, { shardWitness: Uint8Array.of(8, 1) })),
    ],
    [
      "a changed event of shard 0",
      "event_hash",
      0,
      withBlock(EVENTFUL, ({ events: [event] }) => {
        // A field that this version does not know.
        if (event) event.data = Buffer.concat([event.data, Uint8Array.of(0x78, 1)]);
      }),
    ],
  ];
  for (const [what, code, shard, lying] of lies)
    test(`${what}: the block is not applied, the reason is said, and following goes on once the upstream sends the true block`, async () => {
      await using followed = await follow();
      followed.serve(lying);
      await followed.until(() => followed.peerErrors.length > 0);
      const height = code === "event_hash" ? EVENTFUL : 50;
      expect(followed.peerErrors).toEqual([
        `block ${height} of shard ${shard} is not the network's (${code})`,
      ]);
      expect(followed.peerError()).toContain(code);
      expect(followed.trust()?.refused[code as "no_quorum"]).toBeGreaterThan(0);
      expect(followed.applied(shard)).toBeLessThan(height);
      followed.serve(chain);
      await followed.allApplied();
      expect(followed.peerError()).toBeUndefined();
    });
});

describe("validators that are not known", () => {
  const changed = [validators, setFrom(50, [known, ...strangers])];

  test("stop the following before their first block, until they are known, without a restart", async () => {
    await using followed = await follow({ sets: [...changed] });
    await followed.until(() =>
      SHARDS.every((shard) => followed.faults.some((fault) => fault.includes(`shard ${shard} is signed by`))),
    );
    expect(Math.max(...SHARDS.map(followed.applied))).toBeLessThan(50);
    expect(followed.trust()?.shards.some(({ isSetUnknown }) => isSetUnknown)).toBe(true);
    expect(followed.peerErrors).toEqual([]);
    followed.know([validators]);
    await followed.allApplied();
    expect(followed.trust()?.shards.some(({ isSetUnknown }) => isSetUnknown)).toBe(false);
  });

  test("are followed by the hashes of their blocks with warn, and verified once they are known", async () => {
    await using followed = await follow({ sets: [...changed], onUnknownSet: "warn" });
    for (const shard of SHARDS) followed.heads.set(shard, 80);
    await followed.allApplied(80);
    expect(followed.certified()).toEqual([49, 49, 49]);
    followed.know([validators]);
    followed.clock.advanceSecs(60);
    for (const shard of SHARDS) followed.heads.set(shard, LAST_BLOCK);
    await followed.allApplied();
    expect(followed.certified()).toEqual([LAST_BLOCK, LAST_BLOCK, LAST_BLOCK]);
  });

  test("are strangers if no known validator has signed: their block is refused", async () => {
    await using followed = await follow({
      sets: [validators, setFrom(100, strangers)],
    });
    await followed.until(() => followed.peerErrors.length > 0);
    expect(followed.peerErrors[0]).toContain("block 100 of shard");
    expect(followed.peerErrors[0]).toContain("unknown_signer");
    expect(Math.max(...SHARDS.map(followed.applied))).toBeLessThan(100);
  });
});

describe("after a restart", () => {
  test("the next block must name the last one that was stored", async () => {
    await using followed = await follow();
    for (const shard of SHARDS) followed.heads.set(shard, 60);
    await followed.allApplied(60);
    await followed.stop();
    followed.db.sqlite.run("UPDATE chain_heads SET hash = zeroblob(32) WHERE shard = 1");
    for (const shard of SHARDS) followed.heads.set(shard, LAST_BLOCK);
    followed.start();
    await followed.until(() => followed.peerErrors.length > 0);
    expect(followed.peerErrors).toEqual(["block 61 of shard 1 is not the network's (parent_mismatch)"]);
    expect(followed.applied(1)).toBe(60);
  });

  test("a node without certificates is not followed by an index of verified blocks", async () => {
    await using followed = await follow();
    await followed.allApplied();
    await followed.stop();
    using other = await serveRecording(() => chain, followed.heads, { hasBlockShard: false });
    followed.switchTo(other.url);
    followed.start();
    await followed.until(() => followed.peerErrors.length > 0);
    expect(followed.peerErrors).toEqual(["its blocks have no certificates, and those of the index have"]);
    expect(followed.trust()?.level).toBe("node");
  });
});

test("a node without certificates is followed by an index without, and the level says so", async () => {
  await using followed = await follow({ isFollowing: false });
  using other = await serveRecording(() => chain, followed.heads, { hasBlockShard: false });
  followed.switchTo(other.url);
  followed.start();
  // The recorded blocks after the first ones depend on events of shard 0.
  await followed.until(() => followed.applied(1) > 0);
  expect(followed.trust()).toMatchObject({ level: "node", shards: [] });
  expect(followed.certified()).toEqual([undefined, undefined, undefined]);
});
