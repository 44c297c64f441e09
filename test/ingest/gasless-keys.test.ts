import { describe, expect, test } from "bun:test";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { createImportSink } from "../../src/import/import-sink.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { appNonce, gaslessKeysOf, userNonce } from "../../src/ingest/merge/keys/gasless-key-store.ts";
import { decodeRecord, type EncodedRecord } from "../../src/ingest/record.ts";
import type { RelayedOp } from "../../src/ingest/relayed-op.ts";
import { toUnixSecs } from "../../src/protocol/time.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { keyOwner } from "../../src/read/queries/users/owners.ts";
import { ManualClock } from "../support/clock.ts";
import { signerEvent } from "../support/events.ts";
import { gaslessKeyMessage, gaslessKeyRemoval } from "../support/gasless-keys.ts";
import { historyVerifier } from "../support/history-verifier.ts";
import {
  DEFAULT_NOW_SECS,
  DEFAULT_TIMESTAMP,
  makeSigner,
  makeWallet,
  signedCast,
  type TestSigner,
} from "../support/messages.ts";
import { accountRecords, accountSigner, startTestNode, type TestNode } from "../support/node.ts";
import { expectOk } from "../support/result.ts";

const REFUSED = "bad_request.validation_failure";
const APP = 9;
const TTL_SECS = 3600;

function startNode(): TestNode {
  const node = startTestNode();
  for (const fid of [1, 2, APP]) node.ingestAll(accountRecords(fid));
  return node;
}

function add(fid: number, signer: TestSigner, nonce: number, at = DEFAULT_TIMESTAMP): Uint8Array {
  return gaslessKeyMessage({ fid, signer, requestFid: APP, ttlSecs: TTL_SECS, nonce, at });
}

function remove(fid: number, signer: TestSigner, nonce: number, by: "itself" | "custody"): Uint8Array {
  const remover = by === "itself" ? by : makeWallet(`custody ${fid}`);
  return gaslessKeyRemoval({ fid, signer, nonce, by: remover, at: DEFAULT_TIMESTAMP + nonce });
}

const [first, second, third] = ["first", "second", "third"].map(makeSigner) as [
  TestSigner,
  TestSigner,
  TestSigner,
];

function timesOf(node: TestNode, { publicKey }: TestSigner) {
  return node.db.sqlite
    .query<{ addedAt: number; lastUsedAt: number; nonce: number }, [Uint8Array]>(
      "SELECT added_at AS addedAt, last_used_at AS lastUsedAt, nonce FROM gasless_keys WHERE key = ?",
    )
    .get(publicKey);
}

describe("nonces", () => {
  test("accepts nonce 1 first and then only nonces above a user's last", () => {
    using node = startNode();
    expect(node.ingestMessage(add(1, first, 0))).toBe(REFUSED);
    expect(node.ingestMessage(add(1, first, 1))).toBe("ok");
    expect(node.ingestMessage(add(1, second, 1))).toBe(REFUSED);
    expect(node.ingestMessage(add(1, second, 7))).toBe("ok");
    expect(node.ingestMessage(remove(1, second, 7, "custody"))).toBe(REFUSED);
    expect(node.ingestMessage(remove(1, second, 8, "custody"))).toBe("ok");
    // Each user has nonces of their own.
    expect(node.ingestMessage(add(2, second, 1))).toBe("ok");
    expect([userNonce(node.db, 1), userNonce(node.db, 2), userNonce(node.db, APP)]).toEqual([8, 1, 0]);
  });

  test("counts removals by the keys themselves per requesting app, over all users", () => {
    using node = startNode();
    node.ingestMessage(add(1, first, 1));
    node.ingestMessage(add(1, second, 2));
    node.ingestMessage(add(2, third, 1));
    expect(node.ingestMessage(remove(1, first, 0, "itself"))).toBe(REFUSED);
    expect(node.ingestMessage(remove(1, first, 5, "itself"))).toBe("ok");
    expect(node.ingestMessage(remove(2, third, 5, "itself"))).toBe(REFUSED);
    expect(node.ingestMessage(remove(2, third, 6, "itself"))).toBe("ok");
    expect(appNonce(node.db, APP)).toBe(6);
    // The nonces of custody addresses are separate, also those of the app as a user.
    expect([userNonce(node.db, 1), userNonce(node.db, APP)]).toEqual([2, 0]);
    expect(node.ingestMessage(remove(1, second, 3, "custody"))).toBe("ok");
  });
});

describe("a key message that is submitted again unchanged", () => {
  const DUPLICATE = "bad_request.duplicate";

  test("is a duplicate while no later one changed the key, whatever the nonces are by then", () => {
    using node = startNode();
    const added = add(1, first, 1);
    const removed = remove(1, first, 3, "custody");
    expect(node.ingestMessage(added)).toBe("ok");
    expect(node.ingestMessage(added)).toBe(DUPLICATE);
    expect(node.ingestMessage(add(1, second, 2))).toBe("ok");
    expect(node.ingestMessage(added)).toBe(DUPLICATE);
    expect(node.ingestMessage(removed)).toBe("ok");
    expect(node.ingestMessage(removed)).toBe(DUPLICATE);
    expect(node.ingestMessage(added)).toBe(REFUSED);
    expect(node.ingestMessage(add(1, first, 4))).toBe("ok");
    expect(node.ingestMessage(removed)).toBe(REFUSED);
  });

  test("is a duplicate when the key removed itself", () => {
    using node = startNode();
    node.ingestMessage(add(1, first, 1));
    node.ingestMessage(add(2, second, 1));
    const removals = [remove(1, first, 5, "itself"), remove(2, second, 6, "itself")];
    for (const removal of removals) expect(node.ingestMessage(removal)).toBe("ok");
    for (const removal of removals) expect(node.ingestMessage(removal)).toBe(DUPLICATE);
    expect(appNonce(node.db, APP)).toBe(6);
  });
});

test.each(["itself", "custody"] as const)(
  "an on-chain key that has signed before is neither added nor removed by %s without a chain",
  (by) => {
    using node = startNode();
    const own = accountSigner(1);
    expect(node.ingestMessage(signedCast(1, "first", own))).toBe("ok");
    expect(node.ingestMessage(add(1, own, 1))).toBe(REFUSED);
    expect(node.ingestMessage(remove(1, own, 2, by))).toBe(REFUSED);
    expect([userNonce(node.db, 1), appNonce(node.db, APP)]).toEqual([0, 0]);
  },
);

describe("the limit of 1,000 keys an fid", () => {
  const message = (bytes: Uint8Array): EncodedRecord => ({ kind: "message", bytes });
  const relayed = (n: number): RelayedOp => ({
    kind: "key",
    key: {
      key: makeSigner(`relayed ${n}`).publicKey,
      fid: 1,
      requestFid: APP,
      scopes: [1],
      ttlSecs: TTL_SECS,
      addedAt: 1,
      lastUsedAt: 1,
      nonce: 0,
    },
    happenedAt: 0,
  });
  const relayedKeys = (count: number) => Array.from({ length: count }, (_, n) => relayed(n));

  test("counts keys of an upstream, also expired ones, and those that the same batch adds", () => {
    using node = startNode();
    node.relay(relayedKeys(998));
    const batch = [add(1, first, 1), add(1, second, 2), add(1, third, 3), add(2, third, 1)];
    expect(node.ingestAll(batch.map(message))).toEqual(["ok", "ok", REFUSED, "ok"]);
  });

  test("allows to add a key again, and another one after a removal", () => {
    using node = startNode();
    node.relay(relayedKeys(999));
    const batch = [add(1, first, 1), add(1, first, 2), remove(1, first, 3, "custody"), add(1, second, 4)];
    expect(node.ingestAll(batch.map(message))).toEqual(["ok", "ok", "ok", "ok"]);
    expect(node.ingestMessage(add(1, third, 5))).toBe(REFUSED);
  });

  test("does not bind an upstream, but keys above it make no room for further ones", () => {
    using node = startNode();
    node.relay(relayedKeys(1001));
    expect(gaslessKeysOf(node.db, 1)).toHaveLength(1001);
    const removed = makeSigner("relayed 0");
    expect(node.ingestMessage(remove(1, removed, 1, "custody"))).toBe("ok");
    expect(node.ingestMessage(add(1, first, 2))).toBe(REFUSED);
  });
});

test("a KEY_ADD conflicts with an on-chain key only while that key is active for the same fid", () => {
  using node = startNode();
  const onChain = (fid: number, block: number, kind: "add" | "remove" | "admin_reset") =>
    expect(node.ingestEvent(signerEvent(fid, first.publicKey, { block }, kind))).toBe("ok");
  onChain(2, 500_000, "add");
  expect(node.ingestMessage(add(1, first, 1))).toBe("ok");
  expect(node.ingestMessage(remove(1, first, 2, "custody"))).toBe("ok");
  onChain(1, 500_001, "add");
  expect(node.ingestMessage(add(1, first, 3))).toBe(REFUSED);
  onChain(1, 500_002, "admin_reset");
  expect(node.ingestMessage(add(1, first, 3))).toBe(REFUSED);
  onChain(1, 500_003, "remove");
  expect(node.ingestMessage(add(1, first, 3))).toBe("ok");
});

describe("the time to live", () => {
  test("starts at the time of the KEY_ADD and again at the time of a message, in steps of more than 300 s", () => {
    using node = startNode();
    const addedAt = DEFAULT_TIMESTAMP - 1000;
    expect(node.ingestMessage(add(1, first, 1, addedAt))).toBe("ok");
    const unix = toUnixSecs(addedAt);
    expect(timesOf(node, first)).toEqual({ addedAt: unix, lastUsedAt: unix, nonce: 1 });
    const use = (offsetSecs: number) => {
      const timestamp = addedAt + offsetSecs;
      expect(node.ingestMessage(signedCast(1, `at ${offsetSecs}`, first, { timestamp }))).toBe("ok");
      return (timesOf(node, first)?.lastUsedAt ?? 0) - unix;
    };
    expect([use(300), use(301), use(100), use(601), use(602)]).toEqual([0, 301, 301, 301, 602]);
    // A message with an earlier time changes nothing.
    node.clock.advanceSecs(1000);
    expect(use(50)).toBe(602);
  });

  test("ends after the last counted use, regardless of the message's time", () => {
    using node = startNode();
    expect(node.ingestMessage(add(1, first, 1))).toBe("ok");
    node.clock.advanceSecs(TTL_SECS + 1);
    const late = signedCast(1, "late", first, { timestamp: DEFAULT_TIMESTAMP + TTL_SECS + 1 });
    expect(node.ingestMessage(late)).toBe(REFUSED);
    // Adding it again restarts the time to live.
    expect(node.ingestMessage(add(1, first, 2, DEFAULT_TIMESTAMP + TTL_SECS))).toBe("ok");
    expect(node.ingestMessage(late)).toBe("ok");
  });
});

test("admits history as of its own time: a message of a key that has expired since is accepted", async () => {
  using node = startNode();
  const engine = createIngestEngine({
    db: node.db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: node.clock,
    onFault: (cause) => {
      throw cause;
    },
  });
  const verifier = historyVerifier(FarcasterNetwork.FARCASTER_NETWORK_MAINNET, node.clock);
  const sink = createImportSink({ db: node.db, engine, verifier, fileBytes: 0 });
  const addedAt = DEFAULT_TIMESTAMP - 100 * TTL_SECS;
  const castAt = (timestamp: number) => signedCast(1, `at ${timestamp}`, first, { timestamp });
  const records = [
    add(1, first, 1, addedAt),
    castAt(addedAt + TTL_SECS),
    castAt(addedAt + 2 * TTL_SECS),
    castAt(addedAt + 3 * TTL_SECS + 1),
  ].map((bytes, offset) => ({ record: { kind: "message" as const, bytes }, offset }));
  const validated = await sink.validate(records.map(({ record }) => record));
  const verdicts = await sink.apply({ records, validated }, []);
  expect(verdicts.map((one) => (one === "deferred" ? one : (one?.code ?? "ok")))).toEqual([
    "ok",
    "ok",
    "ok",
    REFUSED,
  ]);
  expect(node.ingestMessage(castAt(DEFAULT_TIMESTAMP))).toBe(REFUSED);
  // What is not history is admitted as of now, whatever time it names.
  const backDated = expectOk(decodeRecord({ kind: "message", bytes: castAt(addedAt + TTL_SECS + 1) }));
  expect(engine.apply([backDated])[0]?.code).toBe(REFUSED);
});

test("finds the owner of an on-chain and of a gasless key, the fid with the active key first", () => {
  using node = startNode();
  const owner = (afterSecs = 0) => keyOwner(node.db, first.publicKey, DEFAULT_NOW_SECS + afterSecs);
  expect(owner()).toBeUndefined();
  node.ingestMessage(add(1, first, 1));
  expect(owner()).toEqual({ fid: 1, isActive: true });
  expect(owner(TTL_SECS)).toEqual({ fid: 1, isActive: true });
  expect(owner(TTL_SECS + 1)).toEqual({ fid: 1, isActive: false });
  node.ingestEvent(signerEvent(2, first.publicKey, { block: 500_000 }));
  expect(owner()).toEqual({ fid: 2, isActive: true });
  node.ingestEvent(signerEvent(2, first.publicKey, { block: 500_001 }, "remove"));
  expect(owner()).toEqual({ fid: 1, isActive: true });
  expect(owner(TTL_SECS + 1)).toEqual({ fid: 2, isActive: false });
  node.ingestMessage(remove(1, first, 2, "custody"));
  expect(owner()).toEqual({ fid: 2, isActive: false });
});

describe("a node that follows an upstream", () => {
  function startFollowing() {
    const db = openIndexInMemory();
    const engine = createIngestEngine({
      db,
      network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
      clock: new ManualClock(DEFAULT_NOW_SECS),
      onFault: (cause) => {
        throw cause;
      },
    });
    return {
      db,
      relay: (...ops: RelayedOp[]) => engine.applyRelayed({ ops, positions: [] }),
      nonces: () => ({ user: userNonce(db, 1), app: appNonce(db, APP) }),
      [Symbol.dispose]: () => db[Symbol.dispose](),
    };
  }
  const at = { happenedAt: 0 } as const;
  const key = (signer: TestSigner, nonce: number): RelayedOp => ({
    ...at,
    kind: "key",
    key: {
      key: signer.publicKey,
      fid: 1,
      requestFid: APP,
      scopes: [1],
      ttlSecs: 60,
      addedAt: 1,
      lastUsedAt: 1,
      nonce,
    },
  });
  const dropKey = (signer: TestSigner, by: "itself" | "custody", nonce: number): RelayedOp => ({
    ...at,
    kind: "removeKey",
    fid: 1,
    key: signer.publicKey,
    removal: { by, nonce },
  });

  test("stores the nonces of relayed keys and the nonces that the upstream reports", () => {
    using index = startFollowing();
    index.relay(key(first, 3), key(second, 4));
    expect(index.nonces()).toEqual({ user: 4, app: 0 });
    index.relay(dropKey(first, "itself", 7));
    expect(index.nonces()).toEqual({ user: 4, app: 7 });
    index.relay(dropKey(second, "custody", 5));
    expect(index.nonces()).toEqual({ user: 5, app: 7 });
    const nonces = { fid: 1, userNonce: 8, apps: [{ requestFid: APP, nonce: 9 }] };
    index.relay({ ...at, kind: "keyNonces", nonces });
    expect(index.nonces()).toEqual({ user: 8, app: 9 });
  });

  test("never lowers a nonce when an operation is relayed again", () => {
    using index = startFollowing();
    const ops = [key(first, 3), dropKey(first, "itself", 7), key(first, 5), dropKey(first, "custody", 6)];
    index.relay(...ops);
    index.relay(...ops);
    expect(index.nonces()).toEqual({ user: 6, app: 7 });
  });
});
