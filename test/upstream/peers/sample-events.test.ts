import { expect, test } from "bun:test";
import { openIndexInMemory } from "../../../src/db/index/database.ts";
import { onChainEventsOf } from "../../../src/db/index/project/on-chain.ts";
import { toHex } from "../../../src/protocol/validate/eth.ts";
import { OnChainEventType } from "../../../src/protocol/wire/generated/on-chain.ts";
import { sampleEvents } from "../../../src/upstream/peers/sample-events.ts";
import { rentEvent } from "../../support/events.ts";
import { until } from "../../support/manual-time.ts";
import { withOnChainEvent } from "../../support/upstream/recorded-events.ts";
import { chain, followNodes } from "../../support/upstream/recorded-nodes.ts";

/** Registered in block 67 of shard 1. */
const FID = 7000;
const EVENT_TYPE_STORAGE_RENT = OnChainEventType.EVENT_TYPE_STORAGE_RENT;
const rentedAt = (block: number) =>
  withOnChainEvent(chain, { shard: 1, height: 80 }, rentEvent(FID, 1000, { block }));
const rented = rentedAt(300_000_080);

test.each([
  ["storage that only the followed node knows of", chain],
  ["check 4: an event with another block number, which no root binds,", rentedAt(300_000_081)],
])("%s is found without any decision, named, and settled once the nodes agree", async (_, theirs) => {
  await using followed = await followNodes({ nodes: 2, isFollowing: false, sampleMs: 1 });
  const [liar, other] = followed.nodes;
  if (!liar || !other) throw new Error("two nodes are served");
  liar.recording = rented;
  other.recording = theirs;
  other.pause();
  followed.start();
  await followed.allApplied();
  other.resume();
  await followed.until(() => (followed.trust()?.disputes.length ?? 0) > 0);
  expect(followed.trust()?.disputes).toEqual([{ fid: FID, type: EVENT_TYPE_STORAGE_RENT, upstreams: [2] }]);
  expect(followed.faults.filter((fault) => fault.includes("disputed"))).toHaveLength(1);
  other.recording = rented;
  await followed.until(() => followed.trust()?.disputes.length === 0);
});

test("what the chain disputes is asked again without any decision, and settled once it agrees", async () => {
  let owner: Uint8Array = new Uint8Array(20);
  await using followed = await followNodes({
    sampleMs: 1,
    registries: {
      call: async () => toHex(Buffer.concat([new Uint8Array(12), owner])),
      blockNumber: async () => 400_000_000,
    },
  });
  await followed.allApplied();
  const [registered] = onChainEventsOf(followed.db, OnChainEventType.EVENT_TYPE_ID_REGISTER, FID);
  await followed.confirm().confirmCustody(FID, "signed");
  expect(followed.trust()?.disputes).toEqual([
    { fid: FID, type: OnChainEventType.EVENT_TYPE_ID_REGISTER, upstreams: [] },
  ]);
  owner = registered?.body?.$case === "idRegisterEventBody" ? registered.body.value.to : owner;
  await followed.until(() => followed.trust()?.disputes.length === 0);
});

test("what is disputed is compared in turns: one that cannot be settled keeps no other from it", async () => {
  using db = openIndexInMemory();
  const stop = new AbortController();
  const compared = new Set<number>();
  const disputes = [1, 2, 3].map((fid) => ({ fid, type: EVENT_TYPE_STORAGE_RENT, upstreams: [2] }));
  const sampled = sampleEvents({
    db,
    events: {
      disputes: () => disputes,
      async check(fid) {
        compared.add(fid);
      },
    },
    isFilled: () => true,
    timings: { sampleMs: 1 },
    signal: stop.signal,
  });
  await until(() => compared.size === 3);
  stop.abort();
  await sampled;
});
