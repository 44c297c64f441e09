import { expect, test } from "bun:test";
import fc from "fast-check";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import type { StoredOutboxEvent } from "../../src/db/index/log/outbox.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import { slotOf } from "../../src/protocol/message/merge-rules.ts";
import { decodeMessage, type SignedMessage } from "../../src/protocol/message/signed-message.ts";
import { MessageType } from "../../src/protocol/wire/generated/message.ts";
import { registerEvent, rentEvent, signerEvent } from "../support/events.ts";
import { liveMessages } from "../support/live-messages.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, makeWallet } from "../support/messages.ts";
import { accountRecords, accountSigner, eventRecord, startTestNode, type TestNode } from "../support/node.ts";
import { takeEvents } from "../support/outbox.ts";
import { cast, compact, link, react, uncast, unlink, unreact } from "../support/records.ts";
import { expectOk } from "../support/result.ts";

const YEAR_SECS = 365 * 86_400;
/** An fid whose storage expires during the test. After that, each of its messages empties a store. */
const EXPIRING = 3;
const EXPIRES_IN_SECS = 60;

const fid = fc.constantFrom(1, 2, EXPIRING);
const at = fc.integer({ min: DEFAULT_TIMESTAMP - 4, max: DEFAULT_TIMESTAMP + 4 });
const other = fc.integer({ min: 1, max: 4 });
const text = fc.constantFrom("a", "b", "c");

/** Random records in few slots, so that each slot has conflicts. `tick` lets storage expire. */
const act: fc.Arbitrary<EncodedRecord | "tick"> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(fid, text).map(([who, what]) => cast(who, what)) },
  fc.tuple(fid, text, at).map(([who, what, when]) => uncast(who, cast(who, what), when)),
  {
    weight: 3,
    arbitrary: fc.tuple(fid, other, at).map(([who, whom, when]) => link(who, "follow", whom, when)),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fid, other, at).map(([who, whom, when]) => unlink(who, "follow", whom, when)),
  },
  fc.tuple(fid, other, at).map(([who, whom, when]) => link(who, "block", whom, when)),
  fc
    .tuple(fid, fc.uniqueArray(other, { minLength: 1 }), at)
    .map(([who, whom, when]) => compact(who, "follow", whom, when)),
  {
    weight: 3,
    arbitrary: fc.tuple(fid, fc.constantFrom(1, 2), at).map(([who, type, when]) => react(who, type, when)),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fid, fc.constantFrom(1, 2), at).map(([who, type, when]) => unreact(who, type, when)),
  },
  fc.constant("tick" as const),
);

function startNode(): TestNode {
  const node = startTestNode();
  for (const who of [1, 2]) node.ingestAll(accountRecords(who));
  node.ingestAll([
    eventRecord(registerEvent(EXPIRING, makeWallet("expiring").address, { block: 1 })),
    eventRecord(signerEvent(EXPIRING, accountSigner(EXPIRING).publicKey, { block: 2 })),
    eventRecord(rentEvent(EXPIRING, 1, { block: 3, at: DEFAULT_NOW_SECS - 4 * YEAR_SECS + EXPIRES_IN_SECS })),
  ]);
  return node;
}

function decoded(bytes: Uint8Array): SignedMessage {
  return expectOk(decodeMessage(bytes));
}

/** The subject of an event or a live message, as one word per slot. */
function slotKey(message: SignedMessage): string {
  const { store, slot } = slotOf(message);
  return `${message.data.fid} ${store} ${slot.toHex()}`;
}

/** The slots of live casts, follows and reactions. */
function liveSlots(db: IndexDatabase): string[] {
  const isShown = ({ data }: SignedMessage) =>
    data.type === MessageType.MESSAGE_TYPE_CAST_ADD ||
    data.type === MessageType.MESSAGE_TYPE_REACTION_ADD ||
    (data.body?.$case === "linkBody" &&
      data.type === MessageType.MESSAGE_TYPE_LINK_ADD &&
      data.body.value.type === "follow");
  return liveMessages(db)
    .map((live) => live.decode())
    .filter(isShown)
    .map(slotKey)
    .sort();
}

/** The live slots after the events. Fails if two events of one kind follow each other in a slot. */
function replay(events: readonly StoredOutboxEvent[]): string[] {
  const live = new Set<string>();
  for (const { kind, subject } of events) {
    const slot = slotKey(decoded(subject ?? new Uint8Array()));
    const isCreated = kind.endsWith(".created");
    expect([kind, slot, live.has(slot)]).toEqual([kind, slot, !isCreated]);
    if (isCreated) live.add(slot);
    else live.delete(slot);
  }
  return [...live].sort();
}

test("creations and deletions of a slot alternate, and all events together give the live slots", () => {
  fc.assert(
    fc.property(fc.array(act, { minLength: 5, maxLength: 50 }), fc.boolean(), (acts, atOnce) => {
      using node = startNode();
      if (atOnce) node.merge(acts.filter((one) => one !== "tick"));
      for (const one of atOnce ? [] : acts) {
        if (one === "tick") node.clock.advanceSecs(EXPIRES_IN_SECS);
        else node.merge([one]);
      }
      expect(replay(takeEvents(node.db))).toEqual(liveSlots(node.db));
    }),
    { numRuns: Number(process.env.EVENT_HISTORY_RUNS ?? 40) },
  );
}, 180_000);
