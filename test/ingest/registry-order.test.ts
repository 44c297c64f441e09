import { expect, test } from "bun:test";
import fc from "fast-check";
import { channelsActiveAt } from "../../src/db/index/channels/follows.ts";
import { HISTORY_DONE, seqnumOfEvent } from "../../src/db/index/channels/history.ts";
import { findRegistration } from "../../src/db/index/channels/registrations.ts";
import { putPosition } from "../../src/db/index/positions.ts";
import { storeOnChainEvent } from "../../src/ingest/merge/registry.ts";
import type { RelayedOp } from "../../src/ingest/relayed-op.ts";
import {
  type ChannelRegistration,
  channelIdOfKey,
  registrationAfter,
} from "../../src/protocol/channels/registrations.ts";
import { ChannelRegisterEventType, OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { activateChannels, registers } from "../support/channel-records.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";
import { startTestNode } from "../support/node.ts";

const KEYS = ["books", "films"];
const { CHANNEL_REGISTER_EVENT_TYPE_RENEW: RENEW, CHANNEL_REGISTER_EVENT_TYPE_TRANSFER: TRANSFER } =
  ChannelRegisterEventType;

/** What the registry does to a channel, in the order of the chain. Shard 0 decides it in any order. */
interface Act {
  readonly key: string;
  readonly eventType: ChannelRegisterEventType;
  readonly owner: number;
  /** Orders the decisions. */
  readonly decided: number;
}

const act = (key: string, eventType: ChannelRegisterEventType, owner: number, decided: number): Act => ({
  key,
  eventType,
  owner,
  decided,
});
const anyAct = fc.record({
  key: fc.constantFrom(...KEYS),
  eventType: fc.constantFrom(1, 2, 3),
  owner: fc.integer({ min: 1, max: 200 }),
  decided: fc.integer({ min: 0, max: 1_000 }),
});

function eventsInOrderOfDecision(acts: readonly Act[]): OnChainEvent[] {
  return acts
    .map(({ key, eventType, owner, decided }, block) => {
      const address = new Uint8Array(20).fill(owner);
      const event = OnChainEvent.decode(registers(key, address, { blockNumber: block + 1 }).bytes);
      if (event.body?.$case !== "channelRegisterEventBody") throw new Error("a registration has a body");
      Object.assign(event.body.value, {
        eventType,
        channelKey: eventType === TRANSFER ? "" : key,
        expiry: eventType === TRANSFER ? 0 : 2_000_000_000 + block,
        ownerAddress: eventType === RENEW ? new Uint8Array() : address,
      });
      return { event, decided };
    })
    .sort((a, b) => a.decided - b.decided)
    .map(({ event }) => event);
}

/** Relays events while the history of channels is due: the first `before` are of it, the others of blocks that are followed. */
function ownersAfter(events: readonly OnChainEvent[], before: number, isHistoryFirst: readonly boolean[]) {
  using node = startTestNode();
  activateChannels(node.db);
  const ops = events.map((event, at): RelayedOp => {
    const decision = { seqnum: at + 1, decidedAt: DEFAULT_NOW_SECS };
    return { kind: "registration", event: OnChainEvent.encode(event).finish(), decision, happenedAt: 0 };
  });
  const [history, live] = [ops.slice(0, before), ops.slice(before)];
  for (const isHistory of [...isHistoryFirst, ...ops.map(() => true), ...ops.map(() => false)])
    node.relay((isHistory ? history : live).splice(0, 1));
  node.relay([{ kind: "channelsComplete", happenedAt: 0 }]);
  // Their order is of no more use.
  expect(events.filter((event) => seqnumOfEvent(node.db, event) !== undefined)).toEqual([]);
  node.db.transaction(() => putPosition(node.db, HISTORY_DONE.key, HISTORY_DONE.position));
  // Repeated later, they change nothing.
  node.relay(ops);
  return KEYS.map((key) => shown(findRegistration(node.db, channelIdOfKey(key))));
}

const shown = (one: ChannelRegistration | undefined) =>
  one && [one.ownerAddress[0], one.expiry, one.registeredAt, one.position];

function mustOwn(events: readonly OnChainEvent[]) {
  return KEYS.map((key) => {
    const label = channelIdOfKey(key).toHex();
    let channel: ChannelRegistration | undefined;
    for (const event of events)
      if (event.body?.$case === "channelRegisterEventBody" && event.body.value.label.toHex() === label)
        channel = registrationAfter(channel, event) ?? channel;
    return shown(channel);
  });
}

test("check 6: a transfer that shard 0 decided before the registration of its channel names no owner, before and after a repetition", () => {
  const events = eventsInOrderOfDecision([act("books", 1, 1, 2), act("books", TRANSFER, 2, 1)]);
  for (const before of [0, 1, 2]) expect(ownersAfter(events, before, [])[0]?.[0]).toBe(1);
});

test("check 6: registrations, renewals and transfers that are read beside the blocks that are followed end as shard 0 decided them", () => {
  fc.assert(
    fc.property(
      fc.array(anyAct, { maxLength: 8 }),
      fc.nat({ max: 8 }),
      fc.array(fc.boolean(), { maxLength: 8 }),
      (acts, before, isHistoryFirst) => {
        const events = eventsInOrderOfDecision(acts);
        expect(ownersAfter(events, before, isHistoryFirst)).toEqual(mustOwn(events));
      },
    ),
    { numRuns: 150 },
  );
});

test("the first event of the registry that shard 0 decides proves since when channels are part of the protocol", () => {
  using node = startTestNode();
  const [event] = eventsInOrderOfDecision([act("books", 1, 1, 1)]);
  if (!event) throw new Error("an event");
  const registration = {
    kind: "registration",
    event: OnChainEvent.encode(event).finish(),
    happenedAt: 0,
  } as const;
  const before = channelsActiveAt(node.db);
  node.relay([{ ...registration, decision: undefined }]);
  expect(channelsActiveAt(node.db)).toBe(before);
  const decidedAt = DEFAULT_NOW_SECS - 77;
  node.relay([{ ...registration, decision: { seqnum: 1, decidedAt } }]);
  expect(channelsActiveAt(node.db)).toBe(decidedAt);
});

test("a registration that is stored without its channel makes the channel when it is read again, until the history is read", () => {
  for (const isRead of [false, true]) {
    using node = startTestNode();
    activateChannels(node.db);
    const [event] = eventsInOrderOfDecision([act("books", 1, 1, 1)]);
    if (!event) throw new Error("an event");
    node.db.transaction(() => {
      storeOnChainEvent(node.db, event);
      if (isRead) putPosition(node.db, HISTORY_DONE.key, HISTORY_DONE.position);
    });
    const bytes = OnChainEvent.encode(event).finish();
    node.relay([{ kind: "registration", event: bytes, decision: undefined, happenedAt: 0 }]);
    expect(findRegistration(node.db, channelIdOfKey("books")) === undefined).toBe(isRead);
  }
});

test("an event of the registry that is reported without its place among the decisions leaves it to them", () => {
  using node = startTestNode();
  activateChannels(node.db);
  const [event] = eventsInOrderOfDecision([act("books", 1, 1, 1)]);
  if (!event) throw new Error("an event");
  const bytes = OnChainEvent.encode(event).finish();
  for (const seqnum of [0, 5, 7]) {
    const decision = { seqnum, decidedAt: DEFAULT_NOW_SECS };
    node.relay([{ kind: "registration", event: bytes, decision, happenedAt: 0 }]);
  }
  expect(seqnumOfEvent(node.db, event)).toBe(5);
});
