import { expect, test } from "bun:test";
import fc from "fast-check";
import { noteChannelsActive, recountFollowers } from "../../src/db/index/channels/follows.ts";
import { type IndexDatabase, indexPath } from "../../src/db/index/database.ts";
import { writeMeta } from "../../src/db/index/meta.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import type { RelayedOp } from "../../src/ingest/relayed-op.ts";
import { DEMO_REGISTRAR, followUriOf } from "../../src/protocol/channels/follow-uri.ts";
import { slotOf } from "../../src/protocol/message/merge-rules.ts";
import { decodeMessage } from "../../src/protocol/message/signed-message.ts";
import { MessageType, StorageUnitType } from "../../src/protocol/wire/generated/message.ts";
import { rentEvent } from "../support/events.ts";
import { DEFAULT_TIMESTAMP, signedCast, signMessage, type TestData } from "../support/messages.ts";
import { accountRecords, accountSigner, eventRecord, startTestNode } from "../support/node.ts";
import { expectOk } from "../support/result.ts";
import { hashOf, linkMessage, reactionMessage } from "../support/social.ts";

const FIDS = [1, 2, 3];
/** It has no storage until it rents some: a message of it is pruned at once. */
const POOR = 3;

const CASTS = FIDS.flatMap((fid) =>
  [0, 1].map((n) => ({ fid, bytes: signedCast(fid, `cast ${n}`, accountSigner(fid)) })),
);
const URLS = [
  "https://warpcast.com/~/channel/made",
  ...[1, 2].map((n) => followUriOf(DEMO_REGISTRAR, Buffer.alloc(32, n)) ?? ""),
];

const fid = fc.constantFrom(...FIDS);
const at = fc.integer({ min: DEFAULT_TIMESTAMP - 3, max: DEFAULT_TIMESTAMP + 3 });
const url = fc.constantFrom(...URLS);
const remove = fc.boolean();
const cast = fc.constantFrom(...CASTS.map(({ fid, bytes }) => ({ fid, hash: hashOf(bytes) })));

function signed(author: number, type: keyof typeof MessageType, timestamp: number, body: TestData["body"]) {
  return signMessage(
    { type: MessageType[type] as MessageType, fid: author, timestamp, body },
    accountSigner(author),
  );
}

/** Messages that follow each other in few slots. */
const message: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.constantFrom(...CASTS.map(({ bytes }) => bytes)),
  fc.tuple(fid, url, at).map(([author, parentUrl, time]) =>
    signed(author, "MESSAGE_TYPE_CAST_ADD", time, {
      $case: "castAddBody",
      value: { text: "in a channel", parent: { $case: "parentUrl", value: parentUrl } },
    }),
  ),
  fc.tuple(cast, at).map(([{ fid: author, hash }, time]) =>
    signed(author, "MESSAGE_TYPE_CAST_REMOVE", time, {
      $case: "castRemoveBody",
      value: { targetHash: Buffer.from(hash.slice(2), "hex") },
    }),
  ),
  fc
    .tuple(fid, fc.constantFrom(1, 2), cast, at, remove)
    .map(([author, type, target, time, isRemove]) =>
      reactionMessage(author, type, target, { at: time, remove: isRemove }),
    ),
  fc.tuple(fid, fc.constantFrom(1, 2), url, at, remove).map(([author, type, targetUrl, time, isRemove]) =>
    signed(author, isRemove ? "MESSAGE_TYPE_REACTION_REMOVE" : "MESSAGE_TYPE_REACTION_ADD", time, {
      $case: "reactionBody",
      value: { type, target: { $case: "targetUrl", value: targetUrl } },
    }),
  ),
  fc
    .tuple(fid, fc.constantFrom("follow", "block"), fid, at, remove)
    .map(([author, type, to, time, isRemove]) =>
      linkMessage(author, type, to, { at: time, remove: isRemove }),
    ),
  fc.tuple(fid, fc.constantFrom("follow", "block"), fid, at).map(([author, type, to, time]) =>
    signed(author, "MESSAGE_TYPE_LINK_COMPACT_STATE", time, {
      $case: "linkCompactStateBody",
      value: { type, targetFids: [to] },
    }),
  ),
  fc.tuple(fid, fid, fc.integer({ min: 0, max: 1 }), at).map(([author, toFid, numUnits, time]) =>
    signed(author, "MESSAGE_TYPE_LEND_STORAGE", time, {
      $case: "lendStorageBody",
      value: { toFid, numUnits, unitType: StorageUnitType.UNIT_TYPE_LEGACY },
    }),
  ),
);

/** One commit: records of submits, or operations of an upstream, which are not admitted or pruned. */
type Batch =
  | { readonly kind: "submitted"; readonly records: readonly EncodedRecord[] }
  | { readonly kind: "relayed"; readonly ops: readonly RelayedOp[] };

const submitted: fc.Arbitrary<EncodedRecord> = fc.oneof(
  { weight: 12, arbitrary: message.map((bytes): EncodedRecord => ({ kind: "message", bytes })) },
  { weight: 1, arbitrary: fc.constant(eventRecord(rentEvent(POOR, 1, { block: 950_000 }))) },
);
const relayed: fc.Arbitrary<RelayedOp> = fc
  .tuple(message, fc.constantFrom("merge", "put", "remove"))
  .map(([bytes, kind]): RelayedOp => {
    const happenedAt = 0;
    if (kind === "merge") return { kind, message: bytes, deleted: [], happenedAt };
    if (kind === "put") return { kind, message: bytes, happenedAt };
    const { data, hash } = expectOk(decodeMessage(bytes));
    const { store, slot } = slotOf(expectOk(decodeMessage(bytes)));
    return { kind: "remove", ref: { fid: data.fid, store, slot, hash }, happenedAt };
  });
const batch: fc.Arbitrary<Batch> = fc.oneof(
  fc
    .array(submitted, { minLength: 1, maxLength: 20 })
    .map((records): Batch => ({ kind: "submitted", records })),
  fc.array(relayed, { minLength: 1, maxLength: 20 }).map((ops): Batch => ({ kind: "relayed", ops })),
);

const followersOf = (db: IndexDatabase) =>
  db.sqlite
    .query("SELECT hex(channel_id), followers FROM channel_counts WHERE followers != 0 ORDER BY 1")
    .values();

test("after any batches of submits and of an upstream, every count is what a recount of the rows gives", () => {
  fc.assert(
    fc.property(fc.array(batch, { minLength: 1, maxLength: 8 }), (batches) => {
      using node = startTestNode();
      const { db } = node;
      db.transaction(() => {
        writeMeta(db, "demo", "1");
        noteChannelsActive(db, 0);
      });
      for (const one of FIDS) {
        const records = accountRecords(one);
        node.ingestAll(one === POOR ? records.toSpliced(2, 1) : records);
      }
      for (const one of batches)
        if (one.kind === "submitted") node.ingestAll(one.records);
        else node.relay(one.ops);
      const counted = followersOf(db);
      db.transaction(() => recountFollowers(db));
      expect(counted).toEqual(followersOf(db));
      expect(verifyIndex(indexPath(node.dir))).toEqual([]);
    }),
    { numRuns: 60 },
  );
}, 180_000);
