/**
 * Fills an index with the data from which scores are computed, for `bench scores`. Arguments: the data directory, accounts,
 * and follows and acts per account. Popularity is skewed: a thousandth of the accounts has a tenth of the follows.
 */
import { mkdirSync } from "node:fs";
import { indexPath, openIndexWriter } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { LinkType } from "../../src/db/index/messages/columns.ts";
import { seededRandom } from "../../src/demo/random.ts";

const [dataDir = "", ...numbers] = process.argv.slice(2);
const [accounts = 0, follows = 0, acts = 0] = numbers.map(Number);
const NOW_SECS = Math.floor(Date.now() / 1000);
const YEAR_SECS = 365 * 86_400;
const KINDS = 4;

mkdirSync(dataDir, { recursive: true });
using db = openIndexWriter(indexPath(dataDir));
claimNetwork(db, "mainnet");
const { sqlite } = db;
sqlite.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -262144");
// Rebuilt at the end, which is faster; the other indexes are not.
const indexes = sqlite
  .query<{ name: string; sql: string }, []>(
    "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name IN ('links', 'notifications') AND sql IS NOT NULL",
  )
  .all();
for (const { name } of indexes) sqlite.exec(`DROP INDEX ${name}`);
const numbered = (count: number) =>
  `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${count})`;
sqlite.exec(
  `INSERT INTO fids (fid, registered_at) ${numbered(accounts)} SELECT n + 1, ${NOW_SECS - 3 * YEAR_SECS} FROM numbers`,
);
sqlite.exec(
  `INSERT OR IGNORE INTO links (fid, type, target_fid, timestamp, envelope_id) ${numbered(accounts * follows)},
   drawn AS (SELECT n / ${follows} + 1 AS fid,
     (n % ${follows} + ((n / ${follows}) * 618033989 % 1000000007) / 1000000007.0) / ${follows} AS u FROM numbers)
   SELECT fid, ${LinkType.Follow}, 1 + CAST(${accounts} * u * u * u AS INTEGER), ${NOW_SECS} - fid, fid FROM drawn`,
);
const { next: random } = seededRandom("score index");
const insert = sqlite.prepare(
  "INSERT OR IGNORE INTO notifications (fid, timestamp, kind, actor_fid, ref) VALUES (?, ?, ?, ?, ?)",
);
sqlite.transaction(() => {
  // As many acts towards each account as if it were chosen by the cube of a uniform number.
  const chosen = (account: number) => Math.floor(accounts * acts * Math.cbrt(account / accounts));
  for (let fid = 1; fid <= accounts; fid++) {
    const count = chosen(fid) - chosen(fid - 1);
    for (let act = 0; act < count; act++) {
      const at = NOW_SECS - YEAR_SECS + Math.floor(((act + 1) / (count + 1)) * YEAR_SECS);
      insert.run(fid, at, 1 + (act % KINDS), 1 + Math.floor(accounts * random()), act);
    }
  }
})();
for (const { name, sql } of indexes) if (name.includes("by_target")) sqlite.exec(sql);
db.checkpoint();
