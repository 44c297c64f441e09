import { expect, test } from "bun:test";
import { presenceOf } from "../../src/ingest/merge/presence.ts";
import { decodeMessage } from "../../src/protocol/message/signed-message.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { activateChannels, ownsWallet, pins, registers, walletOf } from "../support/channel-records.ts";
import { gaslessKeyMessage, gaslessKeyRemoval } from "../support/gasless-keys.ts";
import { DEFAULT_TIMESTAMP, makeSigner, makeWallet } from "../support/messages.ts";
import { accountRecords, startTestNode, type TestNode } from "../support/node.ts";
import { cast, uncast } from "../support/records.ts";
import { expectOk } from "../support/result.ts";

const APP = 9;
const [first, second] = [makeSigner("first"), makeSigner("second")];

function startNode(): TestNode {
  const node = startTestNode();
  for (const fid of [1, APP]) node.ingestAll(accountRecords(fid));
  return node;
}

const presence = (node: TestNode, bytes: Uint8Array) =>
  presenceOf(node.db, FarcasterNetwork.FARCASTER_NETWORK_MAINNET, expectOk(decodeMessage(bytes)));

const add = (signer: typeof first, nonce: number) =>
  gaslessKeyMessage({ fid: 1, signer, requestFid: APP, ttlSecs: 3600, nonce, at: DEFAULT_TIMESTAMP });
const remove = (signer: typeof first, nonce: number) =>
  gaslessKeyRemoval({ fid: 1, signer, nonce, by: makeWallet("custody 1"), at: DEFAULT_TIMESTAMP + nonce });

test("a message is merged, superseded by the one in its slot, or absent", () => {
  using node = startNode();
  const [kept, removed] = [cast(1, "kept"), cast(1, "removed")];
  expect(presence(node, kept.bytes)).toBe("absent");
  node.ingestAll([kept, removed]);
  const removal = uncast(1, removed);
  expect(presence(node, removal.bytes)).toBe("absent");
  node.ingestAll([removal]);
  expect([kept, removed, removal].map(({ bytes }) => presence(node, bytes))).toEqual([
    "merged",
    "superseded",
    "merged",
  ]);
});

test("the addition of a gasless key is merged by its nonce, and superseded by a later addition of the key", () => {
  using node = startNode();
  expect(presence(node, add(first, 1))).toBe("absent");
  expect(node.ingestMessage(add(first, 1))).toBe("ok");
  expect([presence(node, add(first, 1)), presence(node, add(first, 2))]).toEqual(["merged", "absent"]);
  expect(presence(node, add(second, 1))).toBe("absent");
  expect(node.ingestMessage(add(first, 2))).toBe("ok");
  expect([presence(node, add(first, 1)), presence(node, add(first, 2))]).toEqual(["superseded", "merged"]);
});

test("the removal of a gasless key is merged once the key is missing", () => {
  using node = startNode();
  expect(node.ingestMessage(add(first, 1))).toBe("ok");
  expect(presence(node, remove(first, 2))).toBe("absent");
  expect(node.ingestMessage(remove(first, 2))).toBe("ok");
  expect(presence(node, remove(first, 2))).toBe("merged");
  expect(node.ingestMessage(add(first, 3))).toBe("ok");
  expect(presence(node, remove(first, 4))).toBe("absent");
  // The node has never had it: it follows from after the removal.
  expect(presence(node, remove(second, 1))).toBe("merged");
});

test("a message of a channel that lost its slot was merged, and one that never arrived is absent", () => {
  using node = startNode();
  activateChannels(node.db);
  node.ingestAll([ownsWallet(1), registers("books", walletOf(1))]);
  const [first, second, never] = [1, 2, 3].map((byte) => pins(1, "books", new Uint8Array(20).fill(byte)));
  if (!first || !second || !never) throw new Error("three pins");
  const all = () => [first, second, never].map(({ bytes }) => presence(node, bytes));
  node.ingestAll([first]);
  expect(all()).toEqual(["merged", "absent", "absent"]);
  node.ingestAll([second]);
  expect(all()).toEqual(["superseded", "merged", "absent"]);
});

test("a node that has a gasless key without the message that added it knows the message by its nonce", () => {
  using node = startNode();
  const key = { key: first.publicKey, fid: 1, requestFid: APP, scopes: [], ttlSecs: 3600, nonce: 2 };
  node.relay([{ kind: "key", key: { ...key, addedAt: 1, lastUsedAt: 1 }, happenedAt: 0 }]);
  expect([1, 2, 3].map((nonce) => presence(node, add(first, nonce)))).toEqual([
    "superseded",
    "merged",
    "absent",
  ]);
});
