import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Message as CoreMessage, validations } from "@farcaster/core";
import { indexPath } from "../../src/db/index/database.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { EARLIEST_ANCHOR_SECS } from "../../src/demo/roster.ts";
import { Store } from "../../src/protocol/message/merge-rules.ts";
import { storageLimits } from "../../src/protocol/storage.ts";
import { Message, MessageType } from "../../src/protocol/wire/generated/message.ts";
import { HydrationCache } from "../../src/read/hydrate/cache.ts";
import { hydrate } from "../../src/read/hydrate/hydrate.ts";
import { presentUser } from "../../src/read/present/native/user.ts";
import { nowSecs } from "../../src/runtime/clock.ts";
import { startTestNode, type TestNode } from "../support/node.ts";
import { ANCHOR_SECS, encodedRecord, readNetwork } from "./records.ts";

const COMMON_TYPES = new Set([
  MessageType.MESSAGE_TYPE_CAST_ADD,
  MessageType.MESSAGE_TYPE_REACTION_ADD,
  MessageType.MESSAGE_TYPE_LINK_ADD,
  MessageType.MESSAGE_TYPE_USER_DATA_ADD,
]);
const network = readNetwork();

function nodeWithDemo(anchorUnixSecs: number): TestNode {
  const node = startTestNode({ nowSecs: anchorUnixSecs });
  const records = anchorUnixSecs === ANCHOR_SECS ? network.records : readNetwork(anchorUnixSecs).records;
  const verdicts = node.ingestAll(records.map(encodedRecord));
  expect(verdicts.filter((verdict) => verdict !== "ok")).toEqual([]);
  return node;
}

function usersOf(node: TestNode) {
  const fids = Array.from({ length: 200 }, (_, index) => index + 1);
  const hydration = hydrate(node.db, { fids }, nowSecs(node.clock), new HydrationCache());
  return fids.map((fid) => presentUser(fid, hydration));
}

describe("demo network acceptance", () => {
  let node: TestNode;
  beforeAll(() => {
    node = nodeWithDemo(ANCHOR_SECS);
  });
  afterAll(() => node[Symbol.dispose]());

  test("the protocol's library accepts every rare message and each tenth of the others", async () => {
    const sample = network.messages.filter(
      ({ data }, index) => index % 10 === 0 || !COMMON_TYPES.has(data.type),
    );
    expect(sample.length).toBeGreaterThan(900);
    for (const { wire, data } of sample) {
      const result = await validations.validateMessage(CoreMessage.decode(Message.encode(wire).finish()));
      if (result.isErr())
        throw new Error(`${MessageType[data.type]} of ${data.fid}: ${result.error.message}`);
    }
  });

  test("this node accepts every record, with exact counts and nothing pruned", () => {
    expect(verifyIndex(indexPath(node.dir))).toEqual([]);
    const { casts } =
      node.db.sqlite.query<{ casts: number }, []>("SELECT count(*) AS casts FROM casts").get() ?? {};
    const count = (type: MessageType) => network.messages.filter(({ data }) => data.type === type).length;
    const { MESSAGE_TYPE_CAST_ADD, MESSAGE_TYPE_CAST_REMOVE } = MessageType;
    expect(casts).toBe(count(MESSAGE_TYPE_CAST_ADD) - count(MESSAGE_TYPE_CAST_REMOVE));
  });

  test("every anchor produces the same User objects", () => {
    using early = nodeWithDemo(EARLIEST_ANCHOR_SECS);
    const users = usersOf(node);
    expect(users.filter((user) => user === undefined)).toEqual([]);
    expect(usersOf(early)).toEqual(users);
    expect(users.filter((user) => user?.pro?.status === "subscribed").length).toBeGreaterThan(3);
    expect(users.filter((user) => user?.username.startsWith("!")).length).toBeWithin(2, 4);
    expect(users.filter((user) => user?.username.endsWith(".eth")).length).toBe(3);
  });

  test("the recent rents suffice, so that nothing is pruned when older ones expire", () => {
    const used = new Map<string, number>();
    const storeOf = new Map([
      [MessageType.MESSAGE_TYPE_CAST_ADD, Store.Casts],
      [MessageType.MESSAGE_TYPE_CAST_REMOVE, Store.Casts],
      [MessageType.MESSAGE_TYPE_REACTION_ADD, Store.Reactions],
      [MessageType.MESSAGE_TYPE_REACTION_REMOVE, Store.Reactions],
      [MessageType.MESSAGE_TYPE_LINK_ADD, Store.Links],
      [MessageType.MESSAGE_TYPE_LINK_REMOVE, Store.Links],
      [MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE, Store.Links],
      [MessageType.MESSAGE_TYPE_USER_DATA_ADD, Store.UserData],
      [MessageType.MESSAGE_TYPE_VERIFICATION_ADD, Store.Verifications],
      [MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE, Store.Verifications],
      [MessageType.MESSAGE_TYPE_USERNAME_PROOF, Store.UsernameProofs],
    ]);
    for (const { data } of network.messages) {
      const key = `${data.fid} ${storeOf.get(data.type)}`;
      used.set(key, (used.get(key) ?? 0) + 1);
    }
    const recent = network.events.flatMap(({ fid, blockTimestamp, body }) =>
      body?.$case === "storageRentEventBody" && blockTimestamp > ANCHOR_SECS - 60 * 86_400
        ? [{ fid, rent: { units: body.value.units, rentedAt: blockTimestamp } }]
        : [],
    );
    expect(recent.length).toBe(200);
    for (const { fid, rent } of recent) {
      const { limits } = storageLimits({ rents: [rent], lent: [], borrowed: [] }, ANCHOR_SECS);
      for (const store of new Set(storeOf.values())) {
        expect(used.get(`${fid} ${store}`) ?? 0).toBeLessThanOrEqual(limits.get(store) ?? 0);
      }
    }
  });
});
