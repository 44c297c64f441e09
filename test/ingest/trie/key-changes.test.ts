import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { dirtyKindsOf } from "../../../src/db/index/trie/account-roots.ts";
import { correction, setCorrection } from "../../../src/db/index/trie/corrections.ts";
import { setKeysKnown } from "../../../src/db/index/trie/known-keys.ts";
import { opaqueChildren, putOpaque } from "../../../src/db/index/trie/opaque.ts";
import { KeyChanges } from "../../../src/ingest/trie/key-changes.ts";
import { decodeMessage } from "../../../src/protocol/message/signed-message.ts";
import { shardOfFid } from "../../../src/protocol/network/shard.ts";
import { MessageType } from "../../../src/protocol/wire/generated/message.ts";
import {
  accountPrefix,
  fnameKeyOf,
  keysOfSigned,
  kindOfKey,
  messageKey,
  REST_START,
  type TrieKey,
} from "../../../src/trust/trie-key.ts";
import { cast, ensProof, link, signed } from "../../support/records.ts";
import { expectOk } from "../../support/result.ts";

const SHARDS = 2;
const FID = 1;
const HOME = shardOfFid(FID, SHARDS);
const AWAY = SHARDS + 1 - HOME;
const ACCOUNT = accountPrefix(FID);
const [one, two] = ["one", "two"].map((text) => expectOk(decodeMessage(cast(FID, text).bytes)));
if (!one || !two) throw new Error("two messages");
const keyOfCast = (message: typeof one) => messageKey(FID, MessageType.MESSAGE_TYPE_CAST_ADD, message.hash);
const KEY = keyOfCast(one);
const NAME = fnameKeyOf(FID, Buffer.from("one")) as TrieKey;

/** Runs a transaction of changes and returns the kinds that it changed. */
function changing(db: IndexDatabase, work: (changes: KeyChanges) => void) {
  const changes = new KeyChanges(db);
  return db.transaction(() => {
    changes.start(SHARDS);
    work(changes);
    return changes.flush();
  });
}

const act = fc.constantFrom("stored", "removed", "inserted", "deleted" as const);

describe("a correction is stored where the rows and the network's trie differ, and only there", () => {
  test("after any transactions", () => {
    fc.assert(
      fc.property(fc.array(fc.array(act, { maxLength: 5 }), { maxLength: 5 }), (transactions) => {
        using db = openIndexInMemory();
        const [rows, trie] = [new Set<string>(), new Set<string>()];
        for (const acts of transactions) {
          const kinds = changing(db, (changes) => {
            for (const one of acts) {
              const isStored = one === "stored" || (one !== "removed" && rows.has("key"));
              changes.derived(KEY, isStored, isStored !== rows.has("key"));
              if (isStored) rows.add("key");
              else rows.delete("key");
              if (one === "stored" || one === "removed") continue;
              changes.network(HOME, KEY, one === "inserted");
              if (one === "inserted") trie.add("key");
              else trie.delete("key");
            }
          });
          const wanted = trie.has("key") === rows.has("key") ? undefined : trie.has("key");
          expect(correction(db, HOME, KEY)).toBe(wanted);
          expect(correction(db, AWAY, KEY)).toBeUndefined();
          const said = acts.findLast((one) => one === "inserted" || one === "deleted");
          const keys = said ? [{ rest: KEY.slice(REST_START), isPresent: said === "inserted" }] : [];
          const changed = { shard: HOME, account: ACCOUNT, kind: kindOfKey(KEY), keys };
          expect(kinds).toEqual(acts.length === 0 ? [] : [changed]);
          expect(dirtyKindsOf(db, HOME, ACCOUNT)).toEqual([]);
        }
      }),
    );
  });

  test("also of a key that no row ever derives", () => {
    using db = openIndexInMemory();
    const after = (...presences: readonly boolean[]) => {
      changing(db, (changes) => {
        for (const isPresent of presences) changes.network(HOME, KEY, isPresent);
      });
      return correction(db, HOME, KEY);
    };
    expect([after(true), after(), after(true, false), after(false, true)]).toEqual([
      true,
      true,
      undefined,
      true,
    ]);
  });

  test("also where they differed before and only the trie changes", () => {
    using db = openIndexInMemory();
    // The rows derive it and the trie has lost it.
    setCorrection(db, HOME, KEY, false);
    changing(db, (changes) => changes.network(HOME, KEY, true));
    expect(correction(db, HOME, KEY)).toBeUndefined();
  });
});

test("rows of names change the tries of all shards, those of messages that of their home", () => {
  using db = openIndexInMemory();
  const shardsOf = (key: TrieKey) =>
    changing(db, (changes) => changes.derived(key, true, true)).map(({ shard }) => shard);
  expect([shardsOf(NAME), shardsOf(KEY)]).toEqual([[1, 2], [HOME]]);
  // No block has said that a trie has them.
  expect([1, 2].map((shard) => correction(db, shard, NAME))).toEqual([false, false]);
});

test("a message changes the keys of its author and of the borrower of a lend; one that no row derives changes none", () => {
  using db = openIndexInMemory();
  const lend = signed(FID, {
    type: MessageType.MESSAGE_TYPE_LEND_STORAGE,
    body: { $case: "lendStorageBody", value: { toFid: 2, numUnits: 1, unitType: 2 } },
  });
  const accountsOf = ({ bytes }: { readonly bytes: Uint8Array }) => {
    const message = expectOk(decodeMessage(bytes));
    const changed = changing(db, (changes) => changes.message(message, true, true));
    return [...new Set(changed.map(({ account }) => account.toHex()))];
  };
  expect(accountsOf(lend)).toEqual([ACCOUNT.toHex(), accountPrefix(2).toHex()]);
  expect(accountsOf(link(FID, "follow", 2))).toEqual([ACCOUNT.toHex()]);
  expect(accountsOf(ensProof(FID, "one.eth"))).toEqual([]);
});

test("a message that another one compacted has left the trie, which no event says", () => {
  using db = openIndexInMemory();
  const follow = expectOk(decodeMessage(link(FID, "follow", 2).bytes));
  const [key] = keysOfSigned(follow);
  if (!key) throw new Error("a link has a key");
  changing(db, (changes) => {
    changes.message(follow, false, true);
    changes.compacted(follow);
  });
  expect(correction(db, HOME, key)).toBeUndefined();
});

describe("while the state of an upstream is read", () => {
  const read = (db: IndexDatabase, key: TrieKey, isKnown = false) =>
    changing(db, (changes) => changes.readingState(() => changes.derived(key, true, true), isKnown));

  test("the trie is as the rows are, whatever was corrected, and which keys changed is not known", () => {
    using db = openIndexInMemory();
    setCorrection(db, HOME, KEY, false);
    expect(read(db, KEY)).toEqual([{ shard: HOME, account: ACCOUNT, kind: kindOfKey(KEY), keys: undefined }]);
    expect(correction(db, HOME, KEY)).toBeUndefined();
  });

  test("the trie stays as it was where an index that knows all keys knows those of the record", () => {
    for (const [isKnown, knowsAll, wanted] of [
      [true, true, false],
      [true, false, undefined],
      [false, true, undefined],
    ] as const) {
      using db = openIndexInMemory();
      if (knowsAll) setKeysKnown(db, 1, 0);
      read(db, KEY, isKnown);
      expect(correction(db, HOME, KEY)).toBe(wanted);
    }
  });

  test("it has a key, whatever blocks said of it before in the transaction", () => {
    using db = openIndexInMemory();
    changing(db, (changes) => {
      changes.network(HOME, KEY, true);
      changes.readingState(() => changes.derived(KEY, true, true), false);
    });
    expect(correction(db, HOME, KEY)).toBeUndefined();
  });

  test("what is read before and after counts as usual, also if the reading fails", () => {
    using db = openIndexInMemory();
    changing(db, (changes) => {
      expect(() =>
        changes.readingState(() => {
          throw new Error("unreadable");
        }, false),
      ).toThrow("unreadable");
      changes.derived(KEY, true, true);
    });
    expect(correction(db, HOME, KEY)).toBe(false);
  });

  test("of one account in one shard, the rest of the tries stays as it is", () => {
    using db = openIndexInMemory();
    const other = fnameKeyOf(2, Buffer.from("two")) as TrieKey;
    changing(db, (changes) => {
      changes.healing({ shard: 1, account: ACCOUNT });
      changes.readingState(() => {
        for (const key of [NAME, other]) changes.derived(key, true, true);
      }, false);
    });
    expect([NAME, other].map((key) => [1, 2].map((shard) => correction(db, shard, key)))).toEqual([
      [undefined, false],
      [false, false],
    ]);
  });
});

describe("an opaque child", () => {
  const below = keysOfSigned(expectOk(decodeMessage(link(FID, "follow", 2).bytes)))[0] as TrieKey;
  const child = { shard: HOME, account: ACCOUNT, nibble: kindOfKey(below) >> 4 };
  const root = (n: number) => new Uint8Array(20).fill(n);

  test("is out of date once a key below it changes, and up to date when it was read again", () => {
    using db = openIndexInMemory();
    putOpaque(db, { ...child, root: root(1), keys: 3 });
    changing(db, (changes) => changes.network(HOME, below, true));
    expect(dirtyKindsOf(db, HOME, ACCOUNT).map(({ kind }) => kind)).toEqual([kindOfKey(below)]);
    const kinds = changing(db, (changes) => changes.refreshed({ ...child, root: root(2), keys: 4 }));
    expect(opaqueChildren(db, HOME, ACCOUNT)).toMatchObject([{ nibble: child.nibble, keys: 4 }]);
    expect(kinds).toEqual([{ shard: HOME, account: ACCOUNT, kind: child.nibble << 4, keys: undefined }]);
  });

  test("that a transaction read and rolled back is not stored by the next", () => {
    using db = openIndexInMemory();
    const changes = new KeyChanges(db);
    changes.start(SHARDS);
    changes.refreshed({ ...child, root: root(2), keys: 4 });
    changes.network(HOME, KEY, true);
    changes.healing(child);
    changes.clear();
    expect([changes.isOn, changes.flush()]).toEqual([false, []]);
    expect(opaqueChildren(db, HOME, ACCOUNT)).toEqual([]);
  });
});

test("a transaction changes only its own keys, and its end the tracking", () => {
  using db = openIndexInMemory();
  const changes = new KeyChanges(db);
  const after = (work: () => void) => {
    changes.start(SHARDS);
    work();
    return [changes.flush().length, changes.isOn];
  };
  expect([after(() => changes.network(HOME, KEY, true)), after(() => {})]).toEqual([
    [1, false],
    [0, false],
  ]);
});

test("nothing changes the tries that a node does not follow", () => {
  using db = openIndexInMemory();
  const changes = new KeyChanges(db);
  changes.message(two, true, true);
  changes.derived(KEY, true, true);
  expect(changes.flush()).toEqual([]);
});
