import { describe, expect, test } from "bun:test";
import { StoreCounts } from "../../src/db/index/counts/store-counts.ts";
import { TotalsDelta } from "../../src/db/index/counts/totals.ts";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { OperationEvents } from "../../src/ingest/hub-log/operation-events.ts";
import { ChangeTracker } from "../../src/ingest/merge/change-tracker.ts";
import { MessageStore } from "../../src/ingest/merge/message-store.ts";
import { storeOnChainEvent } from "../../src/ingest/merge/registry.ts";
import { StorageLimitCache } from "../../src/ingest/merge/storage-limits.ts";
import { KeyChanges } from "../../src/ingest/trie/key-changes.ts";
import { Kind, Store, slotOf } from "../../src/protocol/message/merge-rules.ts";
import { decodeMessage, type SignedMessage } from "../../src/protocol/message/signed-message.ts";
import { toUnixSecs } from "../../src/protocol/time.ts";
import { FarcasterNetwork, MessageType, StorageUnitType } from "../../src/protocol/wire/generated/message.ts";
import { rentEvent } from "../support/events.ts";
import { liveMessages } from "../support/live-messages.ts";
import { DEFAULT_TIMESTAMP, signMessage, type TestData } from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { expectOk } from "../support/result.ts";

const FID = 1;

function startStore(
  db: IndexDatabase,
  limits = new StorageLimitCache(db),
  keys = new KeyChanges(db),
): MessageStore {
  return new MessageStore({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    totals: new TotalsDelta(db),
    counts: new StoreCounts(db),
    limits,
    changes: new ChangeTracker(),
    hubEvents: new OperationEvents(),
    keys,
  });
}

function signed(type: MessageType, body: TestData["body"], at: number): SignedMessage {
  return expectOk(
    decodeMessage(
      signMessage({ type, fid: FID, timestamp: DEFAULT_TIMESTAMP + at, body }, accountSigner(FID)),
    ),
  );
}

const targetCast = (n: number) => ({ fid: 2, hash: Buffer.alloc(20, n) });

/** Messages of all kinds of four stores, three in each second. */
function someMessages(): SignedMessage[] {
  const messages: SignedMessage[] = [];
  for (let n = 1; n <= 24; n++) {
    // Neither the order of seconds nor that of hashes is the order of arrival.
    const at = ((n * 7) % 24) - ((n * 7) % 3);
    const isRemoved = n % 4 === 0;
    messages.push(
      isRemoved
        ? signed(
            MessageType.MESSAGE_TYPE_CAST_REMOVE,
            { $case: "castRemoveBody", value: { targetHash: Buffer.alloc(20, n) } },
            at,
          )
        : signed(
            MessageType.MESSAGE_TYPE_CAST_ADD,
            {
              $case: "castAddBody",
              value: {
                text: `${n}`,
                ...(n % 2 === 0 ? {} : { parent: { $case: "parentCastId", value: targetCast(n) } }),
              },
            },
            at,
          ),
      signed(
        isRemoved ? MessageType.MESSAGE_TYPE_REACTION_REMOVE : MessageType.MESSAGE_TYPE_REACTION_ADD,
        {
          $case: "reactionBody",
          value: {
            type: 1 + (n % 2),
            target:
              n % 5 === 0
                ? { $case: "targetUrl", value: `https://a.example/${n}` }
                : { $case: "targetCastId", value: targetCast(n) },
          },
        },
        at,
      ),
      signed(
        isRemoved ? MessageType.MESSAGE_TYPE_LINK_REMOVE : MessageType.MESSAGE_TYPE_LINK_ADD,
        {
          $case: "linkBody",
          value: {
            type: ["follow", "block", "pin", "1"][n % 4] ?? "follow",
            target: { $case: "targetFid", value: 100 + n },
            // A display time does not decide which link is the oldest.
            ...(n % 3 === 0 ? { displayTimestamp: 1000 - n } : {}),
          },
        },
        at,
      ),
    );
    if (n <= 3)
      messages.push(
        signed(
          MessageType.MESSAGE_TYPE_USER_DATA_ADD,
          { $case: "userDataBody", value: { type: n, value: `${n}` } },
          at,
        ),
      );
  }
  messages.push(
    signed(
      MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE,
      { $case: "linkCompactStateBody", value: { type: "follow", targetFids: [9] } },
      -100,
    ),
  );
  return messages;
}

describe("the message store", () => {
  test("finds every message by its slot, with its hash", () => {
    using db = openIndexInMemory();
    const store = startStore(db);
    const messages = someMessages();
    db.transaction(() => {
      for (const message of messages) store.put(message, slotOf(message));
    });
    for (const message of messages) {
      const { store: number, slot, kind } = slotOf(message);
      const found = store.get(FID, number, slot);
      expect(found?.hash.toHex()).toBe(message.hash.toHex());
      expect([found?.kind, found?.timestamp]).toEqual([kind, message.data.timestamp]);
      expect(found?.message.dataBytes.toHex()).toBe(message.dataBytes.toHex());
      expect(store.get(FID + 1, number, slot)).toBeUndefined();
    }
  });

  test("gives the oldest messages of all kinds by time and hash, and removes them with all their rows", () => {
    using db = openIndexInMemory();
    const store = startStore(db);
    db.transaction(() => {
      for (const message of someMessages()) store.put(message, slotOf(message));
    });
    for (const number of [Store.Casts, Store.Reactions, Store.Links, Store.UserData]) {
      const expected = liveMessages(db)
        .filter((live) => live.store === number && live.kind !== Kind.Compact)
        .sort((a, b) => a.timestamp - b.timestamp || Buffer.compare(a.hash, b.hash))
        .map(({ hash }) => hash.toHex());
      for (const count of [1, 2, 3, 7, 100]) {
        const oldest = store.oldest(FID, number, count).map(({ hash }) => hash.toHex());
        expect(oldest).toEqual(expected.slice(0, count));
      }
      db.transaction(() => {
        for (const stored of store.oldest(FID, number, 100)) store.remove(stored, "pruned");
      });
      expect(store.oldest(FID, number, 1)).toEqual([]);
    }
    for (const table of ["casts", "reactions", "links", "user_data", "envelopes", "missing_casts", "urls"])
      expect(db.sqlite.query(`SELECT * FROM ${table}`).all()).toEqual([]);
    for (const table of ["cast_counts", "follow_counts", "notifications", "channel_members"])
      expect(db.sqlite.query(`SELECT * FROM ${table}`).all()).toEqual([]);
  });

  test("the limits of both fids follow a lend and its removal", () => {
    using db = openIndexInMemory();
    const limits = new StorageLimitCache(db);
    const store = startStore(db, limits);
    const lend = signed(
      MessageType.MESSAGE_TYPE_LEND_STORAGE,
      {
        $case: "lendStorageBody",
        value: { toFid: 2, numUnits: 5, unitType: StorageUnitType.UNIT_TYPE_2025 },
      },
      0,
    );
    const now = toUnixSecs(lend.data.timestamp);
    storeOnChainEvent(db, rentEvent(FID, 7, { block: 500_000, at: now }));
    const castsOf = (fid: number) => limits.limit(fid, Store.Casts, now);
    const alone = [castsOf(FID), castsOf(2)];
    store.put(lend, slotOf(lend));
    expect(castsOf(FID)).toBeLessThan(alone[0] ?? 0);
    expect(castsOf(2)).toBeGreaterThan(alone[1] ?? 0);
    const stored = store.get(FID, Store.StorageLends, slotOf(lend).slot);
    if (!stored) throw new Error("the lend is missing");
    store.remove(stored, "displaced");
    expect([castsOf(FID), castsOf(2)]).toEqual(alone);
  });

  test("says nothing of the tries that a node does not follow, also of what is compacted", () => {
    using db = openIndexInMemory();
    const keys = new KeyChanges(db);
    const store = startStore(db, undefined, keys);
    db.transaction(() => {
      for (const message of someMessages()) store.put(message, slotOf(message));
      for (const stored of store.oldest(FID, Store.Links, 100)) store.remove(stored, "compacted");
      expect(keys.flush()).toEqual([]);
    });
  });

  test("refuses a message whose hash is not that of its data", () => {
    using db = openIndexInMemory();
    const store = startStore(db);
    const [message] = someMessages();
    if (!message) throw new Error("there are messages");
    const forged = { ...message, hash: new Uint8Array(20) };
    expect(() => db.transaction(() => store.put(forged, slotOf(forged)))).toThrow("hash");
    expect(liveMessages(db)).toEqual([]);
  });
});
