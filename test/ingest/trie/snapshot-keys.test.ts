import { expect, test } from "bun:test";
import fc from "fast-check";
import { openBulkBuild } from "../../../src/db/index/bulk/open-bulk-build.ts";
import { MessagePacker } from "../../../src/db/index/bulk/packed-messages.ts";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { splitMessage } from "../../../src/db/index/messages/split.ts";
import { addUsernameProof } from "../../../src/db/index/project/profile.ts";
import { correction } from "../../../src/db/index/trie/corrections.ts";
import { keyAddOf } from "../../../src/db/index/trie/key-adds.ts";
import { keysKnownFrom } from "../../../src/db/index/trie/known-keys.ts";
import { opaqueChildren } from "../../../src/db/index/trie/opaque.ts";
import { addToTodo } from "../../../src/db/index/upstream-work.ts";
import {
  type SnapshotKeys,
  settleSnapshotKeys,
  storeSnapshotKeys,
} from "../../../src/ingest/trie/snapshot-keys.ts";
import { packBytes } from "../../../src/lib/bytes.ts";
import { decodeMessage } from "../../../src/protocol/message/signed-message.ts";
import { FarcasterNetwork, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { accountPrefix, fnameKeyOf, messageKey, type TrieKey } from "../../../src/trust/trie-key.ts";
import { fnameProof } from "../../support/events.ts";
import { DEFAULT_NOW_SECS, makeWallet } from "../../support/messages.ts";
import { signed } from "../../support/records.ts";
import { expectOk } from "../../support/result.ts";

const SHARDS = [1, 2];
const OWNER = makeWallet("owner").address;
const hashOf = (n: number) => new Uint8Array(20).fill(n);
const addName = (db: IndexDatabase, fid: number, name: string) =>
  addUsernameProof(db, fnameProof(name, fid, OWNER, DEFAULT_NOW_SECS), undefined);
const nameKey = (fid: number, name: string) => fnameKeyOf(fid, Buffer.from(name)) as TrieKey;

function lists(db: IndexDatabase, shard: number, keys: readonly TrieKey[], rest: Partial<SnapshotKeys> = {}) {
  storeSnapshotKeys(db, { shard, keys: packBytes(keys), keyAdds: [], opaque: [], ...rest });
}
const settle = (db: IndexDatabase) =>
  settleSnapshotKeys(
    db,
    SHARDS.map((shard) => ({ shard, from: 100 * shard })),
  );

test("what a snapshot says of keys that no row produces is kept", () => {
  using db = openIndexInMemory();
  const key = messageKey(1, MessageType.MESSAGE_TYPE_KEY_ADD, hashOf(1));
  const keyAdd = { fid: 1, publicKey: new Uint8Array(32).fill(2), hash: hashOf(1) };
  const child = { shard: 2, account: accountPrefix(1), nibble: 15, root: hashOf(3), keys: 4 };
  lists(db, 2, [key], { keyAdds: [keyAdd], opaque: [child] });
  settle(db);
  expect(SHARDS.map((shard) => correction(db, shard, key))).toEqual([undefined, true]);
  expect(keyAddOf(db, 1, keyAdd.publicKey)).toEqual(hashOf(1));
  expect(opaqueChildren(db, 2, child.account)).toMatchObject([{ nibble: 15, keys: 4 }]);
  expect(SHARDS.map((shard) => keysKnownFrom(db, shard))).toEqual([100, 200]);
});

test("a name that rows have is absent from the shards whose snapshots lack it, unless its account is read in another way", () => {
  const name = fc.record({ fid: fc.integer({ min: 1, max: 4 }), shards: fc.subarray(SHARDS) });
  fc.assert(
    fc.property(fc.array(name, { maxLength: 6 }), fc.subarray([1, 2, 3, 4]), (names, todo) => {
      using db = openIndexInMemory();
      for (const fid of todo) addToTodo(db, fid);
      const keys = names.map(({ fid }, n) => {
        addName(db, fid, `name-${n}`);
        return nameKey(fid, `name-${n}`);
      });
      for (const shard of SHARDS)
        lists(
          db,
          shard,
          keys.filter((_, n) => names[n]?.shards.includes(shard)),
        );
      settle(db);
      expect(keys.map((key) => SHARDS.map((shard) => correction(db, shard, key)))).toEqual(
        names.map(({ fid, shards }) =>
          SHARDS.map((shard) => (shards.includes(shard) || todo.includes(fid) ? undefined : false)),
        ),
      );
    }),
    { numRuns: 30 },
  );
});

test("all names are settled, however many there are, but for those that do not fit into a key", () => {
  using db = openIndexInMemory();
  const names = Array.from({ length: 1001 }, (_, n) => `name-${n}`);
  db.transaction(() => {
    for (const name of [...names, "a".repeat(40)]) addName(db, 1, name);
    settle(db);
  });
  const settled = names.filter((name) => correction(db, 1, nameKey(1, name)) === false);
  expect(settled).toHaveLength(names.length);
});

test("a lend in the spool has a key in the accounts of both fids, which a shard may lack", () => {
  using db = openIndexInMemory();
  claimNetwork(db, "mainnet");
  const value = { toFid: 2, numUnits: 1, unitType: 2 };
  const lend = expectOk(
    decodeMessage(
      signed(1, { type: MessageType.MESSAGE_TYPE_LEND_STORAGE, body: { $case: "lendStorageBody", value } })
        .bytes,
    ),
  );
  const [own, borrowed] = [1, 2].map((fid) =>
    messageKey(fid, MessageType.MESSAGE_TYPE_LEND_STORAGE, lend.hash),
  ) as [TrieKey, TrieKey];
  const packer = new MessagePacker();
  packer.add(splitMessage(lend, FarcasterNetwork.FARCASTER_NETWORK_MAINNET));
  openBulkBuild(db).append([packer.finish()], () => {
    lists(db, 1, [own, borrowed]);
    lists(db, 2, [own]);
    settle(db);
  });
  expect([own, borrowed].map((key) => SHARDS.map((shard) => correction(db, shard, key)))).toEqual([
    [undefined, undefined],
    [undefined, false],
  ]);
});
