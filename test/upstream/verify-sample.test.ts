import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Client } from "@grpc/grpc-js";
import fc from "fast-check";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import { Store } from "../../src/protocol/message/merge-rules.ts";
import { createUpstreamClient, type UpstreamClient } from "../../src/upstream/calls/client.ts";
import { connectUpstream } from "../../src/upstream/calls/connection.ts";
import {
  compareFids,
  type FidDifferences,
  knownFids,
  sampleOf,
} from "../../src/upstream/verify/verify-sample.ts";
import { makeChain } from "../support/upstream/chain.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { UpstreamServer } from "../support/upstream/server.ts";

const TICKS = 90;
const chain = makeChain("verify", TICKS);
const node = new UpstreamNode(chain);
const server = new UpstreamServer(node);
/** The index of a node that has received everything. */
const db: IndexDatabase = chain.reference.db;
let connection: Client;
let client: UpstreamClient;

beforeAll(async () => {
  node.produce(TICKS);
  await server.start();
  connection = connectUpstream(server.url);
  const pace = { callTimeoutMs: 60_000, stallMs: 60_000 };
  client = createUpstreamClient(connection, pace, new AbortController().signal);
});
afterAll(() => {
  connection.close();
  server.stop();
});
beforeEach(() => db.sqlite.exec("BEGIN"));
afterEach(() => db.sqlite.exec("ROLLBACK"));

async function compare(fids: readonly number[], settle = async () => {}): Promise<readonly FidDifferences[]> {
  const { compared, differences } = await compareFids(
    { client, db, concurrency: 8, settle, nameServer: undefined },
    fids,
  );
  expect(compared).toBe(fids.length);
  return differences;
}

/** Runs `change` on the index, compares, and undoes it. */
async function comparedAfter(change: () => void, fid: number): Promise<readonly FidDifferences[]> {
  db.sqlite.exec("SAVEPOINT change");
  change();
  const differences = await compare([fid]);
  db.sqlite.exec("ROLLBACK TO change");
  return differences;
}

const isCompared = `store NOT IN (${Store.UsernameProofs}, ${Store.GaslessKeys})`;
/** Every row that comes from the upstream, with its name in a difference. */
const ROWS: readonly [table: string, key: string, where: string, named: RegExp][] = [
  [
    "messages",
    "id",
    isCompared,
    /^(Casts|Links|Reactions|UserData|Verifications|StorageLends) 0x[0-9a-f]{40}$/,
  ],
  ["on_chain_events", "bytes", "fid > 0", /^EVENT_TYPE_\w+ of block \d+, log \d+$/],
  ["username_proofs", "name", "fid > 0", /^proof of the name ".+" of \d+$/],
  ["gasless_keys", "key", "fid > 0", /^gasless key 0x[0-9a-f]{64}$/],
];

/** Without the names that nothing but a stored proof leads to. */
const hiddenNames: readonly unknown[] = chain.reference.hiddenNames();

function rowsOf(table: string, key: string, where: string): { fid: number; at: number | Uint8Array }[] {
  const sql = `SELECT fid, ${key} AS at FROM ${table} WHERE ${where}`;
  const rows = db.sqlite.query<{ fid: number; at: number | Uint8Array }, []>(sql).all();
  return rows.filter(({ at }) => !hiddenNames.includes(at));
}

test("reports no differences if the index equals the upstream", async () => {
  const fids = await knownFids({ client, db });
  expect(fids.length).toBeGreaterThan(5);
  expect(await compare(fids)).toEqual([]);
});

test.each(ROWS)(
  "reports a row that was lost from %s as missing, and nothing else",
  async (table, key, where, named) => {
    const rows = rowsOf(table, key, where);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...rows), async ({ fid, at }) => {
        const lost = () => db.sqlite.query(`DELETE FROM ${table} WHERE ${key} = ?`).run(at);
        const differences = await comparedAfter(lost, fid);
        expect(differences).toEqual([{ fid, missing: [expect.stringMatching(named)], extra: [] }]);
      }),
      { numRuns: 15 },
    );
  },
);

test.each(ROWS)(
  "reports a row of %s that moved to another fid as extra there",
  async (table, key, where, named) => {
    const rows = rowsOf(table, key, where);
    const stranger = 999_999;
    for (const { fid, at } of rows.slice(0, 5)) {
      const moved = () => db.sqlite.query(`UPDATE ${table} SET fid = ? WHERE ${key} = ?`).run(stranger, at);
      const differences = await comparedAfter(moved, stranger);
      expect(differences).toEqual([{ fid: stranger, missing: [], extra: [expect.stringMatching(named)] }]);
      expect(fid).not.toBe(stranger);
    }
  },
);

test("does not report a change in transit, because a later round does not find it", async () => {
  const [row] = rowsOf("messages", "id", isCompared);
  if (!row) throw new Error("the chain has no message");
  db.sqlite.exec("SAVEPOINT late");
  db.sqlite.query("DELETE FROM messages WHERE id = ?").run(row.at);
  let settled = 0;
  const arrives = async () => {
    settled += 1;
    db.sqlite.exec("ROLLBACK TO late");
  };
  expect(await compare([row.fid], arrives)).toEqual([]);
  expect(settled).toBe(1);
});

test("fids that only one side has are among the known fids", async () => {
  db.sqlite.exec("INSERT INTO fids (fid) VALUES (999999)");
  const [{ fid } = { fid: 0 }] = db.sqlite.query<{ fid: number }, []>("SELECT fid FROM fids LIMIT 1").all();
  db.sqlite.query("DELETE FROM fids WHERE fid = ?").run(fid);
  const known = await knownFids({ client, db });
  expect(known).toContain(999_999);
  expect(known).toContain(fid);
});

test("a sample has the requested number of distinct fids, and any fid can be in it", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(), { maxLength: 50 }),
      fc.nat(60),
      fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
      (fids, size, numbers) => {
        const drawn = sampleOf(fids, size, () => numbers.next().value);
        expect(drawn).toHaveLength(Math.min(size, fids.length));
        expect(new Set(drawn).size).toBe(drawn.length);
        expect(new Set(drawn).isSubsetOf(new Set(fids))).toBe(true);
      },
    ),
  );
  const fids = [1, 2, 3, 4];
  const firsts = [0, 0.25, 0.5, 0.75].map((number) => sampleOf(fids, 1, () => number)[0]);
  expect(firsts).toEqual(fids);
});
