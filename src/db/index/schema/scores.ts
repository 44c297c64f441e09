import { blob, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Scores of accounts, computed or imported. They are not protocol data; a computation can be repeated, an import cannot. */

/**
 * The runs that wrote scores. `kind` is `computed` or `imported`; the newest run of a kind with `is_done` 1 is in effect.
 * `at` is in Unix seconds; `params`, `seeds` (fids) and `stats` are JSON.
 */
export const scoreRuns = sqliteTable(
  "score_runs",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    kind: text().notNull(),
    isDone: integer("is_done").notNull(),
    at: integer().notNull(),
    method: text().notNull(),
    params: text().notNull(),
    seeds: text().notNull(),
    stats: text().notNull(),
  },
  (t) => [index("score_runs_by_kind").on(t.kind, t.isDone, t.id)],
);

/**
 * The scores of a run in hundredths. `state` is a set of bits (see `counts/scores.ts`). `rank` counts from 1; it is 0 in an
 * import. `via_fid` is the next account on the way to a seed, 0 for none. `sources` are the strongest ones, packed; `note`
 * is the reason of an import.
 */
export const scores = sqliteTable(
  "scores",
  {
    runId: integer("run_id").notNull(),
    fid: integer().notNull(),
    score: integer().notNull(),
    state: integer().notNull(),
    rank: integer().notNull(),
    viaFid: integer("via_fid").notNull(),
    sources: blob({ mode: "buffer" }),
    note: text(),
  },
  (t) => [primaryKey({ columns: [t.runId, t.fid] })],
);
