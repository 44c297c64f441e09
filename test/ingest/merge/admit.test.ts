import { describe, expect, test } from "bun:test";
import { createIngestEngine } from "../../../src/ingest/engine.ts";
import { decodeRecord } from "../../../src/ingest/record.ts";
import { toFarcasterSecs } from "../../../src/protocol/time.ts";
import {
  FarcasterNetwork,
  MessageType,
  StorageUnitType,
  UserDataType,
} from "../../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../../src/protocol/wire/generated/on-chain.ts";
import { nowSecs } from "../../../src/runtime/clock.ts";
import { rentEvent, signerEvent } from "../../support/events.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, makeSigner, signedCast } from "../../support/messages.ts";
import { accountRecords, accountSigner, startTestNode, type TestNode } from "../../support/node.ts";
import { cast, signed, unverify, userData, verify, WALLET } from "../../support/records.ts";
import { expectOk } from "../../support/result.ts";

const REFUSED = "bad_request.validation_failure";
const { UNIT_TYPE_2024, UNIT_TYPE_2025 } = StorageUnitType;
const PRIMARY = UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM;
const YEAR_SECS = 365 * 86_400;

describe("a lend", () => {
  const LENDER = 1;
  let sent = 0;
  const lends = (node: TestNode, toFid: number, numUnits: number, unitType = UNIT_TYPE_2025) => {
    sent += 1;
    const at = toFarcasterSecs(nowSecs(node.clock)) - 100 + sent;
    const value = { toFid, numUnits, unitType };
    const body = { $case: "lendStorageBody", value } as const;
    return node.ingest(signed(LENDER, { type: MessageType.MESSAGE_TYPE_LEND_STORAGE, body }, at));
  };
  function startNode(units: number): TestNode {
    const node = startTestNode();
    node.ingestAll([...accountRecords(LENDER, units), ...accountRecords(2), ...accountRecords(3)]);
    return node;
  }

  test("leaves its lender one of at least 1,000 units, all lends of the type together", () => {
    using node = startNode(1000);
    expect([lends(node, 2, 1000), lends(node, 2, 999), lends(node, 3, 1)]).toEqual([REFUSED, "ok", REFUSED]);
    // It replaces the one before it.
    expect([lends(node, 2, 998), lends(node, 3, 1), lends(node, 3, 2)]).toEqual(["ok", "ok", REFUSED]);
    using poorer = startNode(999);
    expect(lends(poorer, 2, 1)).toBe(REFUSED);
  });

  test("counts units of its own type only", () => {
    using node = startNode(1000);
    expect(lends(node, 2, 1, UNIT_TYPE_2024)).toBe(REFUSED);
    node.ingestEvent(rentEvent(LENDER, 1000, { block: 900_000, at: 1_730_000_000 }));
    expect(lends(node, 2, 999, UNIT_TYPE_2024)).toBe("ok");
    expect(lends(node, 3, 999)).toBe("ok");
  });

  test("of 0 units ends one whatever the lender still has", () => {
    using node = startNode(1000);
    expect(lends(node, 2, 5)).toBe("ok");
    node.clock.advanceSecs(2 * YEAR_SECS);
    expect([lends(node, 3, 1), lends(node, 2, 0)]).toEqual([REFUSED, "ok"]);
    expect(node.db.sqlite.query("SELECT * FROM storage_lends").all()).toEqual([]);
  });

  test("of another network may be of all that the lender has", () => {
    using node = startNode(3);
    const engine = createIngestEngine({
      db: node.db,
      network: FarcasterNetwork.FARCASTER_NETWORK_DEVNET,
      clock: node.clock,
      onFault: (cause) => {
        throw cause;
      },
    });
    const lend = (numUnits: number) => {
      const body = {
        $case: "lendStorageBody",
        value: { toFid: 2, numUnits, unitType: UNIT_TYPE_2025 },
      } as const;
      const record = signed(LENDER, { type: MessageType.MESSAGE_TYPE_LEND_STORAGE, body });
      return engine.apply([expectOk(decodeRecord(record))])[0]?.code ?? "ok";
    };
    expect([lend(4), lend(3)]).toEqual([REFUSED, "ok"]);
  });
});

describe("an on-chain key", () => {
  const key = makeSigner("second");
  const castAt = (n: number, fid = 1) => signedCast(fid, `${n}`, key, { timestamp: DEFAULT_TIMESTAMP + n });

  test("that has signed before signs no more once its removal is merged, and again after it is added again", () => {
    using node = startTestNode();
    node.ingestAll([...accountRecords(1), ...accountRecords(2)]);
    expect(node.ingestMessage(castAt(0))).toBe(REFUSED);
    node.ingestEvent(signerEvent(1, key.publicKey, { block: 300_000 }));
    expect([node.ingestMessage(castAt(1)), node.ingestMessage(castAt(1, 2))]).toEqual(["ok", REFUSED]);
    node.ingestEvent(signerEvent(1, key.publicKey, { block: 300_001 }, "remove"));
    expect(node.ingestMessage(castAt(2))).toBe(REFUSED);
    node.ingestEvent(signerEvent(1, key.publicKey, { block: 300_002 }));
    expect(node.ingestMessage(castAt(3))).toBe("ok");
  });

  test("signs no more once the upstream has taken its event back", () => {
    using node = startTestNode();
    node.ingestAll(accountRecords(1));
    const event = signerEvent(1, key.publicKey, { block: 300_000 });
    node.ingestEvent(event);
    expect(node.ingestMessage(castAt(1))).toBe("ok");
    node.relay([{ kind: "removeOnChainEvent", ref: event, happenedAt: 0 }]);
    expect(node.ingestMessage(castAt(2))).toBe(REFUSED);
  });

  test("of an fid signs only once the fid is registered", () => {
    using node = startTestNode();
    const [register, ...others] = accountRecords(1);
    if (!register) throw new Error("an account has a registration");
    node.ingestAll(others);
    node.ingestEvent(signerEvent(1, key.publicKey, { block: 300_000 }));
    expect(node.ingestMessage(castAt(1))).toBe(REFUSED);
    node.ingestAll([register]);
    expect(node.ingestMessage(castAt(1))).toBe("ok");
  });

  test("of another type than Ed25519 does not sign", () => {
    using node = startTestNode();
    node.ingestAll(accountRecords(1));
    const event = signerEvent(1, key.publicKey, { block: 300_000 });
    if (event.body?.$case !== "signerEventBody") throw new Error("an event of a key");
    event.body.value.keyType = 2;
    node.relay([
      { kind: "onChainEvent", event: OnChainEvent.encode(event).finish(), happenedAt: DEFAULT_NOW_SECS },
    ]);
    expect(node.ingestMessage(castAt(1))).toBe(REFUSED);
  });

  test("that was only reset, and never added, does not sign", () => {
    using node = startTestNode();
    node.ingestAll(accountRecords(1));
    node.ingestEvent(signerEvent(1, key.publicKey, { block: 300_000 }, "admin_reset"));
    expect(node.ingestMessage(castAt(1))).toBe(REFUSED);
  });
});

test("a primary address is that of a live verification of the same fid", () => {
  using node = startTestNode();
  node.ingestAll([...accountRecords(1), ...accountRecords(2)]);
  const primary = (fid: number, at: number) => node.ingest(userData(fid, PRIMARY, WALLET, at));
  expect(primary(1, DEFAULT_TIMESTAMP)).toBe(REFUSED);
  node.merge([verify(1)]);
  expect([primary(1, DEFAULT_TIMESTAMP), primary(2, DEFAULT_TIMESTAMP)]).toEqual(["ok", REFUSED]);
  node.merge([unverify(1, DEFAULT_TIMESTAMP + 1)]);
  expect(primary(1, DEFAULT_TIMESTAMP + 2)).toBe(REFUSED);
});

test("a primary address ends with its own verification, not with that of another address", () => {
  using node = startTestNode();
  node.ingestAll(accountRecords(1));
  const address = Buffer.alloc(20, 7);
  const other = (at: number, isRemoval: boolean) =>
    signed(
      1,
      isRemoval
        ? {
            type: MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE,
            body: { $case: "verificationRemoveBody", value: { address } },
          }
        : {
            type: MessageType.MESSAGE_TYPE_VERIFICATION_ADD,
            body: { $case: "verificationAddBody", value: { address, claimSignature: Buffer.alloc(65, 1) } },
          },
      at,
    );
  const primary = () =>
    node.db.sqlite.query("SELECT value FROM user_data WHERE type = ?").values(PRIMARY).flat();
  node.merge([verify(1), other(DEFAULT_TIMESTAMP, false), userData(1, PRIMARY, WALLET)]);
  node.merge([other(DEFAULT_TIMESTAMP + 1, true)]);
  expect(primary()).toEqual([WALLET]);
  node.merge([unverify(1, DEFAULT_TIMESTAMP + 1)]);
  expect(primary()).toEqual([]);
});

test("storage grows with a rent and shrinks with one that the upstream has taken back", () => {
  using node = startTestNode();
  node.ingestAll(accountRecords(1));
  let n = 0;
  const count = () => node.db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM casts").get()?.n;
  const castMore = (times: number) => {
    const casts = Array.from({ length: times }, () => cast(1, `${++n}`, DEFAULT_TIMESTAMP - 1000 + n));
    node.merge(casts);
    return count();
  };
  expect(castMore(101)).toBe(100);
  const rent = rentEvent(1, 1, { block: 900_000 });
  expect(node.ingestEvent(rent)).toBe("ok");
  expect(castMore(50)).toBe(150);
  node.relay([{ kind: "removeOnChainEvent", ref: rent, happenedAt: 0 }]);
  expect(castMore(1)).toBe(100);
  // Another key's own event changes nothing of it.
  expect(node.ingestEvent(signerEvent(1, accountSigner(5).publicKey, { block: 900_001 }))).toBe("ok");
  expect(castMore(1)).toBe(100);
});
