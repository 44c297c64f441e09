import { expect, test } from "bun:test";
import fc from "fast-check";
import { type IndexDatabase, openIndexInMemory } from "../../../../src/db/index/database.ts";
import { allMessages } from "../../../../src/db/index/messages/live-messages.ts";
import { SCANS, scanMessages } from "../../../../src/db/index/upgrade/scan-messages.ts";
import type { EncodedRecord } from "../../../../src/ingest/record.ts";
import { decodeMessage } from "../../../../src/protocol/message/signed-message.ts";
import { FarcasterNetwork } from "../../../../src/protocol/wire/generated/message.ts";
import { ANCHOR_SECS } from "../../../demo/records.ts";
import { mixedRecords } from "../../../support/mixed-records.ts";
import { accountRecords, startTestNode } from "../../../support/node.ts";
import { oddMessages } from "../../../support/odd-messages.ts";

const MAINNET = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;

const hex = (bytes: Uint8Array) => bytes.toHex();
const scanned = (db: IndexDatabase) => scanMessages(db, MAINNET).map(hex).toArray();
const live = (db: IndexDatabase) => allMessages(db, MAINNET).map((message) => hex(message.encode()));

test("gives messages in odd encodings byte for byte", () => {
  using node = startTestNode();
  node.ingestAll(accountRecords(7, 10));
  const sent = oddMessages(7);
  for (const bytes of sent) expect(node.ingestMessage(bytes)).toBe("ok");
  expect(scanned(node.db).sort()).toEqual(sent.map(hex).sort());
});

test("gives every live message once, whatever the order of their arrival", () => {
  const records = mixedRecords({ fids: 3, perType: 4 });
  const accounts = records.filter(({ kind }) => kind !== "message");
  const messages = records.filter(({ kind }) => kind === "message");
  const numbers = Array.from(messages.keys());
  fc.assert(
    fc.property(fc.shuffledSubarray(numbers), (arriving) => {
      using node = startTestNode({ nowSecs: ANCHOR_SECS });
      node.ingestAll(accounts);
      for (const n of arriving) node.ingest(messages[n] as EncodedRecord);
      expect(scanned(node.db).sort()).toEqual(live(node.db).toArray().sort());
    }),
    { numRuns: 5 },
  );
});

test("reads the envelopes of each table in their order", () => {
  using node = startTestNode({ nowSecs: ANCHOR_SECS });
  node.ingestAll(mixedRecords({ fids: 5, perType: 20 }).toSorted(accountsFirst));
  const { sqlite } = node.db;
  const envelopes = sqlite.query<{ id: number; signature: Uint8Array }, []>("SELECT * FROM envelopes").all();
  const ids = new Map(envelopes.map(({ id, signature }) => [hex(signature), id]));
  const byType = Map.groupBy(
    scanMessages(node.db, MAINNET).flatMap((bytes) => {
      const message = decodeMessage(bytes);
      const id = message.ok ? ids.get(hex(message.value.signature)) : undefined;
      return message.ok && id !== undefined ? [{ id, type: message.value.data.type }] : [];
    }),
    ({ type }) => type,
  );
  expect(byType.size).toBe(4);
  for (const [type, all] of byType)
    expect(
      all.map(({ id }) => id),
      `type ${type}`,
    ).toEqual(all.map(({ id }) => id).sort((a, b) => a - b));
});

/** Puts messages behind everything else, the latest first, so that their order is not that of their rows. */
function accountsFirst(a: { kind: string }, b: { kind: string }): number {
  if (a.kind === "message" && b.kind === "message") return -1;
  return Number(a.kind === "message") - Number(b.kind === "message");
}

/** The steps of a plan, indented by their depth. */
function planOf(db: IndexDatabase, sql: string): string[] {
  const depths = new Map([[0, -1]]);
  return db.sqlite
    .query<{ id: number; parent: number; detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ id, parent, detail }) => {
      const depth = (depths.get(parent) ?? -1) + 1;
      depths.set(id, depth);
      return "  ".repeat(depth) + detail;
    });
}

/** Steps that follow a sort by the ids of envelopes. */
const ENVELOPES_IN_ORDER = [
  "  USE TEMP B-TREE FOR GROUP BY",
  "SCAN t",
  "SEARCH e USING INTEGER PRIMARY KEY (rowid=?)",
  "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)",
];

test.each([
  [
    "casts",
    [
      "CO-ROUTINE t",
      "  CO-ROUTINE (subquery-3)",
      "    COMPOUND QUERY",
      "      LEFT-MOST SUBQUERY",
      "        SCAN c",
      "      UNION ALL",
      "        CO-ROUTINE p",
      "          SEARCH b USING COVERING INDEX casts_by_parent_url (parent_url_id>?)",
      "          SEARCH u USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
      "          USE TEMP B-TREE FOR GROUP BY",
      "        SCAN p",
      "        SEARCH c USING INTEGER PRIMARY KEY (rowid=?)",
      "  SCAN (subquery-3)",
      ...ENVELOPES_IN_ORDER,
    ],
  ],
  [
    "reactions",
    [
      "CO-ROUTINE t",
      "  CO-ROUTINE r",
      "    SCAN reactions",
      "    USE TEMP B-TREE FOR GROUP BY",
      "  SCAN r",
      "  SEARCH c USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
      "  SEARCH m USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
      "  SEARCH u USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
      ...ENVELOPES_IN_ORDER,
    ],
  ],
  ["links", ["CO-ROUTINE t", "  SCAN links", ...ENVELOPES_IN_ORDER]],
  ["userData", ["CO-ROUTINE t", "  SCAN user_data", ...ENVELOPES_IN_ORDER]],
  ["others", ["SCAN t", "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)"]],
] as const)("scans %s in the order of the table, and looks up in sorted order only", (table, steps) => {
  using db = openIndexInMemory();
  expect(planOf(db, SCANS[table])).toEqual([...steps]);
});

test("sorts into files only while it scans, also if it ends early", () => {
  using node = startTestNode({ nowSecs: ANCHOR_SECS });
  node.ingestAll(mixedRecords());
  const tempStore = () => node.db.sqlite.query("PRAGMA temp_store").values();
  const before = tempStore();
  const messages = scanMessages(node.db, MAINNET);
  messages.next();
  expect(tempStore()).toEqual([[1]]);
  messages.return(undefined);
  expect(tempStore()).toEqual(before);
});
