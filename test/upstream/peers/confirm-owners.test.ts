import { describe, expect, test } from "bun:test";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { custodyFromIndex, neverStale } from "../../../src/auth/owners/custody.ts";
import { createOwners } from "../../../src/auth/owners/owners.ts";
import { createVerify } from "../../../src/auth/verify.ts";
import { serviceNames } from "../../../src/config/names.ts";
import { confirmedEventsOf } from "../../../src/db/index/confirmed-events.ts";
import { putShardProof, shardProof } from "../../../src/db/index/trie/shard-proofs.ts";
import { shardOfFid } from "../../../src/protocol/network/shard.ts";
import { HubEvent } from "../../../src/protocol/wire/generated/hub.ts";
import { peopleFromIndex } from "../../../src/sign-in/people.ts";
import { ManualClock } from "../../support/clock.ts";
import { signerEvent, transferEvent } from "../../support/events.ts";
import { silentLog } from "../../support/log.ts";
import { makeWallet, type TestWallet } from "../../support/messages.ts";
import { signedHeaders } from "../../support/signing.ts";
import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";
import { withOnChainEvent } from "../../support/upstream/recorded-events.ts";
import { chain, followNodes, type RecordedNode, SHARDS } from "../../support/upstream/recorded-nodes.ts";

/** Registered in block 67 of shard 1. */
const FID = 7000;
const NEXT_FID = 7001;
const PLACE = { shard: 1, height: 80 };
const NOW_SECS = 1_795_423_200;
const seller = makeWallet("the seller");
const buyer = makeWallet("the buyer");
const thief = makeWallet("a thief");

const moved = (recording: typeof chain, to: TestWallet, height: number, fid = FID) =>
  withOnChainEvent(
    recording,
    { shard: 1, height },
    transferEvent(fid, seller.address, to.address, { block: 300_000_000 + height }),
  );
/** In which the seller owns two fids. */
const sold = moved(moved(chain, seller, 70), seller, 70, NEXT_FID);

/** With a thousand transfers of the fid. */
function flooding(recording: typeof chain): typeof chain {
  const events = Array.from({ length: 1000 }, (_, at) => {
    const onChainEvent = transferEvent(FID, seller.address, thief.address, { block: 400_000_000 + at });
    const body = { $case: "mergeOnChainEventBody", value: { onChainEvent } } as const;
    return { id: 1, bytes: HubEvent.encode(HubEvent.fromPartial({ id: 1, body })).finish() };
  });
  return { ...recording, events: new Map([...recording.events, [2, events]]) };
}

/** Without any on-chain event. */
function withoutEvents(recording: typeof chain): typeof chain {
  const isOther = ({ bytes }: { readonly bytes: Uint8Array }) =>
    HubEvent.decode(bytes).body?.$case !== "mergeOnChainEventBody";
  return {
    ...recording,
    events: new Map([...recording.events].map(([shard, all]) => [shard, all.filter(isOther)])),
  };
}

type Followed = Awaited<ReturnType<typeof followNodes>>;

/** Follows the first node of three, and then knows all of them. */
async function followFirst(options: { readonly lastBlock: number; readonly first?: typeof chain }) {
  const followed = await followNodes({
    nodes: 3,
    isFollowing: false,
    recording: sold,
    lastBlock: options.lastBlock,
  });
  const [first, ...others] = followed.nodes;
  if (first && options.first) first.recording = options.first;
  for (const one of others) one.pause();
  followed.start();
  await followed.allApplied(options.lastBlock);
  for (const one of others) one.resume();
  await followed.until(() =>
    followed.upstreams().every(({ state }) => state === "ok" || state === "lagging"),
  );
  expect(followed.active()).toBe(first);
  return followed;
}

/** Signed operations over the index. */
function operations({ db, confirm }: Followed) {
  const stack = new DisposableStack();
  const state = stack.use(openStateFile());
  const clock = new ManualClock(NOW_SECS);
  const { nonces, custodies } = localStores(state.db, { clock });
  const owners = createOwners({
    db,
    custodies,
    confirm: {
      confirmCustody: (fid, lane) => confirm().confirmCustody(fid, lane),
      confirmKey: (fid, key, lane) => confirm().confirmKey(fid, key, lane),
    },
  });
  const verify = createVerify({
    names: serviceNames("svc"),
    clock,
    stateClock: clock,
    windowSecs: 300,
    nonces,
    owners,
    sessions: undefined,
    isPaused: () => false,
    staleReason: neverStale,
    log: silentLog,
  });
  return {
    owners,
    custodies,
    people: peopleFromIndex(db, { owners, followed: undefined }),
    /** Resolves with the fid, or the text of the refusal. */
    async signedBy(wallet: TestWallet, fid = FID): Promise<number | string> {
      const call = { method: "GET", path: "/frame/app", fid, signedAt: NOW_SECS, wallet } as const;
      const bodyHash = async () => keccak_256(new Uint8Array());
      return verify({
        headers: new Headers(await signedHeaders(call)),
        bodyHash,
        op: "app.read",
        client: "client",
      }).then(
        ({ fid: signer }) => signer,
        (error: Error) => error.message,
      );
    },
    [Symbol.dispose]: () => stack.dispose(),
  };
}

const NOT_CUSTODY = "signature is not by the custody address of the fid";

describe("whose custody counts with two upstreams", () => {
  test("check 15: the followed node forges a transfer: the thief is refused, and the owner still signs", async () => {
    const options = { nodes: 2, isFollowing: false, recording: sold, lastBlock: 90 };
    await using followed = await followNodes(options);
    const [liar, other] = followed.nodes as [RecordedNode, RecordedNode];
    liar.recording = moved(sold, thief, PLACE.height);
    other.pause();
    followed.start();
    await followed.allApplied(90);
    other.resume();
    await followed.until(() => followed.upstreams().every(({ state }) => state === "ok"));
    expect(followed.active()).toBe(liar);
    using node = operations(followed);
    expect(custodyFromIndex(followed.db)(FID)).toEqual(thief.address);
    expect(await node.signedBy(thief)).toBe(NOT_CUSTODY);
    expect(await node.people.methodOf(FID, thief.address, true)).toBeUndefined();
    expect(await node.people.methodOf(FID, seller.address, true)).toBe("custody");
    expect(await node.signedBy(seller)).toBe(FID);
    expect(followed.trust()?.disputes).toEqual([{ fid: FID, type: 3, upstreams: [2] }]);
  });
});

test("an event that only the followed node has does not bind the fid to the owner that it names, once it is sold", async () => {
  const ahead = transferEvent(FID, seller.address, seller.address, { block: 900_000_000 });
  const options = { nodes: 2, isFollowing: false, recording: sold, lastBlock: 90 };
  await using followed = await followNodes(options);
  const [liar, other] = followed.nodes as [RecordedNode, RecordedNode];
  liar.recording = withOnChainEvent(sold, PLACE, ahead);
  other.pause();
  followed.start();
  await followed.allApplied(90);
  other.resume();
  await followed.until(() => followed.upstreams().every(({ state }) => state === "ok"));
  expect(followed.active()).toBe(liar);
  using node = operations(followed);
  expect(await node.signedBy(seller)).toBe(FID);
  const act = await node.custodies.find(FID);
  expect(act).toMatchObject({ custody: seller.address, blockNumber: 300_000_070 });
});

describe("whose custody counts with three upstreams", () => {
  test("check 15: the followed node forges a transfer: reads show it, the thief is refused, and the owner still signs", async () => {
    await using followed = await followFirst({ lastBlock: 90, first: moved(sold, thief, PLACE.height) });
    using node = operations(followed);
    expect(custodyFromIndex(followed.db)(FID)).toEqual(thief.address);
    expect(await node.signedBy(thief)).toBe(NOT_CUSTODY);
    expect(await node.people.methodOf(FID, thief.address, true)).toBeUndefined();
    expect(await node.people.methodOf(FID, seller.address, true)).toBe("custody");
    expect(await node.signedBy(seller)).toBe(FID);
    expect(followed.trust()?.disputes).toEqual([{ fid: FID, type: 3, upstreams: [2, 3] }]);
    expect(followed.faults.filter((fault) => fault.includes("disputed")).length).toBe(1);
    // It is followed no longer, and confirms what it said.
    followed.nodes[0]?.kill();
    await followed.until(() => followed.active() !== undefined && followed.active() !== followed.nodes[0]);
    expect(await node.signedBy(thief)).toBe(NOT_CUSTODY);
  });

  test("a transfer that only the followed node has yet: neither address acts, until a second node has the block", async () => {
    await using followed = await followFirst({ lastBlock: 79, first: moved(sold, buyer, PLACE.height) });
    for (const one of followed.nodes) one.recording = moved(sold, buyer, PLACE.height);
    using node = operations(followed);
    expect(await node.signedBy(seller)).toBe(FID);
    for (const shard of SHARDS) followed.nodes[0]?.heads.set(shard, 85);
    await followed.allApplied(85);
    const waits = "a second upstream has not confirmed who owns the fid yet";
    expect([await node.signedBy(seller), await node.signedBy(buyer)]).toEqual([waits, waits]);
    // No node is asked on behalf of somebody who never owned it.
    expect(await node.signedBy(thief)).toBe(NOT_CUSTODY);
    for (const shard of SHARDS) followed.nodes[2]?.heads.set(shard, 85);
    await followed.until(() => followed.upstreams()[2]?.lagBlocks === 0);
    await settles(() => node.signedBy(buyer), FID);
    expect(await node.signedBy(seller)).toBe(NOT_CUSTODY);
    expect(followed.trust()?.disputes).toEqual([]);
  });

  test("the followed node withholds a transfer that the others have: the previous owner does not act", async () => {
    await using followed = await followFirst({ lastBlock: 90 });
    for (const one of followed.nodes.slice(1)) one.recording = moved(sold, buyer, PLACE.height);
    using node = operations(followed);
    expect(await node.signedBy(seller)).toBe(
      "two upstreams have an event of the fid that this node was not sent",
    );
    expect(await node.signedBy(seller, NEXT_FID)).toBe(NEXT_FID);
    expect(followed.trust()?.disputes).toMatchObject([{ fid: FID, upstreams: [2, 3] }]);
  });

  test("one of the others forges a transfer: two nodes agree, and it changes nothing", async () => {
    await using followed = await followFirst({ lastBlock: 90 });
    const liar = followed.nodes[1];
    if (liar) liar.recording = moved(sold, thief, PLACE.height);
    using node = operations(followed);
    expect(await node.signedBy(seller)).toBe(FID);
    expect(await node.signedBy(thief)).toBe(NOT_CUSTODY);
  });

  test("one of the others forges a transfer, and never says which blocks it has: it cannot keep the owner out", async () => {
    await using followed = await followFirst({ lastBlock: 90 });
    const liar = followed.nodes[1] as (typeof followed.nodes)[number];
    liar.recording = moved(sold, thief, PLACE.height);
    liar.pause("GetInfo");
    using node = operations(followed);
    expect(await node.signedBy(seller)).toBe(FID);
    expect(followed.trust()?.disputes).toEqual([]);
    // It is named once it has said that it is not ahead.
    liar.resume();
    await followed.until(() => followed.trust()?.disputes.length === 1);
    expect(followed.trust()?.disputes).toEqual([{ fid: FID, type: 3, upstreams: [2] }]);
  });

  test("one of the others sends a flood of events: it is not a witness, and is asked last from then on", async () => {
    await using followed = await followFirst({ lastBlock: 90 });
    const liar = followed.nodes[1] as RecordedNode;
    liar.recording = flooding(sold);
    using node = operations(followed);
    expect(await node.signedBy(seller)).toBe(FID);
    expect(await node.signedBy(seller, NEXT_FID)).toBe(NEXT_FID);
    expect(liar.calls.get("GetOnChainEvents")).toBe(1);
    expect(followed.trust()?.disputes).toEqual([]);
  });

  test("an auth address that one node invents signs no one in", async () => {
    const added = signerEvent(FID, thief.address, { block: 310_000_000 });
    if (added.body?.$case === "signerEventBody") added.body.value.keyType = 2;
    await using followed = await followFirst({ lastBlock: 90, first: withOnChainEvent(sold, PLACE, added) });
    using node = operations(followed);
    expect(node.people.mayBe(FID, thief.address, true)).toBe(true);
    expect(await node.people.methodOf(FID, thief.address, true)).toBeUndefined();
    expect(await node.people.methodOf(FID, seller.address, true)).toBe("custody");
  });

  test("what two nodes confirmed counts for a day after a restart, without them; what happened since and what no two confirmed waits", async () => {
    await using followed = await followFirst({ lastBlock: 79 });
    for (const one of followed.nodes) one.recording = moved(sold, buyer, PLACE.height);
    const waits = "a second upstream has not confirmed who owns the fid yet";
    {
      using node = operations(followed);
      expect(await node.signedBy(seller)).toBe(FID);
    }
    await followed.until(() => confirmedEventsOf(followed.db, FID, 3) !== undefined);
    await followed.stop();
    for (const one of followed.nodes.slice(1)) one.kill();
    followed.start();
    await followed.until(() => followed.active() === followed.nodes[0]);
    using node = operations(followed);
    expect(await node.signedBy(seller)).toBe(FID);
    expect(await node.signedBy(seller, NEXT_FID)).toBe(waits);
    // An index that differs from the signed state may lack an event.
    const shard = shardOfFid(FID, 2);
    const proof = shardProof(followed.db, shard);
    putShardProof(followed.db, shard, { ...proof, mismatchHeight: 79 });
    await followed.stop();
    followed.start();
    await followed.until(() => followed.active() === followed.nodes[0]);
    expect(await node.signedBy(seller)).toBe(waits);
    putShardProof(followed.db, shard, proof);
    followed.clock.advanceSecs(86_401);
    await followed.stop();
    followed.start();
    await followed.until(() => followed.active() === followed.nodes[0]);
    expect(await node.signedBy(seller)).toBe(waits);
    followed.clock.advanceSecs(-86_401);
    await followed.stop();
    followed.start();
    // It is sold meanwhile.
    for (const shard of SHARDS) followed.nodes[0]?.heads.set(shard, 85);
    await followed.allApplied(85);
    expect([await node.signedBy(seller), await node.signedBy(buyer)]).toEqual([waits, waits]);
  });

  test("the second of two nodes denies an fid that both had: its owner still signs, one that it never had does not", async () => {
    await using followed = await followNodes({
      nodes: 2,
      isFollowing: false,
      recording: sold,
      lastBlock: 90,
    });
    const other = followed.nodes[1] as RecordedNode;
    other.pause();
    followed.start();
    await followed.allApplied(90);
    other.resume();
    await followed.until(() => followed.upstreams().every(({ state }) => state === "ok"));
    using node = operations(followed);
    expect(await node.signedBy(seller)).toBe(FID);
    await followed.until(() => confirmedEventsOf(followed.db, FID, 3) !== undefined);
    other.recording = withoutEvents(sold);
    await followed.stop();
    followed.start();
    await followed.until(() => followed.upstreams().every(({ state }) => state === "ok"));
    await settles(() => node.signedBy(seller, NEXT_FID), "unknown fid");
    expect(await node.signedBy(seller)).toBe(FID);
    expect(followed.trust()?.disputes.map(({ fid }) => fid)).toEqual([NEXT_FID, FID]);
  });

  test("without a second node that responds, decisions wait; strangers cannot take the place of owners", async () => {
    await using followed = await followFirst({ lastBlock: 90 });
    for (const one of followed.nodes.slice(1)) one.kill();
    await followed.until(() => followed.upstreams().filter(({ state }) => state === "failing").length === 2);
    const waits = {
      isConfirmed: false as const,
      reason: "a second upstream has not confirmed who owns the fid yet",
    };
    expect(await followed.confirm().confirmCustody(FID, "signed")).toEqual(waits);
    for (const one of followed.nodes) one.pause();
    const asked = Array.from({ length: 40 }, (_, index) =>
      followed.confirm().confirmCustody(index + 1, "open"),
    );
    const refused = await Promise.any(asked);
    expect(refused).toEqual({ isConfirmed: false, reason: "too many owners are being confirmed at a time" });
    for (const one of followed.nodes) one.resume();
    expect((await Promise.all(asked)).every(({ isConfirmed }) => !isConfirmed)).toBe(true);
  });
});

/** Asks until a response is what it should become: what waits for a block is remembered for a second. */
async function settles<T>(ask: () => Promise<T>, expected: T): Promise<void> {
  for (;;) {
    const answer = await ask();
    if (Bun.deepEquals(answer, expected)) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
