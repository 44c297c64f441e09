import { describe, expect, test } from "bun:test";
import { allMessages, messagesOf } from "../../../../src/db/index/messages/live-messages.ts";
import { Store, slotOf } from "../../../../src/protocol/message/merge-rules.ts";
import {
  decodeMessage,
  encodeMessage,
  type SignedMessage,
} from "../../../../src/protocol/message/signed-message.ts";
import { FarcasterNetwork } from "../../../../src/protocol/wire/generated/message.ts";
import { ANCHOR_SECS } from "../../../demo/records.ts";
import { mixedRecords } from "../../../support/mixed-records.ts";
import { accountRecords, startTestNode } from "../../../support/node.ts";
import { oddMessages } from "../../../support/odd-messages.ts";

const MAINNET = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;

function decoded(bytes: Uint8Array): SignedMessage {
  const message = decodeMessage(bytes);
  if (!message.ok) throw new Error(message.error.reason);
  return message.value;
}

const hex = (bytes: Uint8Array) => bytes.toHex();

describe("allMessages", () => {
  test("gives every stored message byte for byte, in the order of fid, store and slot", () => {
    using node = startTestNode({ nowSecs: ANCHOR_SECS });
    const accepted: Uint8Array[] = [];
    for (const record of mixedRecords({ fids: 5, perType: 20 }))
      if (node.ingest(record) === "ok" && record.kind === "message") accepted.push(record.bytes);
    const stored = allMessages(node.db, MAINNET).toArray();
    const places = stored.map(({ fid, store, slot }) => ({ fid, store, slot: hex(slot) }));
    expect(places).toEqual(
      places.toSorted((a, b) => a.fid - b.fid || a.store - b.store || (a.slot < b.slot ? -1 : 1)),
    );
    expect(accepted.length).toBeGreaterThan(50);
    const live = new Set(stored.map((message) => hex(message.encode())));
    // Messages that later ones replaced are missing; all others are here, and nothing else.
    const places2 = new Map(
      accepted.map((bytes) => [placeOf(decoded(bytes)), hex(encodeMessage(decoded(bytes)))]),
    );
    expect([...live].sort()).toEqual([...places2.values()].sort());
    for (const message of stored) {
      const whole = message.decode();
      expect(hex(encodeMessage(whole))).toBe(hex(message.encode()));
      expect(slotOf(whole)).toEqual({ store: message.store, slot: message.slot, kind: message.kind });
      expect(hex(message.hash)).toBe(hex(whole.hash));
      expect(message.timestamp).toBe(whole.data.timestamp);
    }
  });

  test("gives messages in odd encodings byte for byte", () => {
    using node = startTestNode();
    node.ingestAll(accountRecords(7, 10));
    const sent = oddMessages(7);
    expect(new Set(sent.map((bytes) => node.ingestMessage(bytes)))).toEqual(new Set(["ok"]));
    const live = allMessages(node.db, MAINNET).map((message) => hex(message.encode()));
    expect(live.toArray().sort()).toEqual(sent.map(hex).sort());
  });

  test("gives nothing for an fid without messages", () => {
    using node = startTestNode();
    expect(messagesOf(node.db, MAINNET, 1, Store.Casts).toArray()).toEqual([]);
    expect(allMessages(node.db, MAINNET).toArray()).toEqual([]);
  });
});

function placeOf(message: SignedMessage): string {
  const { store, slot } = slotOf(message);
  return `${message.data.fid} ${store} ${hex(slot)}`;
}
