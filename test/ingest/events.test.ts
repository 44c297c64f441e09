import { describe, expect, test } from "bun:test";
import { MAX_EVENT_AGE_SECS, writeEvents } from "../../src/ingest/events.ts";
import { ChangeTracker } from "../../src/ingest/merge/change-tracker.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import { UserDataType } from "../../src/protocol/wire/generated/message.ts";
import { proEvent, registerEvent, rentEvent, signerEvent, transferEvent } from "../support/events.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, makeSigner, makeWallet } from "../support/messages.ts";
import { accountRecords, accountSigner, eventRecord, startTestNode } from "../support/node.ts";
import { inWords, takeEvents } from "../support/outbox.ts";
import {
  bio,
  cast,
  compact,
  ensProof,
  fname,
  likeUrl,
  link,
  react,
  uncast,
  unlink,
  unreact,
  unverify,
  userData,
  verify,
  WALLET,
} from "../support/records.ts";

/** Farcaster seconds. `LONG_AGO` is history. */
const NOW = DEFAULT_TIMESTAMP;
const LONG_AGO = NOW - 5000;
const YEAR_SECS = 365 * 86_400;
/** An fid whose only storage unit has just expired: its next message empties the store. */
const EXPIRED = 9;

const justNow = { at: DEFAULT_NOW_SECS };

interface Case {
  readonly name: string;
  /** Records that the node has merged before. */
  readonly given?: readonly EncodedRecord[];
  /** Records that arrive now, one after another. */
  readonly when: readonly EncodedRecord[];
  readonly events: readonly string[];
}

const oldCast = cast(1, "old", LONG_AGO);
const fullStore = Array.from({ length: 100 }, (_, n) => cast(1, `cast ${n}`, NOW - 200 + n));

const CASES: readonly Case[] = [
  { name: "a cast", when: [cast(1, "hi")], events: ["cast.created 1 hi"] },
  { name: "a cast twice", when: [cast(1, "hi"), cast(1, "hi")], events: ["cast.created 1 hi"] },
  {
    name: "a cast and its removal",
    when: [cast(1, "hi"), uncast(1, cast(1, "hi"))],
    events: ["cast.created 1 hi", "cast.deleted 1 hi"],
  },
  {
    name: "the removal of an old cast",
    given: [oldCast],
    when: [uncast(1, oldCast)],
    events: ["cast.deleted 1 old"],
  },
  {
    name: "a removal before its cast, which then loses",
    when: [uncast(1, oldCast), oldCast],
    events: [],
  },
  {
    name: "a later removal of a removed cast",
    given: [oldCast, uncast(1, oldCast, LONG_AGO)],
    when: [uncast(1, oldCast)],
    events: [],
  },
  {
    name: "a cast that pushes the oldest out of a full store",
    given: fullStore,
    when: [cast(1, "new")],
    events: ["cast.created 1 new", "cast.deleted 1 cast 0"],
  },
  {
    name: "a cast that a full store prunes at once",
    given: fullStore,
    when: [cast(1, "late", NOW - 300)],
    events: [],
  },
  {
    name: "a cast that empties an expired store, itself included",
    given: [cast(EXPIRED, "a", LONG_AGO), cast(EXPIRED, "b", NOW - 1)],
    when: [cast(EXPIRED, "c")],
    events: ["cast.deleted 9 a", "cast.deleted 9 b"],
  },
  { name: "a follow", when: [link(1, "follow", 2)], events: ["follow.created 1 follow 2"] },
  {
    name: "an unfollow",
    given: [link(1, "follow", 2, LONG_AGO)],
    when: [unlink(1, "follow", 2)],
    events: ["follow.deleted 1 follow 2"],
  },
  { name: "an unfollow without a follow", when: [unlink(1, "follow", 2)], events: [] },
  {
    name: "a follow that replaces a follow",
    given: [link(1, "follow", 2, LONG_AGO)],
    when: [link(1, "follow", 2)],
    events: [],
  },
  {
    name: "a follow that is older than the unfollow",
    given: [unlink(1, "follow", 2, NOW - 1)],
    when: [link(1, "follow", 2, NOW - 2)],
    events: [],
  },
  {
    name: "a follow after an unfollow",
    given: [unlink(1, "follow", 2, NOW - 2)],
    when: [link(1, "follow", 2, NOW - 1), unlink(1, "follow", 2)],
    events: ["follow.created 1 follow 2", "follow.deleted 1 follow 2"],
  },
  { name: "a link of another type", when: [link(1, "block", 2), unlink(1, "block", 2, NOW + 1)], events: [] },
  {
    name: "a compact state that lists some of the follows",
    given: [2, 3, 4].map((target) => link(1, "follow", target, LONG_AGO)),
    when: [compact(1, "follow", [3, 7])],
    events: ["follow.deleted 1 follow 2", "follow.deleted 1 follow 4"],
  },
  {
    name: "a compact state over unfollows and links of another type",
    given: [unlink(1, "follow", 2, LONG_AGO), link(1, "block", 3, LONG_AGO)],
    when: [compact(1, "follow", [5]), compact(1, "block", [5], NOW + 1)],
    events: [],
  },
  {
    name: "a follow that empties an expired store",
    given: [link(EXPIRED, "follow", 1, LONG_AGO), unlink(EXPIRED, "follow", 3, LONG_AGO)],
    when: [link(EXPIRED, "follow", 2)],
    events: ["follow.deleted 9 follow 1"],
  },
  {
    name: "a like and a recast",
    when: [react(1, 1), react(1, 2)],
    events: ["reaction.created 1 1 2", "reaction.created 1 2 2"],
  },
  {
    name: "a like of a URL",
    when: [likeUrl(1, "https://a.example")],
    events: ["reaction.created 1 1 https://a.example"],
  },
  {
    name: "an unlike",
    given: [react(1, 1, LONG_AGO), react(1, 2, LONG_AGO)],
    when: [unreact(1, 1)],
    events: ["reaction.deleted 1 1 2"],
  },
  { name: "a like that replaces a like", given: [react(1, 1, LONG_AGO)], when: [react(1, 1)], events: [] },
  { name: "an unlike without a like", when: [unreact(1, 1)], events: [] },
  {
    name: "a like again after an unlike",
    given: [unreact(1, 1, NOW - 1)],
    when: [react(1, 1)],
    events: ["reaction.created 1 1 2"],
  },
  {
    name: "a like that empties an expired store",
    given: [react(EXPIRED, 1, LONG_AGO)],
    when: [react(EXPIRED, 2)],
    events: ["reaction.deleted 9 1 2"],
  },
  {
    name: "a registration",
    when: [eventRecord(registerEvent(50, makeWallet("new").address, { block: 9000, ...justNow }))],
    events: ["user.created 50"],
  },
  {
    name: "a registration that arrives after a transfer of the fid",
    when: [
      eventRecord(
        transferEvent(50, makeWallet("a").address, makeWallet("b").address, { block: 9001, ...justNow }),
      ),
      eventRecord(registerEvent(50, makeWallet("a").address, { block: 9000, ...justNow })),
    ],
    events: ["user.updated 50", "user.created 50"],
  },
  {
    name: "a custody transfer, and an earlier one that arrives after it",
    when: [
      eventRecord(
        transferEvent(1, makeWallet("a").address, makeWallet("c").address, { block: 9002, ...justNow }),
      ),
      eventRecord(
        transferEvent(1, makeWallet("a").address, makeWallet("b").address, { block: 9001, ...justNow }),
      ),
    ],
    events: ["user.updated 1"],
  },
  {
    name: "a purchase of the Pro tier",
    when: [eventRecord(proEvent(1, 30, { block: 9000, ...justNow }))],
    events: ["user.updated 1"],
  },
  {
    name: "a key and storage",
    when: [
      eventRecord(signerEvent(1, makeSigner("other").publicKey, { block: 9000, ...justNow })),
      eventRecord(rentEvent(1, 1, { block: 9000, ...justNow })),
    ],
    events: [],
  },
  { name: "an empty field that was not set", when: [bio(1, "")], events: [] },
  {
    name: "user data: set, set to the same, changed, emptied, emptied again",
    when: [bio(1, "a", NOW - 4), bio(1, "a", NOW - 3), bio(1, "b", NOW - 2), bio(1, "", NOW - 1), bio(1, "")],
    events: ["user.updated 1", "user.updated 1", "user.updated 1"],
  },
  {
    name: "user data that empties an expired store",
    given: [bio(EXPIRED, "a", LONG_AGO), userData(EXPIRED, UserDataType.USER_DATA_TYPE_URL, "b", LONG_AGO)],
    when: [bio(EXPIRED, "c")],
    events: ["user.updated 9"],
  },
  { name: "a verification", when: [verify(1)], events: ["user.updated 1"] },
  {
    name: "a verification that replaces itself",
    given: [verify(1, LONG_AGO)],
    when: [verify(1)],
    events: [],
  },
  {
    name: "a verification that replaces itself and revokes the primary address",
    given: [
      verify(1, LONG_AGO),
      userData(1, UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM, WALLET, LONG_AGO),
    ],
    when: [verify(1)],
    events: ["user.updated 1"],
  },
  {
    name: "the removal of a verification, which revokes the primary address",
    given: [
      verify(1, LONG_AGO),
      userData(1, UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM, WALLET, LONG_AGO),
    ],
    when: [unverify(1)],
    events: ["user.updated 1"],
  },
  { name: "the removal of a verification that does not exist", when: [unverify(1)], events: [] },
  { name: "a first fname", when: [fname(1, "fresh")], events: ["user.updated 1"] },
  {
    name: "an fname that is transferred to its holder again",
    given: [fname(1, "kept", 9000)],
    when: [fname(1, "kept")],
    events: [],
  },
  {
    name: "an fname that moves, which revokes the USERNAME",
    given: [fname(1, "moved", 9000), userData(1, UserDataType.USER_DATA_TYPE_USERNAME, "moved", LONG_AGO)],
    when: [fname(2, "moved")],
    events: ["user.updated 1", "user.updated 2"],
  },
  {
    name: "an fname that is released",
    given: [fname(1, "free", 9000)],
    when: [fname(0, "free")],
    events: ["user.updated 1"],
  },
  {
    name: "an fname proof that is older than the live one",
    given: [fname(1, "taken", 1)],
    when: [fname(2, "taken", 2)],
    events: [],
  },
  { name: "an ENS name", when: [ensProof(1, "one.eth")], events: ["user.updated 1"] },
  {
    name: "an ENS name again",
    given: [ensProof(1, "one.eth", LONG_AGO)],
    when: [ensProof(1, "one.eth")],
    events: [],
  },
  {
    name: "an ENS name that moves",
    given: [ensProof(1, "one.eth", LONG_AGO)],
    when: [ensProof(2, "one.eth")],
    events: ["user.updated 1", "user.updated 2"],
  },
];

/** A node with three accounts, one account whose storage has expired, and the records of a case. */
function startNode({ given = [] }: Pick<Case, "given"> = {}) {
  const node = startTestNode();
  for (const fid of [1, 2, 3]) node.ingestAll(accountRecords(fid));
  node.ingestAll([
    eventRecord(registerEvent(EXPIRED, makeWallet("expired").address, { block: 1 })),
    eventRecord(signerEvent(EXPIRED, accountSigner(EXPIRED).publicKey, { block: 2 })),
    eventRecord(rentEvent(EXPIRED, 1, { block: 3, at: DEFAULT_NOW_SECS - 4 * YEAR_SECS - 5 })),
  ]);
  // One second earlier its unit had not expired.
  node.clock.advanceSecs(-10);
  expect(node.merge(given)).toEqual(given.map(() => undefined));
  node.clock.advanceSecs(10);
  takeEvents(node.db);
  return node;
}

describe("events in the outbox", () => {
  test.each(CASES.map((row) => [row.name, row] as const))("%s", (_name, row) => {
    using node = startNode(row);
    for (const record of row.when) node.merge([record]);
    expect(takeEvents(node.db).map(inWords)).toEqual([...row.events]);
  });

  test.each(CASES.map((row) => [row.name, row] as const))("no event if it is history: %s", (_name, row) => {
    using node = startNode(row);
    // The latest record of a case has the time NOW + 1.
    node.clock.advanceSecs(MAX_EVENT_AGE_SECS + 2);
    node.merge(row.when);
    expect(takeEvents(node.db)).toEqual([]);
  });

  test("a record is an event up to the maximum age and history one second later", () => {
    using node = startNode();
    node.clock.advanceSecs(MAX_EVENT_AGE_SECS);
    node.merge([cast(1, "in time")]);
    node.clock.advanceSecs(1);
    node.merge([cast(1, "too late")]);
    expect(takeEvents(node.db).map(inWords)).toEqual(["cast.created 1 in time"]);
  });

  test("an event has the same id on every node, and different events have different ids", () => {
    const records = CASES.flatMap(({ given = [], when }) => [...given, ...when]);
    const idsByEvent = [records, records.toReversed()].map((order) => {
      using node = startNode();
      for (const record of order) node.merge([record]);
      return new Map(
        takeEvents(node.db).map(({ eventId, kind, fid }) => [eventId.toHex(), `${kind} ${fid}`]),
      );
    });
    const [some, others] = idsByEvent as [Map<string, string>, Map<string, string>];
    const common = [...some.keys()].filter((id) => others.has(id));
    expect(common.length).toBeGreaterThan(20);
    for (const id of common) expect(others.get(id)).toBe(some.get(id));
    using node = startNode({ given: [fname(1, "moved", 9000)] });
    node.merge([
      fname(2, "moved"),
      cast(1, "a"),
      cast(1, "b"),
      uncast(1, cast(1, "a")),
      link(1, "follow", 2),
    ]);
    const ids = takeEvents(node.db).map(({ eventId }) => eventId.toHex());
    expect(new Set(ids).size).toBe(6);
  });
});

test("an operation that creates a user and changes it is one event of the user", () => {
  using node = startTestNode();
  const changes = new ChangeTracker();
  changes.start(false);
  changes.trackUserCreated(50);
  changes.trackUserUpdated(50);
  changes.trackUserUpdated(51);
  const cause = { happenedAt: DEFAULT_NOW_SECS, reference: () => new Uint8Array() };
  expect(node.db.transaction(() => writeEvents(node.db, changes, cause, DEFAULT_NOW_SECS))).toBe(2);
  expect(takeEvents(node.db).map(inWords)).toEqual(["user.created 50", "user.updated 51"]);
});
