import { Database, type SQLQueryBindings } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { IndexDatabase } from "../../src/db/index/database.ts";
import { markDirty, storedAccountsAfter } from "../../src/db/index/trie/account-roots.ts";
import { putOpaque } from "../../src/db/index/trie/opaque.ts";
import { seededRandom } from "../../src/demo/random.ts";
import { createRootKeeper } from "../../src/ingest/trie/root-keeper.ts";
import { NO_BUDGET } from "../../src/ingest/trie/work-budget.ts";
import { verifyRoots } from "../../src/upstream/verify/verify-roots.ts";
import { IS_LONG } from "../support/long.ts";
import { type FollowedRecording, followToEnd } from "../support/upstream/follow-recorded.ts";
import { RECORDED_NETWORK } from "../support/upstream/recorded-index.ts";

const DAMAGES = IS_LONG ? 1500 : 150;
const SEED = process.env.DAMAGE_SEED ?? "damaged rows";
const signal = new AbortController().signal;

/** What the roots follow from. The contents of an event beside its place are in no key. */
const COLUMNS: readonly (readonly [table: string, column: string])[] = [
  ["casts", "hash"],
  ["reactions", "timestamp"],
  ["links", "target_fid"],
  ["user_data", "value"],
  ["messages", "data"],
  ["on_chain_events", "bytes"],
  ["trie_accounts", "account"],
  ["trie_accounts", "root"],
  ["trie_accounts", "kinds"],
  ["trie_accounts", "shard"],
  ["trie_corrections", "key"],
  ["trie_corrections", "present"],
  ["trie_opaque", "root"],
  ["chain_heads WHERE shard > 0", "root"],
  ["chain_heads WHERE shard > 0", "height"],
  ["chain_heads WHERE shard > 0", "certified"],
  ["trie_dirty", "account"],
  ["trie_dirty", "kind"],
];

let followed: FollowedRecording & Disposable;
/** An index that is proven, and one of which an account waits and another has an opaque child. */
let [whole, waiting]: Uint8Array[] = [];
beforeAll(async () => {
  followed = await followToEnd("fourValidators", { roots: "full" });
  whole = followed.db.sqlite.serialize();
  for (const { account } of storedAccountsAfter(followed.db, 1, new Uint8Array(), 2)) {
    markDirty(followed.db, 1, account, 8);
    putOpaque(followed.db, { shard: 1, account, nibble: 8, root: new Uint8Array(20), keys: 1 });
  }
  waiting = followed.db.sqlite.serialize();
}, 60_000);
afterAll(() => followed[Symbol.dispose]());

test("whatever a row of an index is damaged to, verify --roots ends and does not find it proven, and roots are computed again", async () => {
  const random = seededRandom(SEED);
  const found: string[] = [];
  for (let damage = 0; damage < DAMAGES; damage++) {
    const [from, column] = random.pick(COLUMNS);
    const [table = ""] = from.split(" ");
    const isWaiting = table === "trie_opaque" || table === "trie_dirty";
    using db = new IndexDatabase(Database.deserialize((isWaiting ? waiting : whole) ?? new Uint8Array()));
    const rows = db.sqlite.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${from}`).get()?.count;
    if (!rows) continue;
    const at = random.below(rows);
    const columns = db.sqlite.query<{ name: string; pk: number }, []>(`PRAGMA table_info(${table})`).all();
    const keys = columns.filter(({ pk }) => pk > 0).map(({ name }) => name);
    const row = db.sqlite
      .query<Record<string, SQLQueryBindings>, []>(`SELECT * FROM ${from} LIMIT 1 OFFSET ${at}`)
      .get();
    if (!row) continue;
    const before = row[column];
    const value = table === "on_chain_events" ? new Uint8Array(70_000) : damaged(before);
    const where = keys.map((key) => `${key} = ?`).join(" AND ");
    try {
      db.sqlite.run(`UPDATE ${table} SET ${column} = ? WHERE ${where}`, [
        value,
        ...keys.map((key) => row[key] as SQLQueryBindings),
      ]);
    } catch {
      // The table's own rules refuse the value.
      continue;
    }
    const what = `${damage}: ${table}.${column} from ${shown(before)} to ${shown(value)}`;
    try {
      const { shards, differing } = await verifyRoots(db, signal);
      if (!isWaiting && differing === 0 && shards.every(({ verdict }) => verdict === "proven"))
        found.push(`${what}: proven`);
      recomputeAll(db);
    } catch (cause) {
      found.push(
        `${what}: ${cause instanceof Error ? (cause.stack ?? "").split("\n").slice(0, 3).join(" | ") : cause}`,
      );
    }
  }
  expect(found).toEqual([]);

  function damaged(before: unknown): SQLQueryBindings {
    if (!(before instanceof Uint8Array))
      return random.pick([-1, 0, 1, 2 ** 31, 2 ** 53 - 1].filter((one) => one !== before));
    const bytes = Uint8Array.from(before);
    switch (random.below(4)) {
      case 0:
        return bytes.subarray(0, random.below(bytes.length));
      case 1:
        return Buffer.concat([bytes, Buffer.alloc(1 + random.below(2000), 7)]);
      case 2:
        return new Uint8Array(random.below(2) * 70_000);
      default: {
        const place = random.below(bytes.length);
        bytes[place] = (bytes[place] as number) ^ (1 << random.below(8));
        return bytes;
      }
    }
  }
});

/** Computes each kind of each account of the home shards again, as after a block, and compares the shards. */
function recomputeAll(db: IndexDatabase): void {
  const roots = createRootKeeper({
    db,
    network: RECORDED_NETWORK,
    budget: NO_BUDGET,
    maxKeysAtOnce: Number.POSITIVE_INFINITY,
  });
  for (const shard of [1, 2]) {
    const accounts = storedAccountsAfter(db, shard, new Uint8Array(), 1000);
    const kinds = accounts.flatMap(({ account }) => [1, 3, 8].map((kind) => ({ shard, account, kind })));
    roots.update({ shard, kinds, claimedRoots: [], nowSecs: 0 });
  }
}

function shown(value: unknown): string {
  return value instanceof Uint8Array ? `${value.length} bytes` : String(value);
}
