import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { channelHistoryOf, forgetDecisions } from "../../src/db/index/channels/history.ts";
import { chainHeadOf } from "../../src/db/index/upstream-work.ts";
import { seededRandom } from "../../src/demo/random.ts";
import { SignedBlock, SignedChunk } from "../../src/protocol/wire/generated/certificate.ts";
import { MAINNET_VALIDATORS, type ValidatorSet } from "../../src/trust/validator-sets.ts";
import { dumpIndex } from "../support/dump.ts";
import { sqliteError } from "../support/storage-faults.ts";
import { type Recording, serveRecording } from "../support/upstream/recorded.ts";
import {
  chain,
  followNodes,
  LAST_BLOCK,
  SHARDS,
  validators,
  withBlock,
  withChunk,
  withConfirmation,
} from "../support/upstream/recorded-nodes.ts";
import { vectorJson } from "../support/vectors.ts";

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

const flip = (bytes: Uint8Array) => {
  bytes[7] = (bytes[7] ?? 0) ^ 1;
};

describe("following a chain that validators sign", () => {
  test("verifies each block of each shard, and stores the heads with what was applied", async () => {
    await using followed = await followNodes();
    await followed.allApplied();
    expect(followed.certified()).toEqual([LAST_BLOCK, LAST_BLOCK, LAST_BLOCK]);
    expect(followed.trust()).toEqual({
      level: "blocks",
      reason: undefined,
      validators: "file",
      shards: SHARDS.map((shard) => ({
        shard,
        verifiedHeight: LAST_BLOCK,
        isSetUnknown: false,
        quorum: { signers: 3, validators: 4 },
      })),
      states: [],
      healing: { healed: 0, quarantined: [] },
      refused: {},
      forks: [],
      disputes: [],
    });
    const expected = vectorJson<Record<string, { last_hash: string }>>("four-validators/expected.json");
    for (const shard of SHARDS)
      expect(chainHeadOf(followed.db, shard)?.hash.toHex()).toBe(
        expected[`chain_shard_${shard}`]?.last_hash ?? "",
      );
  });

  test("on a disk that is full at every other head, applies each block once, and blames no node", async () => {
    await using undisturbed = await followNodes();
    await undisturbed.allApplied();
    // A node that is slow with the rest of the machine is not left.
    await using followed = await followNodes({ isFollowing: false, nodes: 2, silenceMs: 20_000 });
    const { sqlite } = followed.db;
    const random = seededRandom("full at heads");
    let failed = 0;
    followed.db.beforeStatement = (name) => {
      if (name !== "upstream-work.put-chain-head" || random.chance(0.5)) return;
      failed += 1;
      sqlite.exec("ROLLBACK");
      throw sqliteError("full");
    };
    followed.start();
    await followed.allApplied();
    expect(failed).toBeGreaterThan(2);
    const interruptions = followed.faults.filter((fault) => fault.startsWith("following was interrupted"));
    expect(interruptions.length).toBeGreaterThan(2);
    expect(interruptions.filter((fault) => !fault.includes("disk is full"))).toEqual([]);
    expect(followed.upstreams().map(({ state, reason }) => [state, reason])).toEqual([
      ["ok", undefined],
      ["ok", undefined],
    ]);
    expect([followed.peerErrors, followed.trust()?.refused, followed.trust()?.forks]).toEqual([[], {}, []]);
    expect(followed.certified()).toEqual([LAST_BLOCK, LAST_BLOCK, LAST_BLOCK]);
    expect(dumpIndex(followed.db)).toBe(dumpIndex(undisturbed.db));
  });

  describe("block by block", () => {
    let followed: Awaited<ReturnType<typeof followNodes>>;
    beforeAll(async () => {
      followed = await followNodes({ lastBlock: 1 });
      await followed.allApplied(1);
    });
    afterAll(() => followed[Symbol.asyncDispose]());

    /** In the order of their heights. */
    const lies: [what: string, code: string, shard: number, height: number, Recording][] = [
      [
        "a changed event of shard 0",
        "event_hash",
        0,
        EVENTFUL,
        withBlock(EVENTFUL, ({ events: [event] }) => {
          // A field that this version does not know.
          if (event) event.data = Buffer.concat([event.data, Uint8Array.of(0x78, 1)]);
        }),
      ],
      [
        "a changed signature",
        "bad_signature",
        1,
        50,
        withChunk(1, 50, ({ commits }) =>
          commits?.signatures.forEach(({ signature }) => void flip(signature)),
        ),
      ],
      [
        "a changed root",
        "hash_mismatch",
        1,
        60,
        withChunk(1, 60, ({ header }) => header && Object.assign(header, { shardRoot: new Uint8Array(20) })),
      ],
      [
        "too few signatures",
        "no_quorum",
        2,
        65,
        withChunk(2, 65, ({ commits }) => commits?.signatures.pop()),
      ],
      [
        "no certificate",
        "no_commits",
        2,
        70,
        withChunk(2, 70, (chunk) => Object.assign(chunk, { commits: undefined })),
      ],
      ["events of another block", "events_of_other_block", 1, 75, withConfirmation(1, 75)],
      [
        "a changed witness",
        "witness_hash",
        0,
        80,
        withBlock(80, (block) => Object.assign(block, { shardWitness: Uint8Array.of(8, 1) })),
      ],
    ];
    test.each(lies)(
      "%s: the block is not applied, the reason is said, and following continues once the upstream sends the true block",
      async (_, code, shard, height, lying) => {
        followed.peerErrors.length = 0;
        followed.serve(lying);
        for (const each of SHARDS) followed.heads.set(each, height + 2);
        await followed.until(() => followed.peerErrors.length > 0);
        expect(followed.peerErrors).toEqual([
          `block ${height} of shard ${shard} is not the network's (${code})`,
        ]);
        expect(followed.peerError()).toContain(code);
        expect(followed.trust()?.refused[code as "no_quorum"]).toBeGreaterThan(0);
        expect(followed.applied(shard)).toBeLessThan(height);
        followed.serve(chain);
        await followed.allApplied(height + 2);
        expect(followed.peerError()).toBeUndefined();
      },
    );
  });
});

describe("validators that are not known", () => {
  const changed = [validators, setFrom(50, [known, ...strangers])];

  test("stop the following before their first block, until they are known, without a restart", async () => {
    await using followed = await followNodes({ sets: [...changed] });
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
    await using followed = await followNodes({ sets: [...changed], onUnknownSet: "warn" });
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
    await using followed = await followNodes({
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
    await using followed = await followNodes();
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

  test("older blocks are verified as well when the history of channels is read from them", async () => {
    await using followed = await followNodes();
    const { db } = followed;
    await followed.allApplied();
    await followed.stop();
    db.transaction(() => forgetDecisions(db));
    // It would date the beginning of channels.
    followed.serve(withBlock(EVENTFUL, ({ header }) => header && Object.assign(header, { timestamp: 1 })));
    followed.start();
    await followed.until(() => (followed.trust()?.refused.hash_mismatch ?? 0) > 1);
    expect(channelHistoryOf(db).isDone).toBe(false);
    followed.serve(chain);
    await followed.until(() => channelHistoryOf(db).isDone);
  });

  test("a node without certificates is not followed by an index of verified blocks", async () => {
    await using followed = await followNodes();
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

test("check 30: a node without certificates (hypersnap) is followed by an index without, and the level says so", async () => {
  await using followed = await followNodes({ isFollowing: false });
  using other = await serveRecording(() => chain, followed.heads, { hasBlockShard: false });
  followed.switchTo(other.url);
  followed.start();
  // The recorded blocks after the first ones depend on events of shard 0.
  await followed.until(() => followed.applied(1) > 0);
  expect(followed.trust()).toMatchObject({ level: "node", shards: [] });
  expect(followed.certified()).toEqual([undefined, undefined, undefined]);
});
