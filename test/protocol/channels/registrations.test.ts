import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type ChannelRegistration,
  channelIdOfEvent,
  channelIdOfKey,
  isBefore,
  registrationAfter,
} from "../../../src/protocol/channels/registrations.ts";
import {
  ChannelRegisterEventType as EventType,
  OnChainEvent,
  OnChainEventType,
} from "../../../src/protocol/wire/generated/on-chain.ts";

const KEY = "books";
const LABEL = channelIdOfKey(KEY);
const address = (byte: number) => new Uint8Array(20).fill(byte);

interface Change {
  readonly type: EventType;
  readonly at: number;
  readonly owner?: Uint8Array;
  readonly key?: string;
  readonly label?: Uint8Array;
  readonly expiry?: number;
}

function event({ type, at, owner, key, label = LABEL, expiry = 0 }: Change): OnChainEvent {
  const isTransfer = type === EventType.CHANNEL_REGISTER_EVENT_TYPE_TRANSFER;
  const value = {
    channelKey: key ?? (isTransfer ? "" : KEY),
    expiry,
    ownerAddress: owner ?? new Uint8Array(),
    eventType: type,
    label,
  };
  return OnChainEvent.fromPartial({
    type: OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER,
    blockNumber: at,
    blockTimestamp: 1000 + at,
    body: { $case: "channelRegisterEventBody", value },
  });
}

const REGISTER = EventType.CHANNEL_REGISTER_EVENT_TYPE_REGISTER;
const RENEW = EventType.CHANNEL_REGISTER_EVENT_TYPE_RENEW;
const TRANSFER = EventType.CHANNEL_REGISTER_EVENT_TYPE_TRANSFER;

const after = (events: readonly Change[]) =>
  events.reduce<ChannelRegistration | undefined>(
    (current, one) => registrationAfter(current, event(one)) ?? current,
    undefined,
  );

test("check 6: a renewal keeps the owner, a transfer the expiry, a registration replaces both", () => {
  const registered = { type: REGISTER, at: 1, owner: address(1), expiry: 10 };
  expect(after([registered, { type: RENEW, at: 2, expiry: 20 }])).toMatchObject({
    ownerAddress: address(1),
    expiry: 20,
  });
  expect(after([registered, { type: TRANSFER, at: 2, owner: address(2) }])).toMatchObject({
    ownerAddress: address(2),
    expiry: 10,
  });
  const again = { type: REGISTER, at: 3, owner: address(3), expiry: 30 };
  expect(after([registered, again])).toMatchObject({
    ownerAddress: address(3),
    expiry: 30,
    registeredAt: 1001,
  });
});

test("check 6: an event that is earlier on the chain than the last one changes nothing, in every order", () => {
  const anyChange = fc.record({
    type: fc.constantFrom(REGISTER, RENEW, TRANSFER),
    at: fc.integer({ min: 1, max: 20 }),
    owner: fc.integer({ min: 1, max: 9 }).map(address),
    expiry: fc.integer({ min: 1, max: 99 }),
  });
  fc.assert(
    fc.property(fc.array(anyChange, { maxLength: 12 }), (changes) => {
      let current: ChannelRegistration | undefined;
      for (const change of changes) {
        const next = registrationAfter(current, event(change));
        if (current && change.at < current.position.block) expect(next).toBeUndefined();
        if (next) {
          expect(next.position.block).toBe(change.at);
          // Applied again, it leaves the same.
          expect(registrationAfter(next, event(change))).toEqual(next);
        }
        current = next ?? current;
      }
    }),
  );
});

test("events of a block follow each other by transaction, and those of a transaction by log", () => {
  const inOrder = [
    [1, 9, 9],
    [2, 0, 8],
    [2, 0, 9],
    [2, 1, 0],
    [2, 3, 1],
    [3, 0, 0],
  ].map(([block = 0, tx = 0, log = 0]) => ({ block, tx, log }));
  for (const [at, a] of inOrder.entries())
    for (const [other, b] of inOrder.entries()) expect(isBefore(a, b)).toBe(at < other);
});

test("check 7: an event of another form changes no channel", () => {
  expect(after([{ type: REGISTER, at: 1, owner: address(1), key: "other" }])).toBeUndefined();
  expect(after([{ type: REGISTER, at: 1, owner: new Uint8Array(19) }])).toBeUndefined();
  expect(after([{ type: REGISTER, at: 1, owner: address(1), label: LABEL.subarray(1) }])).toBeUndefined();
  expect(after([{ type: RENEW, at: 1, expiry: 9 }])).toBeUndefined();
  expect(after([{ type: TRANSFER, at: 1, owner: address(1) }])).toBeUndefined();
});

test("an event names the channel of its label, which has 32 bytes", () => {
  expect(channelIdOfEvent(event({ type: RENEW, at: 1 }))).toEqual(LABEL);
  for (const label of [LABEL.subarray(1), new Uint8Array(33), new Uint8Array()])
    expect(channelIdOfEvent(event({ type: RENEW, at: 1, label }))).toBeUndefined();
  expect(channelIdOfEvent(OnChainEvent.fromPartial({}))).toBeUndefined();
});

test("a channel that is sent to the zero address has that owner", () => {
  const burnt = after([
    { type: REGISTER, at: 1, owner: address(1) },
    { type: TRANSFER, at: 2, owner: address(0) },
  ]);
  expect(burnt?.ownerAddress).toEqual(address(0));
});
