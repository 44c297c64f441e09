import { expect, test } from "bun:test";
import { openIndexInMemory } from "../../../src/db/index/database.ts";
import { KeyChanges } from "../../../src/ingest/trie/key-changes.ts";
import {
  applyKeyOperation,
  decodeKeyRecord,
  encodeKeyRecord,
  type KeyRecord,
} from "../../../src/ingest/trie/key-records.ts";
import { MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { accountPrefix, messageKey, REST_START } from "../../../src/trust/trie-key.ts";

const { MESSAGE_TYPE_KEY_ADD: KEY_ADD, MESSAGE_TYPE_KEY_REMOVE: KEY_REMOVE } = MessageType;
const FID = 2 ** 33 + 5;
const hashOf = (n: number) => Buffer.alloc(20, n);
const publicKey = Buffer.alloc(32, 200);

const RECORDS: readonly KeyRecord[] = [
  { kind: "key", key: messageKey(FID, KEY_ADD, hashOf(1)), isPresent: true },
  { kind: "key", key: messageKey(FID, KEY_ADD, hashOf(1)), isPresent: false },
  { kind: "gasless", fid: FID, publicKey, hash: hashOf(1), isAdd: true },
  { kind: "gasless", fid: FID, publicKey, hash: hashOf(1), isAdd: false },
  { kind: "root", account: accountPrefix(FID), root: hashOf(3) },
  { kind: "root", account: accountPrefix(FID), root: new Uint8Array() },
];

const inHex = (record: KeyRecord) =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? value.toHex() : value,
    ]),
  );

test("what a block says about keys is read as it was written", () => {
  for (const record of RECORDS)
    expect(inHex(decodeKeyRecord(encodeKeyRecord(record)))).toEqual(inHex(record));
  expect(() => decodeKeyRecord(Uint8Array.of(9))).toThrow("of no known kind");
});

test("an operation on a gasless key deletes the KEY_ADD before it from the trie, and a KEY_REMOVE stays for ever", () => {
  using db = openIndexInMemory();
  const changes = new KeyChanges(db);
  /** The hashes of messages that the trie gets and loses. */
  const apply = (n: number, isAdd: boolean) =>
    db.transaction(() => {
      changes.start(1);
      applyKeyOperation(db, changes, 1, { fid: FID, publicKey, hash: hashOf(n), isAdd });
      return changes
        .flush()
        .flatMap(({ keys = [] }) => keys)
        .map(({ rest, isPresent }) => `${isPresent ? "+" : "-"}${rest[0]}`)
        .sort();
    });
  expect(messageKey(FID, KEY_ADD, hashOf(1)).subarray(REST_START)).toEqual(hashOf(1));
  expect(messageKey(FID, KEY_REMOVE, hashOf(1)).subarray(REST_START)).toEqual(hashOf(1));
  expect(apply(1, true)).toEqual(["+1"]);
  // A block that is read again.
  expect(apply(1, true)).toEqual(["+1"]);
  expect(apply(2, true)).toEqual(["+2", "-1"]);
  expect(apply(3, false)).toEqual(["+3", "-2"]);
  expect(apply(4, false)).toEqual(["+4"]);
  expect(apply(5, true)).toEqual(["+5"]);
});
