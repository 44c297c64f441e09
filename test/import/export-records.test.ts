import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readTotals } from "../../src/db/index/counts/totals.ts";
import { beginDemo } from "../../src/demo/network.ts";
import { exportedRecords } from "../../src/import/export-records.ts";
import { readRecords } from "../../src/import/record-file.ts";
import { writeNewRecords } from "../../src/import/write-records.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { FarcasterNetwork, MessageType, StorageUnitType } from "../../src/protocol/wire/generated/message.ts";
import { ANCHOR_SECS, demoChannelRecords, demoRecords } from "../demo/records.ts";
import { dumpIndex } from "../support/dump.ts";
import { gaslessKeyMessage } from "../support/gasless-keys.ts";
import {
  DEFAULT_NOW_SECS,
  makeSigner,
  signedCast,
  signMessage,
  type TestSigner,
} from "../support/messages.ts";
import { accountRecords, accountSigner, startTestNode, type TestNode } from "../support/node.ts";
import { tempDir } from "../support/program.ts";

const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const NOW = toFarcasterSecs(DEFAULT_NOW_SECS);

const message = (bytes: Uint8Array): EncodedRecord => ({ kind: "message", bytes });

/** Fid 3 lends to fid 2. */
function lend(): EncodedRecord {
  const value = { toFid: 2, numUnits: 300, unitType: StorageUnitType.UNIT_TYPE_2025 };
  const type = MessageType.MESSAGE_TYPE_LEND_STORAGE;
  const data = { fid: 3, type, timestamp: NOW, body: { $case: "lendStorageBody" as const, value } };
  return message(signMessage(data, accountSigner(3)));
}

/** Writes what a node holds to a file, and returns the outcomes of the records of that file on another one. */
async function movedTo(target: TestNode, source: TestNode, fids?: readonly number[]) {
  using dir = tempDir();
  const path = `${dir.path}/export`;
  await writeNewRecords(path, exportedRecords({ db: source.db, network }, fids));
  const records: EncodedRecord[] = [];
  for await (const step of readRecords(path)) {
    if (step.kind === "end") expect(step.outcome).toBe("complete");
    else if (step.content.ok) records.push(step.content.value);
  }
  return target.ingestAll(records).filter((outcome) => outcome !== "ok");
}

/** What tables of channels have in a form that is equal on both nodes. */
const slotsOf = ({ db }: TestNode) =>
  db.sqlite
    .query(
      "SELECT channel_id, kind, target, target_fid, state, author_fid, timestamp, message FROM channel_slots",
    )
    .values()
    .map((row) => Bun.inspect(row))
    .sort();

describe("exportedRecords", () => {
  test("an import of the export of a network has every row of its index, and refuses no record", async () => {
    using source = startTestNode({ nowSecs: ANCHOR_SECS });
    using target = startTestNode({ nowSecs: ANCHOR_SECS });
    source.ingestAll(demoRecords());
    expect(await movedTo(target, source)).toEqual([]);
    expect(dumpIndex(target.db)).toBe(dumpIndex(source.db));
  }, 60_000);

  test("channels get what their present owners decided; what a previous owner decided is refused", async () => {
    using source = startTestNode({ nowSecs: ANCHOR_SECS });
    using target = startTestNode({ nowSecs: ANCHOR_SECS });
    for (const { db } of [source, target]) beginDemo(db);
    source.ingestAll([...demoRecords(), ...demoChannelRecords()]);
    const refused = await movedTo(target, source);
    const [before, after] = [slotsOf(source), slotsOf(target)];
    // One channel of the demo has lost its owner.
    expect(refused.length).toBe(4);
    expect(before.length - after.length).toBe(refused.length);
    expect(after.filter((row) => !before.includes(row))).toEqual([]);
  }, 60_000);

  test("keys without a chain come before what they signed, and lent storage before what needs it", async () => {
    using source = startTestNode();
    using target = startTestNode();
    const keys = Array.from({ length: 6 }, (_, nth) => makeSigner(`gasless ${nth}`));
    const add = (signer: TestSigner, nth: number) =>
      gaslessKeyMessage({ fid: 2, signer, requestFid: 3, ttlSecs: 3600, nonce: nth + 1 });
    const outcomes = source.ingestAll([
      ...[3, 2].flatMap((fid) => accountRecords(fid, fid === 3 ? 2000 : 1)),
      lend(),
      ...keys.map((key, nth) => message(add(key, nth))),
      ...keys.map((key, nth) => message(signedCast(2, `cast ${nth}`, key))),
      message(signedCast(2, "by a key of the chain", accountSigner(2))),
    ]);
    expect(outcomes.filter((outcome) => outcome !== "ok")).toEqual([]);
    expect(await movedTo(target, source)).toEqual([]);
    expect(dumpIndex(target.db)).toBe(dumpIndex(source.db));
    // The key needs the registration of the app that requested it.
    using alone = startTestNode();
    expect(await movedTo(alone, source, [2])).toEqual([]);
    expect(readTotals(alone.db)).toMatchObject({ casts: keys.length + 1, fids: 2 });
  });

  test("an export of one account has it with the storage that it borrows, and nothing else of the lender", async () => {
    using source = startTestNode();
    using target = startTestNode();
    source.ingestAll([
      ...[1, 3, 2].flatMap((fid) => accountRecords(fid, fid === 3 ? 2000 : 1)),
      lend(),
      message(signedCast(1, "of somebody else", accountSigner(1))),
      message(signedCast(2, "of the account", accountSigner(2))),
      message(signedCast(3, "of the lender", accountSigner(3))),
    ]);
    expect(await movedTo(target, source, [2, 2])).toEqual([]);
    const texts = target.db.sqlite.query("SELECT text FROM casts").values().flat();
    const fids = target.db.sqlite.query("SELECT fid FROM fids ORDER BY fid").values().flat();
    const names = target.db.sqlite.query("SELECT name FROM username_proofs").values().flat();
    const lends = target.db.sqlite.query("SELECT fid, to_fid FROM storage_lends").values();
    expect({ texts, fids, names, lends }).toEqual({
      texts: ["of the account"],
      fids: [2, 3],
      names: ["user2"],
      lends: [[3, 2]],
    });
  });
});

describe("writeNewRecords", () => {
  test("leaves an existing file as it is, and none where it fails", async () => {
    using dir = tempDir();
    const path = `${dir.path}/export`;
    const failing = function* () {
      yield* accountRecords(1);
      throw new Error("the index is damaged");
    };
    await expect(writeNewRecords(path, failing())).rejects.toThrow("damaged");
    expect(existsSync(path)).toBe(false);
    await Bun.write(path, "of somebody");
    await expect(writeNewRecords(path, accountRecords(1))).rejects.toThrow("already exists");
    expect(await Bun.file(path).text()).toBe("of somebody");
  });
});
