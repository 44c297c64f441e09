import { describe, expect, test } from "bun:test";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { MAX_EVENT_AGE_SECS } from "../../src/ingest/events.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import type { MessageRef, RelayedOp } from "../../src/ingest/relayed-op.ts";
import { slotOf } from "../../src/protocol/message/merge-rules.ts";
import { decodeMessage } from "../../src/protocol/message/signed-message.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { registerEvent } from "../support/events.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, makeWallet } from "../support/messages.ts";
import { accountRecords, startTestNode } from "../support/node.ts";
import { inWords, takeEvents } from "../support/outbox.ts";
import { bio, cast, compact, fname, link, uncast } from "../support/records.ts";
import { expectOk } from "../support/result.ts";

const LONG_AGO = DEFAULT_TIMESTAMP - 5000;

/** The reference of a message, as in the operations of an upstream. */
function refOf({ bytes }: EncodedRecord): MessageRef {
  const message = expectOk(decodeMessage(bytes));
  const { store, slot } = slotOf(message);
  return { fid: message.data.fid, store, slot, hash: message.hash };
}

const at = { happenedAt: DEFAULT_NOW_SECS };
const merge = ({ bytes }: EncodedRecord, ...deleted: EncodedRecord[]): RelayedOp => ({
  ...at,
  kind: "merge",
  message: bytes,
  deleted: deleted.map(refOf),
});
const drop = (record: EncodedRecord): RelayedOp => ({ ...at, kind: "remove", ref: refOf(record) });
const hold = ({ bytes }: EncodedRecord): RelayedOp => ({ ...at, kind: "put", message: bytes });

const registration: RelayedOp = {
  ...at,
  kind: "onChainEvent",
  event: OnChainEvent.encode(registerEvent(50, makeWallet("w").address, { block: 1 })).finish(),
};
const old = cast(1, "old", LONG_AGO);
const follow = link(1, "follow", 2, LONG_AGO);

const CASES: readonly {
  readonly name: string;
  readonly given?: readonly EncodedRecord[];
  readonly ops: readonly RelayedOp[];
  readonly events: readonly string[];
}[] = [
  { name: "a merge", ops: [merge(cast(1, "new"))], events: ["cast.created 1 new"] },
  {
    name: "a merge again",
    ops: [merge(cast(1, "new")), merge(cast(1, "new"))],
    events: ["cast.created 1 new"],
  },
  {
    name: "a removal with what it deletes",
    given: [old],
    ops: [merge(uncast(1, old), old)],
    events: ["cast.deleted 1 old"],
  },
  {
    name: "a follow in place of another",
    given: [follow],
    ops: [merge(link(1, "follow", 2), follow)],
    events: [],
  },
  {
    name: "a compact state without a list of what it deletes",
    given: [follow, link(1, "follow", 3, LONG_AGO)],
    ops: [merge(compact(1, "follow", [3]))],
    events: ["follow.deleted 1 follow 2"],
  },
  {
    name: "prunes and revokes",
    given: [old, follow, bio(1, "a", LONG_AGO)],
    ops: [drop(old), drop(follow), drop(bio(1, "a", LONG_AGO)), drop(old)],
    events: ["cast.deleted 1 old", "follow.deleted 1 follow 2", "user.updated 1"],
  },
  {
    name: "an fname that moves to another fid",
    given: [fname(1, "moved", 9000)],
    ops: [{ ...at, kind: "proof", removed: fname(1, "moved", 9000).bytes, added: fname(2, "moved").bytes }],
    events: ["user.updated 1", "user.updated 2"],
  },
  {
    name: "a proof of an fname again",
    given: [fname(1, "same", 9000)],
    ops: [{ ...at, kind: "proof", added: fname(1, "same", 9000).bytes }],
    events: [],
  },
  {
    name: "an fname that moves without a word of its proof before",
    given: [fname(1, "moved", 9000)],
    ops: [{ ...at, kind: "proof", added: fname(2, "moved").bytes }],
    events: ["user.updated 1", "user.updated 2"],
  },
  {
    name: "an fname that is proved again for its holder",
    given: [fname(1, "kept", 9000)],
    ops: [{ ...at, kind: "proof", added: fname(1, "kept").bytes }],
    events: ["user.updated 1"],
  },
  {
    name: "an fname that is released, and taken again",
    given: [fname(1, "free", 9000)],
    ops: [
      { ...at, kind: "proof", added: fname(0, "free", 10).bytes },
      { ...at, kind: "proof", added: fname(2, "free").bytes },
    ],
    events: ["user.updated 1", "user.updated 2"],
  },
  {
    name: "a proof that leaves, of which another one is shown, and one that is shown",
    given: [fname(1, "mine", 1000)],
    ops: [
      { ...at, kind: "proof", removed: fname(1, "mine", 9000).bytes },
      { ...at, kind: "proof", removed: fname(1, "mine", 1000).bytes },
    ],
    events: ["user.updated 1"],
  },
  {
    name: "an older proof of an fname",
    given: [fname(1, "late", 1000)],
    ops: [{ ...at, kind: "proof", added: fname(2, "late", 9000).bytes }],
    events: [],
  },
  {
    name: "a registration",
    ops: [registration],
    events: ["user.created 50"],
  },
  {
    name: "a registration again",
    ops: [registration, registration],
    events: ["user.created 50"],
  },
  {
    name: "a registration, and a cast after it",
    ops: [registration, merge(cast(1, "new"))],
    events: ["user.created 50", "cast.created 1 new"],
  },
];

function startEngine(given: readonly EncodedRecord[] = []) {
  const node = startTestNode();
  for (const fid of [1, 2]) node.ingestAll(accountRecords(fid));
  node.merge(given);
  expect(takeEvents(node.db)).toEqual([]);
  const engine = createIngestEngine({
    db: node.db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: node.clock,
    onFault: (cause) => {
      throw cause;
    },
  });
  return { node, engine };
}

describe("events of relayed operations", () => {
  test.each(CASES.map((row) => [row.name, row] as const))("%s", (_name, { given, ops, events }) => {
    const { node, engine } = startEngine(given);
    engine.applyRelayed({ ops, positions: [] });
    expect(takeEvents(node.db).map(inWords)).toEqual([...events]);
    node[Symbol.dispose]();
  });

  test.each(CASES.map((row) => [row.name, row] as const))(
    "no event if it is history: %s",
    (_name, { given, ops }) => {
      const { node, engine } = startEngine(given);
      const happenedAt = DEFAULT_NOW_SECS - MAX_EVENT_AGE_SECS - 1;
      engine.applyRelayed({ ops: ops.map((op) => ({ ...op, happenedAt })), positions: [] });
      expect(takeEvents(node.db)).toEqual([]);
      node[Symbol.dispose]();
    },
  );

  test("reading the upstream's state produces no events, not even for recent messages", () => {
    const { node, engine } = startEngine();
    engine.applyRelayed({ ops: [{ ...hold(cast(1, "new")), happenedAt: 0 }], positions: [] });
    expect(takeEvents(node.db)).toEqual([]);
    node[Symbol.dispose]();
  });

  test("an event has the same id as on a node that merges the record itself", () => {
    const { node, engine } = startEngine([fname(1, "moved", 9000)]);
    using other = startTestNode();
    for (const fid of [1, 2]) other.ingestAll(accountRecords(fid));
    const records = [cast(1, "a"), bio(1, "b"), link(1, "follow", 2)];
    other.merge(records);
    engine.applyRelayed({ ops: records.map((record) => merge(record)), positions: [] });
    const ids = (db: typeof node.db) => takeEvents(db).map(({ eventId }) => eventId.toHex());
    expect(ids(node.db)).toEqual(ids(other.db));
    node[Symbol.dispose]();
  });
});
