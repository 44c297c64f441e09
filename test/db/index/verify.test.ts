import { Database, type SQLQueryBindings } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claimSource } from "../../../src/db/index/identity.ts";
import { BUILT_TABLES } from "../../../src/db/index/upgrade/tables.ts";
import { COMPARED, compareTables, comparison } from "../../../src/db/index/verify/compare-tables.ts";
import { verifyIndex } from "../../../src/db/index/verify/verify.ts";
import { StorageError } from "../../../src/db/sqlite/storage-error.ts";
import { DEMO_REGISTRAR, followUriOf } from "../../../src/protocol/channels/follow-uri.ts";
import { ANCHOR_SECS } from "../../demo/records.ts";
import { fnameProof, REGISTRY_PROOF } from "../../support/events.ts";
import { mixedRecords } from "../../support/mixed-records.ts";
import { proofRecord, startTestNode } from "../../support/node.ts";
import { oddMessages } from "../../support/odd-messages.ts";
import { likeUrl } from "../../support/records.ts";
import { temporaryIndex } from "../../support/temporary-index.ts";
import { startTestWriter } from "../../support/writer.ts";

/** Tables with messages and records. A row that they lack is missing from what is built from them, too. */
const SOURCES = [
  ...["on_chain_events", "username_proofs", "urls", "missing_casts"],
  ...["messages", "casts", "reactions", "links", "user_data"],
];

/** Returns where the first page of a table is in the file. */
function placeOf(path: string, table: string): { readonly at: number; readonly bytes: number } {
  using db = new Database(path);
  const sql = `SELECT (rootpage - 1) * page_size AS at, page_size AS bytes FROM sqlite_schema, pragma_page_size WHERE name = ?`;
  const place = db.query<{ at: number; bytes: number }, [string]>(sql).get(table);
  if (!place) throw new Error(`the index has no table ${table}`);
  return place;
}

describe("verifyIndex", () => {
  test.each([
    [
      "a row of envelopes is missing",
      "DELETE FROM envelopes WHERE id = (SELECT max(id) FROM envelopes)",
      "envelopes",
    ],
    ["a signer is missing", "DELETE FROM message_signers WHERE id = 1", "message_signers"],
    [
      "the data of an envelope are unreadable",
      "UPDATE envelopes SET data = zeroblob(9) WHERE data IS NOT NULL",
      "casts",
    ],
    ["the data of a message are unreadable", "UPDATE messages SET data = zeroblob(9)", "messages"],
    [
      "a row has the envelope of a message of another table",
      `UPDATE links SET envelope_id = (SELECT r.envelope_id FROM reactions r JOIN envelopes e ON e.id = r.envelope_id
         WHERE e.data IS NOT NULL LIMIT 1)`,
      "links",
    ],
    [
      "an on-chain event has the log index of another",
      "UPDATE on_chain_events SET log_index = log_index + 1000 WHERE type = 3",
      "on_chain_events",
    ],
    [
      "an on-chain event has another block time",
      "UPDATE on_chain_events SET block_timestamp = block_timestamp + 1",
      "on_chain_events",
    ],
    [
      "a person lacks words",
      "INSERT OR REPLACE INTO people_fts (rowid, words) SELECT min(fid), 'other' FROM user_data WHERE type = 2",
      "people_fts",
    ],
    [
      "a cast names a root URL that no table has",
      "UPDATE casts SET root_url_id = 999 WHERE root_url_id IS NULL",
      "casts",
    ],
    [
      "an envelope belongs to no message",
      "INSERT INTO envelopes (signer_id, signature) VALUES (1, zeroblob(64))",
      "envelopes",
    ],
    [
      "the bytes of an on-chain event are unreadable",
      "UPDATE on_chain_events SET bytes = x'ff' WHERE type = 3",
      "on_chain_events",
    ],
  ])("names the table when %s", async (_name, sql, table) => {
    using writer = await startTestWriter(7);
    await writer.submit(...oddMessages(7).map((bytes) => ({ kind: "message" as const, bytes })));
    expect(verifyIndex(writer.db.file)).toEqual([]);
    expect(writer.db.sqlite.run(sql).changes).toBeGreaterThan(0);
    expect(verifyIndex(writer.db.file).map((difference) => difference.table)).toContain(table);
  });

  test("names each derived table that lacks a row", () => {
    using node = startTestNode({ nowSecs: ANCHOR_SECS });
    node.ingestAll(mixedRecords({ fids: 6, perType: 6 }));
    const { sqlite } = node.db;
    expect(verifyIndex(node.db.file)).toEqual([]);
    const empty: string[] = [];
    for (const table of Object.keys(COMPARED).filter((one) => !SOURCES.includes(one))) {
      const row = sqlite.query<Record<string, SQLQueryBindings>, []>(`SELECT * FROM ${table} LIMIT 1`).get();
      if (!row) {
        empty.push(table);
        continue;
      }
      const [names, values] = [Object.keys(row), Object.values(row)];
      sqlite.run(`DELETE FROM ${table} WHERE ${names.map((name) => `${name} IS ?`).join(" AND ")}`, values);
      const found = verifyIndex(node.db.file).map((difference) => difference.table);
      expect(found, table).toContain(table);
      sqlite.run(`INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => "?").join()})`, values);
    }
    expect(verifyIndex(node.db.file)).toEqual([]);
    // These accounts have no such records.
    expect(empty).toEqual(["pro_tiers", "storage_lends", "mutual_follows"]);
  });

  test.each([
    ["the root of another thread", "UPDATE casts SET root_id = id WHERE root_id IS NOT NULL", "casts"],
    ["a parent that no table has", "UPDATE casts SET parent_id = -999 WHERE parent_id IS NOT NULL", "casts"],
    ["a quoted cast that no table has", "UPDATE cast_quotes SET quoted_id = -999", "cast_quotes"],
    ["counts of another cast", "UPDATE cast_counts SET id = id + 65536", "cast_counts"],
    [
      "notifications of another cast",
      "UPDATE notifications SET ref = ref + 1 WHERE ref != 0",
      "notifications",
    ],
  ])("names the table with %s", (_name, sql, table) => {
    using node = startTestNode({ nowSecs: ANCHOR_SECS });
    node.ingestAll(mixedRecords({ fids: 6, perType: 6 }));
    expect(node.db.sqlite.run(sql).changes).toBeGreaterThan(0);
    expect(verifyIndex(node.db.file).map((difference) => difference.table)).toContain(table);
  });

  test.each([
    ["cast_mentions", "cast_id"],
    ["cast_embed_urls", "cast_id"],
    ["cast_quotes", "cast_id"],
    ["notifications", "ref"],
    ["thread_notifications", "ref"],
  ])(
    "names %s if a row has an id that no cast has, but that a cast would get in a new index",
    (table, column) => {
      using node = startTestNode({ nowSecs: ANCHOR_SECS });
      node.ingestAll(mixedRecords({ fids: 6, perType: 6 }));
      const { sqlite } = node.db;
      const sql = `SELECT ${column} AS id FROM ${table} t WHERE ${column} IN (SELECT id FROM casts)
      AND NOT EXISTS (SELECT 1 FROM casts c WHERE c.id = t.${column} + 1) LIMIT 1`;
      const id = sqlite.query<{ id: number }, []>(sql).get()?.id ?? 0;
      // As after another cast had the id first, which is deleted now.
      for (const [each, parts] of Object.entries(COMPARED))
        for (const { castIds = [], where = "1" } of parts)
          for (const of of castIds)
            sqlite.run(`UPDATE ${each} SET ${of} = ${of} + 1 WHERE ${of} = ? AND ${where}`, [id]);
      sqlite.run("DELETE FROM casts_fts WHERE rowid = ?", [id]);
      sqlite.run("INSERT INTO casts_fts (rowid, text) VALUES (?, '')", [id + 1]);
      expect(verifyIndex(node.db.file)).toEqual([]);
      const set = `UPDATE ${table} SET ${column} = ${column} - 1 WHERE ${column} = ?`;
      expect(sqlite.run(set, [id + 1]).changes).toBeGreaterThan(0);
      expect(verifyIndex(node.db.file).map((difference) => difference.table)).toEqual([table]);
    },
  );

  describe("proofs of names, which no message contains", () => {
    const damage = [
      ["another name", "name = 'farcasteR'"],
      ["another owner", "owner = x'8773442740c17c9d0f0b87022c722f9a136206ee'"],
      ["another signature", "signature = zeroblob(65)"],
      ["a short signature", "signature = substr(signature, 1, 64)"],
      ["another time", "timestamp = timestamp + 1"],
      ["another type", "type = 3"],
      ["the time of a message", "message_timestamp = 1"],
      ["the hash of a message", "message_hash = zeroblob(20)"],
    ] as const;

    /** The index of a node that follows mainnet, or of one that its operator fills. */
    function nodeWithNames({ follows }: { follows: boolean }) {
      const node = startTestNode();
      if (follows) node.db.transaction(() => claimSource(node.db, { follows }));
      node.ingestAll([proofRecord(REGISTRY_PROOF)]);
      return node;
    }

    test.each(damage)("names the table when a proof that the name server has signed has %s", (_name, set) => {
      using node = nodeWithNames({ follows: true });
      expect(verifyIndex(node.db.file)).toEqual([]);
      expect(node.db.sqlite.run(`UPDATE username_proofs SET ${set}`).changes).toBe(1);
      expect(verifyIndex(node.db.file).map(({ table }) => table)).toContain("username_proofs");
    });

    test("finds nothing in fnames that the operator has added unsigned, unless their form is wrong", () => {
      using node = nodeWithNames({ follows: false });
      node.ingestAll([proofRecord(fnameProof("unsigned", 2, REGISTRY_PROOF.owner, 1_700_000_000))]);
      expect(verifyIndex(node.db.file)).toEqual([]);
      node.db.sqlite.run("UPDATE username_proofs SET owner = x'00' WHERE fid = 2");
      expect(verifyIndex(node.db.file)).toEqual([{ table: "username_proofs", missing: 0, extra: 1 }]);
    });
  });

  test("names the index if its file cannot be read, and leaves no scratch database", () => {
    using node = startTestNode({ nowSecs: ANCHOR_SECS });
    node.ingestAll(mixedRecords({ fids: 6, perType: 6 }));
    const path = join(node.dir, "damaged.db");
    node.db.sqlite.run("VACUUM INTO ?", [path]);
    const { at, bytes } = placeOf(path, "channel_members");
    const contents = readFileSync(path);
    contents.fill(0xff, at, at + bytes);
    writeFileSync(path, contents);
    expect(() => verifyIndex(path)).toThrow(StorageError);
    expect(() => verifyIndex(path)).toThrow(`${path}: database disk image is malformed`);
    expect(readdirSync(node.dir).filter((name) => name.includes("verify"))).toEqual([]);
  });

  test("compares every table that is built from messages and events", () => {
    const others = ["message_signers", "envelopes", "casts_fts", "people_fts"];
    expect(BUILT_TABLES.filter((table) => !(table in COMPARED) && !others.includes(table))).toEqual([]);
  });

  test("looks up only ids in their order, and keeps no set of rows in memory", () => {
    using built = temporaryIndex();
    using live = temporaryIndex();
    built.db.sqlite.prepare("ATTACH DATABASE ? AS live").run(live.path);
    compareTables(built.db);
    for (const [table, parts] of Object.entries(COMPARED))
      for (const part of parts) {
        const { fresh, live: sql } = comparison(built.db, table, part);
        const plan = [fresh, sql].flatMap((one) =>
          built.db.sqlite.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${one}`).all(),
        );
        const steps = plan.map(({ detail }) => detail);
        const ids = (part.castIds ?? []).length + (part.urlIds ?? []).length;
        expect(
          steps.filter(
            (step) => !/^(SCAN|CO-ROUTINE) /.test(step) && step !== "USE TEMP B-TREE FOR GROUP BY",
          ),
          table,
        ).toEqual(
          Array.from({ length: ids }, () => "SEARCH m USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"),
        );
        expect(steps.filter((step) => step.startsWith("USE TEMP")).length, table).toBe(ids);
      }
  });

  test("finds nothing in an index with likes of URLs that may be follows of channels", async () => {
    using writer = await startTestWriter(7);
    const url = followUriOf(DEMO_REGISTRAR, new Uint8Array(32).fill(1)) ?? "";
    await writer.submit(...[url, "eip155:1/erc721:0x00/1"].map((liked) => likeUrl(7, liked)));
    expect(verifyIndex(writer.db.file)).toEqual([]);
  });
});
