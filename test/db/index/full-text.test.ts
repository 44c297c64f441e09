import { expect, test } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import {
  deleteFullText,
  lacksFullText,
  rebuildFullText,
  turnOffFullText,
} from "../../../src/db/index/search/full-text.ts";
import { createIngestEngine } from "../../../src/ingest/engine.ts";
import { decodeRecord, type EncodedRecord } from "../../../src/ingest/record.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { bulkFill } from "../../support/bulk-fill.ts";
import { ManualClock } from "../../support/clock.ts";
import { contentDifferences, indexContent } from "../../support/index-content.ts";
import { DEFAULT_NOW_SECS } from "../../support/messages.ts";
import { accountRecords } from "../../support/node.ts";
import { cast, uncast } from "../../support/records.ts";
import { expectOk } from "../../support/result.ts";
import { wildMessages } from "../../support/wild-network.ts";

function index() {
  const db = openIndexInMemory();
  claimNetwork(db, "mainnet");
  const engine = createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    onFault: (cause) => {
      throw cause;
    },
  });
  const apply = (records: readonly EncodedRecord[]) => {
    const outcomes = engine.apply(records.map((record) => expectOk(decodeRecord(record))));
    expect(outcomes.filter((outcome) => outcome)).toEqual([]);
  };
  return { db, apply };
}

const indexed = (db: IndexDatabase) => db.sqlite.query("SELECT rowid FROM casts_fts").all().length;
const TEXTS = ["bread and butter", "パンとバター", "Brot", "хлеб и масло", "fresh bread every morning", ""];

test("switched off nothing is indexed; built again it equals an index that was never switched off", () => {
  const on = index();
  const off = index();
  const first = TEXTS.map((text, n) => cast(5, `${text} first ${n}`));
  const later = TEXTS.map((text, n) => cast(5, `${text} later ${n}`));
  const removals = [...first.slice(0, 2), ...later.slice(0, 2)].map((one) => uncast(5, one));
  for (const { apply } of [on, off]) apply([...accountRecords(5), ...first]);
  turnOffFullText(off.db);
  off.db.search.isOn = false;
  for (const { apply } of [on, off]) {
    apply(later);
    apply(removals);
  }
  expect(indexed(off.db)).toBe(first.length);
  deleteFullText(off.db);
  expect(indexed(off.db)).toBe(0);
  expect(lacksFullText(off.db)).toBe(true);

  off.db.search.isOn = true;
  while (rebuildFullText(off.db)) expect(lacksFullText(off.db)).toBe(true);
  expect(lacksFullText(off.db)).toBe(false);
  expect(contentDifferences(indexContent(on.db), indexContent(off.db))).toEqual([]);
  for (const { apply } of [on, off]) apply([cast(5, "bread again")]);
  expect(contentDifferences(indexContent(on.db), indexContent(off.db))).toEqual([]);
});

test("switched off while a build fills it, it lacks casts, and is built when it is switched on again", () => {
  const messages = wildMessages("full text", 1500);
  const fill = (stopsSearch: boolean) => {
    const db = openIndexInMemory();
    claimNetwork(db, "mainnet");
    const { bulk, next } = bulkFill(db, messages, 500);
    while (bulk.phase === "spooling" && next());
    let inSearch = 0;
    for (let step = bulk.step(); step; step = bulk.step()) {
      if (step.stage !== "search" || ++inSearch !== 3 || !stopsSearch) continue;
      turnOffFullText(db);
      db.search.isOn = false;
    }
    expect(inSearch).toBeGreaterThanOrEqual(3);
    return db;
  };
  const whole = fill(false);
  const stopped = fill(true);
  expect(lacksFullText(stopped)).toBe(true);
  stopped.search.isOn = true;
  while (rebuildFullText(stopped));
  expect(contentDifferences(indexContent(whole), indexContent(stopped))).toEqual([]);
});
