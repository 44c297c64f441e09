import { expect, test } from "bun:test";
import * as core from "@farcaster/core";
import { findRegistrationByKey } from "../../src/db/index/channels/registrations.ts";
import { findSlot } from "../../src/db/index/channels/slots.ts";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { keepUnknown, unknownAfter } from "../../src/db/index/unknown-records.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { ChannelSlotKind } from "../../src/protocol/channels/slots.ts";
import { engineSchedule } from "../../src/protocol/network/engine-versions.ts";
import { BlockEventType } from "../../src/protocol/wire/generated/block.ts";
import { FarcasterNetwork, Message, MessageType } from "../../src/protocol/wire/generated/message.ts";
import { OnChainEvent, OnChainEventType } from "../../src/protocol/wire/generated/on-chain.ts";
import type { FollowedBlock } from "../../src/protocol/wire/generated/upstream.ts";
import { relayedChainBlocks } from "../../src/upstream/blocks/chain-operations.ts";
import type { RelayRules } from "../../src/upstream/blocks/validate-relayed.ts";
import {
  unknownBlockEvents,
  unknownHubEvents,
  unknownMessage,
  unknownOnChainEvent,
} from "../../src/upstream/calls/decode/unknown-records.ts";
import { degradedReasons, EngineWatch } from "../../src/upstream/follow/engine-watch.ts";
import { recoverUnknown } from "../../src/upstream/follow/recover-unknown.ts";
import { Scope } from "../../src/upstream/scope.ts";
import type { StageDeps } from "../../src/upstream/stage.ts";
import { registers } from "../support/channel-records.ts";
import { ManualClock } from "../support/clock.ts";
import { DEFAULT_NOW_SECS, makeSigner, sealDataBytes, signMessage } from "../support/messages.ts";

const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const SIGNER = makeSigner("ahead");
const CHANNEL_ID = new Uint8Array(32).fill(9);
const PLACE = { shard: 0, block: 5, position: 77 };

const rules: RelayRules = {
  network: NETWORK,
  nameServer: undefined,
  nowUnixSecs: DEFAULT_NOW_SECS,
  scope: new Scope(undefined, []),
  shards: 2,
  hasBlockShard: true,
  logsHubEvents: false,
  onRefused: ({ reason }) => {
    throw new Error(reason);
  },
};

const pin = signMessage(
  {
    type: MessageType.MESSAGE_TYPE_CHANNEL_PIN,
    fid: 4,
    body: { $case: "channelPinBody", value: { channelId: CHANNEL_ID, castHash: new Uint8Array(20) } },
  },
  SIGNER,
);
/** A message of a type of the future: type 99 of fid 4. */
const future = Message.encode(
  sealDataBytes(Uint8Array.of(8, 99, 16, 4, 24, 0x80, 0x80, 0x80, 0x46, 32, 1), SIGNER),
).finish();

function blockWith(message: Uint8Array): FollowedBlock {
  const body = { $case: "merged" as const, value: { message } };
  const data = { seqnum: 77, type: BlockEventType.BLOCK_EVENT_TYPE_MERGE_MESSAGE, blockTimestamp: 0, body };
  return { header: { height: { shardIndex: 0, blockNumber: 5 }, timestamp: 100 }, events: [{ data }] };
}

test("check 25: a decided message of an unknown type is kept with its number, and is not refused", () => {
  const { ops, unknown } = relayedChainBlocks(rules, [blockWith(future)], { isJournal: false });
  expect(ops).toEqual([]);
  expect(unknown).toMatchObject([{ kind: "message", number: 99, shard: 0, block: 5, position: 77 }]);
  expect(Buffer.compare(unknown[0]?.bytes ?? new Uint8Array(), future)).toBe(0);
});

test("check 25: bytes that are not a message are kept as type 0, and no user degrades a node by signing them", () => {
  expect(unknownMessage(Uint8Array.of(255), PLACE)).toMatchObject({ kind: "message", number: 0 });
  expect(unknownMessage(pin, PLACE)).toBeUndefined();
  // A body twice: the reference node (prost) merges the two, other decoders do not.
  const half = core.MessageData.encode(
    core.MessageData.fromPartial({
      type: 1,
      fid: 4,
      timestamp: 9,
      network: 1,
      castAddBody: { text: "x" },
    } as never),
  ).finish();
  const odd = Buffer.concat([half, Uint8Array.of(0x2a, 0)]);
  const bytes = Message.encode(sealDataBytes(odd, SIGNER)).finish();
  const { kind, number } = unknownMessage(bytes, PLACE) ?? {};
  const unknown = [{ kind: String(kind), number: Number(number), seen: 1, dropped: 0, lastAt: 1 }];
  expect(degradedReasons({ unknownAt: undefined, unknown, isHistoryDue: false, channelsLeftOut: 0 })).toEqual(
    [],
  );
});

test("check 25: events of unknown types are kept as they were sent", () => {
  // seqnum 8, type 42, and a body that this program has no field for.
  const blockEvent = Uint8Array.of(18, 7, 8, 8, 16, 42, 98, 1, 1);
  expect(unknownBlockEvents([blockEvent], 3)).toEqual([
    { kind: "block_event", number: 42, shard: 0, block: 3, position: 8, bytes: blockEvent },
  ]);
  const hubEvent = Uint8Array.of(8, 42, 16, 9);
  expect(unknownHubEvents([hubEvent], 1, 2)).toMatchObject([{ kind: "hub_event", number: 42, position: 9 }]);
  expect(unknownHubEvents([Uint8Array.of(8, 12, 16, 9)], 1, 2)).toEqual([]);
});

test("check 25: a later program applies what an earlier one kept, without asking the upstream", async () => {
  using db = openIndexInMemory();
  claimNetwork(db, "mainnet");
  const engine = createIngestEngine({
    db,
    network: NETWORK,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    onFault: (cause) => {
      throw cause;
    },
  });
  // As a program of before channels kept it.
  for (const bytes of [pin, future]) keepUnknown(db, { kind: "message", number: 20, ...PLACE, bytes }, 1000);
  const writer = {
    apply: async (batch: Parameters<typeof engine.applyRelayed>[0]) => engine.applyRelayed(batch),
  };
  await recoverUnknown({ db, rules, writer, signal: new AbortController().signal } as unknown as StageDeps);
  const slot = findSlot(db, { channelId: CHANNEL_ID, kind: ChannelSlotKind.Pin, target: new Uint8Array() });
  expect([slot?.authorFid, slot?.seqnum]).toEqual([4, 77]);
  // What is still unknown stays.
  expect(unknownAfter(db, 0, 10)).toHaveLength(1);
});

test("check 26: the settings date a version that the program has no date for, and devnets have it from genesis", () => {
  expect(engineSchedule(NETWORK).activeAt(21)).toBeUndefined();
  expect(engineSchedule(NETWORK, ["21=1790000000"]).activeAt(21)).toBe(1_790_000_000);
  expect(engineSchedule(FarcasterNetwork.FARCASTER_NETWORK_DEVNET).activeAt(21)).toBe(0);
});

test("check 25: an announced switch that the program has no date for is shown, a known one is not", async () => {
  using db = openIndexInMemory();
  const announce = async (next: number, dated: readonly string[] = []) => {
    const watch = new EngineWatch(db, engineSchedule(NETWORK, dated));
    const done = new AbortController();
    const client = {
      info: async () => {
        done.abort();
        return { nextEngineVersionTimestamp: next };
      },
    };
    await watch.run(client as never, {} as never, done.signal, () => undefined);
    return watch.progress().unknownAt;
  };
  expect(await announce(1_790_000_000)).toBe(1_790_000_000);
  expect(await announce(1_790_000_000, ["21=1790000000"])).toBeUndefined();
  expect(await announce(0)).toBeUndefined();
});

test("an announced switch without a date is shown until the upstream announces it no more", async () => {
  using db = openIndexInMemory();
  const watch = new EngineWatch(db, engineSchedule(NETWORK, []));
  const done = new AbortController();
  const shown: unknown[] = [];
  const announced = [1_790_000_000, 0];
  const client = {
    async info() {
      shown.push(watch.progress().unknownAt);
      const next = announced.shift();
      if (announced.length === 0) done.abort();
      return { nextEngineVersionTimestamp: next };
    },
  };
  await watch.run(client as never, { engineCheckMs: 1 } as never, done.signal, () => undefined);
  expect([...shown, watch.progress().unknownAt]).toEqual([undefined, 1_790_000_000, undefined]);
});

test("check 25: a node that has met unknown records is degraded, and names their types and numbers", () => {
  const unknown = [{ kind: "message", number: 99, seen: 3, dropped: 0, lastAt: 1 }];
  expect(
    degradedReasons({ unknownAt: undefined, unknown, isHistoryDue: false, channelsLeftOut: 0 })[0],
  ).toContain("3 of message 99");
  const many = Array.from({ length: 260 }, (_, at) => ({
    kind: "message",
    number: at + 1,
    seen: 1,
    dropped: 0,
    lastAt: 1,
  }));
  const [text = ""] = degradedReasons({
    unknownAt: undefined,
    unknown: many,
    isHistoryDue: false,
    channelsLeftOut: 0,
  });
  expect(text).toContain("and 252 other kinds");
  expect(text.length).toBeLessThan(400);
  expect(
    degradedReasons({ unknownAt: undefined, unknown: [], isHistoryDue: false, channelsLeftOut: 0 }),
  ).toEqual([]);
  expect(
    degradedReasons({ unknownAt: undefined, unknown: [], isHistoryDue: true, channelsLeftOut: 0 }),
  ).toHaveLength(1);
});

/** In 64 bits, above every number that is exact in JavaScript. The libraries write them from text. */
const HUGE: readonly string[] = [2n ** 53n, 2n ** 53n + 3n, 2n ** 63n, 2n ** 64n - 1n].map(String);
const HASH = new Uint8Array(20).fill(1);

/** Everything that strangers may set to a number of 64 bits: the network does not look at it. */
const bodiesWith = (huge: string): readonly Record<string, unknown>[] => [
  { type: 1, castAddBody: { text: "x", mentions: [huge], mentionsPositions: [0] } },
  { type: 1, castAddBody: { text: "x", parentCastId: { fid: huge, hash: HASH } } },
  { type: 1, castAddBody: { text: "x", embeds: [{ castId: { fid: huge, hash: HASH } }] } },
  { type: 3, reactionBody: { type: 1, targetCastId: { fid: huge, hash: HASH } } },
  { type: 5, linkBody: { type: "follow", targetFid: huge } },
  { type: 14, linkCompactStateBody: { type: "follow", targetFids: [1, huge] } },
  { type: 15, lendStorageBody: { toFid: huge, numUnits: 1, unitType: 1 } },
];

test.each(HUGE)("check 25: the number %s in a message of a stranger is not an unknown record", (huge) => {
  for (const body of bodiesWith(huge)) {
    const data = { fid: 4, timestamp: 150_000_000, network: 1, ...body };
    const dataBytes = core.MessageData.encode(core.MessageData.fromPartial(data as never)).finish();
    const bytes = Message.encode(sealDataBytes(dataBytes, SIGNER)).finish();
    expect([body, unknownMessage(bytes, PLACE)]).toEqual([body, undefined]);
  }
});

test.each(HUGE)("check 25: an event of a chain with the number %s is not an unknown record", (huge) => {
  const place = { chainId: 10, blockNumber: 1, blockHash: HASH, transactionHash: HASH, logIndex: 0, fid: 4 };
  const rent = { ...place, type: 4, fid: huge, storageRentEventBody: { payer: HASH, units: 1, expiry: 9 } };
  const tier = { ...place, type: 5, tierPurchaseEventBody: { tierType: 1, forDays: huge, payer: HASH } };
  const late = { ...tier, blockTimestamp: huge };
  for (const event of [rent, tier, late]) {
    const bytes = core.OnChainEvent.encode(core.OnChainEvent.fromPartial(event as never)).finish();
    expect([event, unknownOnChainEvent(bytes, PLACE)]).toEqual([event, undefined]);
  }
});

test.each(HUGE)("a channel is registered and renewed until %s, which is read as 2^53 - 1", async (huge) => {
  using db = openIndexInMemory();
  claimNetwork(db, "mainnet");
  const clock = new ManualClock(DEFAULT_NOW_SECS);
  const onFault = (cause: unknown) => {
    throw cause;
  };
  const engine = createIngestEngine({ db, network: NETWORK, clock, onFault });
  const eventOf = (type: number, expiry: string, blockNumber: number): FollowedBlock => {
    const event = OnChainEvent.decode(registers("books", HASH, { blockNumber }).bytes);
    if (event.body?.$case === "channelRegisterEventBody")
      Object.assign(event.body.value, { eventType: type, expiry });
    const body = { $case: "onChainEvent" as const, value: { event: OnChainEvent.encode(event).finish() } };
    const data = {
      seqnum: blockNumber,
      type: BlockEventType.BLOCK_EVENT_TYPE_MERGE_ON_CHAIN_EVENT,
      blockTimestamp: 0,
      body,
    };
    return { header: { height: { shardIndex: 0, blockNumber }, timestamp: 100 }, events: [{ data }] };
  };
  for (const blocks of [[eventOf(1, huge, 5)], [eventOf(2, "4000000000", 6)], [eventOf(2, huge, 7)]]) {
    const { ops, unknown } = relayedChainBlocks(rules, blocks, { isJournal: false });
    expect(unknown).toEqual([]);
    engine.applyRelayed({ ops, positions: [] });
  }
  expect(findRegistrationByKey(db, "books")?.expiry).toBe(2 ** 53 - 1);
  const stored = db.sqlite.query("SELECT count(*) AS n FROM on_chain_events WHERE type = ?");
  expect(stored.get(OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER)).toEqual({ n: 3 });
});
