import { Store } from "../../../../protocol/merge-rules.ts";
import type { IndexDatabase } from "../../database.ts";
import { type TotalName, TotalsDelta } from "../../totals.ts";
import { bulkStatement } from "../bulk-statement.ts";
import { type BulkStage, oneStep } from "./stage.ts";

const clearStoreCounts = bulkStatement<unknown>("bulk.store-counts.clear", "DELETE FROM store_counts");
/** Live adds of each table, then all other messages. */
const fillStoreCounts = bulkStatement<unknown>(
  "bulk.store-counts.fill",
  `INSERT INTO store_counts (fid, store, used)
   SELECT fid, store, sum(n) FROM (
     SELECT fid, ${Store.Casts} AS store, count(*) AS n FROM casts INDEXED BY casts_by_author GROUP BY fid
     UNION ALL SELECT fid, ${Store.Reactions}, count(*) FROM reactions GROUP BY fid
     UNION ALL SELECT fid, ${Store.Links}, count(*) FROM links GROUP BY fid
     UNION ALL SELECT fid, ${Store.UserData}, count(*) FROM user_data GROUP BY fid
     UNION ALL SELECT fid, store, count(*) FROM messages INDEXED BY messages_by_slot GROUP BY fid, store
   ) GROUP BY fid, store ORDER BY fid, store`,
);
const clearTotals = bulkStatement<unknown>("bulk.totals.clear", "DELETE FROM totals");

const counts = (name: string, sql: string) =>
  bulkStatement<{ fid: number; n: number }>(`bulk.totals.${name}`, sql);

const COUNTS: readonly (readonly [TotalName, ReturnType<typeof counts>])[] = [
  ["messages", counts("messages", "SELECT fid, sum(used) AS n FROM store_counts GROUP BY fid")],
  ["casts", counts("casts", "SELECT fid, count(*) AS n FROM casts INDEXED BY casts_by_author GROUP BY fid")],
  ["reactions", counts("reactions", "SELECT fid, count(*) AS n FROM reactions GROUP BY fid")],
  ["links", counts("links", "SELECT fid, count(*) AS n FROM links GROUP BY fid")],
  [
    "on_chain_events",
    counts("on-chain", "SELECT fid, count(*) AS n FROM on_chain_events GROUP BY type, fid"),
  ],
  ["fids", counts("fids", "SELECT fid, 1 AS n FROM fids")],
];

function buildTotals(db: IndexDatabase): void {
  db.run(clearStoreCounts);
  db.run(fillStoreCounts);
  db.run(clearTotals);
  const totals = new TotalsDelta(db);
  for (const [name, rows] of COUNTS) for (const { fid, n } of db.iterate(rows)) totals.add(name, fid, n);
  totals.flush(db);
}

export const TOTAL_STAGE: BulkStage = oneStep("totals", 2, ({ db }) => buildTotals(db));
