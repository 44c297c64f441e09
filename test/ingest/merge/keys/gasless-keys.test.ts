import { describe, expect, test } from "bun:test";
import {
  appNonce,
  deleteAppNonce,
  deleteUserNonce,
  raiseNonces,
  requestersWithNonce,
  userNonce,
} from "../../../../src/ingest/merge/keys/gasless-key-store.ts";
import { toUnixSecs } from "../../../../src/protocol/time.ts";
import { signerEvent, transferEvent } from "../../../support/events.ts";
import { gaslessKeyMessage, gaslessKeyRemoval } from "../../../support/gasless-keys.ts";
import {
  DEFAULT_TIMESTAMP,
  makeSigner,
  makeWallet,
  signedCast,
  type TestWallet,
} from "../../../support/messages.ts";
import { accountRecords, startTestNode, type TestNode } from "../../../support/node.ts";

const REFUSED = "bad_request.validation_failure";
const [APP, OTHER_APP] = [9, 10];
const TTL_SECS = 3600;
const KEY = makeSigner("first");

function startNode(): TestNode {
  const node = startTestNode();
  for (const fid of [1, 2, APP, OTHER_APP]) node.ingestAll(accountRecords(fid));
  return node;
}

interface Options {
  readonly fid?: number;
  readonly app?: number;
  readonly at?: number;
  readonly custody?: TestWallet;
  readonly scopes?: readonly number[];
}

const add = (nonce: number, { fid = 1, app = APP, at = DEFAULT_TIMESTAMP, ...options }: Options = {}) =>
  gaslessKeyMessage({ fid, signer: KEY, requestFid: app, ttlSecs: TTL_SECS, nonce, at, ...options });
const remove = (nonce: number, by: "itself" | TestWallet, fid = 1) =>
  gaslessKeyRemoval({ fid, signer: KEY, nonce, by, at: DEFAULT_TIMESTAMP + nonce });
const castOf = (fid: number, timestamp = DEFAULT_TIMESTAMP) =>
  signedCast(fid, `at ${timestamp}`, KEY, { timestamp });
const lastUseOf = ({ db }: TestNode) =>
  db.sqlite.query<{ at: number }, []>("SELECT last_used_at AS at FROM gasless_keys").get()?.at;
const transfers = (fid: number, to: string, block: number) =>
  transferEvent(fid, makeWallet(`custody ${fid}`).address, makeWallet(to).address, { block });

test("the nonces of a user and of an app are forgotten each by itself", () => {
  using node = startNode();
  const { db } = node;
  const nonces = () => [userNonce(db, 1), appNonce(db, APP), requestersWithNonce(db)];
  raiseNonces(db, { fid: 1, userNonce: 5, apps: [{ requestFid: APP, nonce: 3 }] });
  raiseNonces(db, { fid: 1, userNonce: 4, apps: [{ requestFid: APP, nonce: 2 }] });
  expect(nonces()).toEqual([5, 3, [APP]]);
  deleteUserNonce(db, 1);
  expect(nonces()).toEqual([0, 3, [APP]]);
  deleteAppNonce(db, APP);
  expect(nonces()).toEqual([0, 0, []]);
});

describe("a gasless key", () => {
  test("signs for its fid only, and only messages of its scopes", () => {
    using node = startNode();
    expect(node.ingestMessage(castOf(1))).toBe(REFUSED);
    expect(node.ingestMessage(add(1))).toBe("ok");
    expect(node.ingestMessage(castOf(1))).toBe("ok");
    expect(node.ingestMessage(castOf(2))).toBe(REFUSED);
    expect(node.ingestMessage(add(2, { at: DEFAULT_TIMESTAMP + 1, scopes: [5] }))).toBe("ok");
    expect(node.ingestMessage(castOf(1, DEFAULT_TIMESTAMP + 2))).toBe(REFUSED);
  });

  test("signs until its time to live is over, that second included", () => {
    using node = startNode();
    node.ingestMessage(add(1));
    node.clock.advanceSecs(TTL_SECS);
    // The time of the message does not renew the key in advance.
    expect(node.ingestMessage(castOf(1, DEFAULT_TIMESTAMP + 200))).toBe("ok");
    node.clock.advanceSecs(1);
    expect(node.ingestMessage(castOf(1, DEFAULT_TIMESTAMP + 201))).toBe(REFUSED);
  });

  test("that is added again begins a new life: its earlier uses no longer count", () => {
    using node = startNode();
    node.ingestMessage(add(1, { at: DEFAULT_TIMESTAMP - 2000 }));
    expect(node.ingestMessage(castOf(1))).toBe("ok");
    expect(lastUseOf(node)).toBe(toUnixSecs(DEFAULT_TIMESTAMP));
    expect(node.ingestMessage(add(2, { at: DEFAULT_TIMESTAMP - 1000 }))).toBe("ok");
    expect(lastUseOf(node)).toBe(toUnixSecs(DEFAULT_TIMESTAMP - 1000));
  });

  test("that has signed as an on-chain key of another fid before is renewed by its messages", () => {
    using node = startNode();
    node.ingestEvent(signerEvent(2, KEY.publicKey, { block: 500_000 }));
    expect(node.ingestMessage(castOf(2))).toBe("ok");
    expect(node.ingestMessage(add(1, { at: DEFAULT_TIMESTAMP - 1000 }))).toBe("ok");
    expect(node.ingestMessage(castOf(1))).toBe("ok");
    expect(lastUseOf(node)).toBe(toUnixSecs(DEFAULT_TIMESTAMP));
  });

  test("belongs to one fid and app while it is there", () => {
    using node = startNode();
    expect(node.ingestMessage(add(1))).toBe("ok");
    expect(node.ingestMessage(add(1, { fid: 2 }))).toBe(REFUSED);
    expect(node.ingestMessage(add(2, { app: OTHER_APP }))).toBe(REFUSED);
    expect(node.ingestMessage(add(2))).toBe("ok");
    expect(node.ingestMessage(remove(3, makeWallet("custody 1")))).toBe("ok");
    // The nonce of its app is another one.
    expect(appNonce(node.db, APP)).toBe(0);
    expect(node.ingestMessage(add(4, { app: OTHER_APP }))).toBe("ok");
  });

  test("is removed by the fid that has it only", () => {
    using node = startNode();
    node.ingestMessage(add(1));
    expect(node.ingestMessage(remove(9, makeWallet("custody 2"), 2))).toBe(REFUSED);
    expect(node.ingestMessage(remove(9, "itself", 2))).toBe(REFUSED);
    expect([node.ingestMessage(castOf(1)), appNonce(node.db, APP)]).toEqual(["ok", 0]);
  });
});

test("the custody address of a fid decides on its keys from its transfer on, and a key still removes itself", () => {
  using node = startNode();
  node.ingestMessage(add(1));
  expect(node.ingestEvent(transfers(1, "new custody", 600_000))).toBe("ok");
  const former = makeWallet("custody 1");
  expect(node.ingestMessage(add(2))).toBe(REFUSED);
  expect(node.ingestMessage(remove(2, former))).toBe(REFUSED);
  expect(node.ingestMessage(add(2, { custody: makeWallet("new custody") }))).toBe("ok");
  expect(node.ingestMessage(remove(3, "itself"))).toBe("ok");
});

test("an app requests keys by its present custody address", () => {
  using node = startNode();
  expect(node.ingestEvent(transfers(APP, "bought", 600_000))).toBe("ok");
  expect(node.ingestMessage(add(1))).toBe(REFUSED);
  expect(node.ingestMessage(add(1, { app: OTHER_APP }))).toBe("ok");
  expect(node.ingestMessage(add(2, { app: 77, fid: 2 }))).toBe(REFUSED);
});

test("a relayed removal of a key by itself counts for its app only if the key is of that fid", () => {
  using node = startNode();
  node.ingestMessage(add(1));
  const removal = { by: "itself", nonce: 7 } as const;
  const op = { kind: "removeKey", key: KEY.publicKey, removal, happenedAt: 0 } as const;
  node.relay([{ ...op, fid: 2 }]);
  expect([appNonce(node.db, APP), node.ingestMessage(castOf(1))]).toEqual([0, "ok"]);
  node.relay([{ ...op, fid: 1 }]);
  expect([appNonce(node.db, APP), node.ingestMessage(castOf(1, DEFAULT_TIMESTAMP + 1))]).toEqual([
    7,
    REFUSED,
  ]);
});

test("a message renews a key that was relayed after the same key had signed for another fid", () => {
  using node = startNode();
  node.ingestEvent(signerEvent(2, KEY.publicKey, { block: 500_000 }));
  expect(node.ingestMessage(castOf(2))).toBe("ok");
  const key = { key: KEY.publicKey, fid: 1, requestFid: APP, scopes: [1], ttlSecs: TTL_SECS, nonce: 1 };
  const addedAt = toUnixSecs(DEFAULT_TIMESTAMP - 1000);
  node.relay([{ kind: "key", key: { ...key, addedAt, lastUsedAt: addedAt }, happenedAt: 0 }]);
  node.relay([{ kind: "merge", message: castOf(1), deleted: [], happenedAt: 0 }]);
  expect(lastUseOf(node)).toBe(toUnixSecs(DEFAULT_TIMESTAMP));
});
