import { expect, test } from "bun:test";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import { CastType, FarcasterNetwork, MessageType } from "../../src/protocol/wire/generated/message.ts";
import { ManualClock } from "../support/clock.ts";
import { proEvent } from "../support/events.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";
import { accountRecords, eventRecord } from "../support/node.ts";
import { cast, link, signed } from "../support/records.ts";
import { unverifiedRecords } from "../support/unverified-records.ts";

test("messages wait for one of their store that waits, and for a lend of their fid; others do not", () => {
  using db = openIndexInMemory();
  const engine = createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    // Later than what events are written for.
    clock: new ManualClock(DEFAULT_NOW_SECS + 86_400),
    onFault: (cause) => {
      throw cause;
    },
  });
  const lend = signed(1, {
    type: MessageType.MESSAGE_TYPE_LEND_STORAGE,
    body: { $case: "lendStorageBody", value: { toFid: 2, numUnits: 1, unitType: 2 } },
  });
  const messages: readonly (readonly [EncodedRecord, "spooled" | "deferred"])[] = [
    [cast(1, "a"), "spooled"],
    [cast(1, "a"), "deferred"],
    [cast(1, "after one that waits"), "deferred"],
    [link(1, "follow", 2), "spooled"],
    [cast(2, "b"), "spooled"],
    [lend, "deferred"],
    [link(1, "follow", 3), "deferred"],
    [link(2, "follow", 1), "spooled"],
  ];
  const records = [...accountRecords(1), ...accountRecords(2), ...messages.map(([record]) => record)];
  const batch = {
    records: records.map((record, offset) => ({ record, offset })),
    validated: unverifiedRecords(records),
  };
  const outcomes = engine.spoolImport(batch, [], 100).map((outcome) => outcome ?? "spooled");
  expect(outcomes.slice(-messages.length)).toEqual(messages.map(([, outcome]) => outcome));
});

test("a cast that needs Pro is spooled of a user who has it, and refused of another", () => {
  using db = openIndexInMemory();
  const engine = createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: new ManualClock(DEFAULT_NOW_SECS + 86_400),
    onFault: (cause) => {
      throw cause;
    },
  });
  const long = (fid: number) =>
    signed(fid, {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      body: {
        $case: "castAddBody",
        value: { text: "a".repeat(3000), type: CastType.CAST_TYPE_TEN_K_CAST },
      },
    });
  const pro = eventRecord(proEvent(2, 3650, { block: 900_000 }));
  const records = [
    ...accountRecords(1),
    ...accountRecords(2),
    pro,
    cast(1, "a"),
    cast(2, "b"),
    long(1),
    long(2),
  ];
  const batch = {
    records: records.map((record, offset) => ({ record, offset })),
    validated: unverifiedRecords(records),
  };
  const outcomes = engine.spoolImport(batch, [], 100).slice(-4);
  expect(
    outcomes.map((outcome) => (typeof outcome === "object" ? outcome.code : (outcome ?? "spooled"))),
  ).toEqual(["spooled", "spooled", expect.stringMatching(/^bad_request/), "spooled"]);
});
