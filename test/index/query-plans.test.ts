import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import "../../src/app/serve.ts";
import "../../src/chain/chain-checker.ts";
import "../../src/channels/import-registry.ts";
import "../../src/ingest/engine.ts";
import "../../src/ranking/compute.ts";
import { openIndexInMemory } from "../../src/index/database.ts";
import { declaredStatements } from "../../src/index/statement.ts";
import { openStateInMemory } from "../../src/state/database.ts";
import { declaredStatements as declaredStateStatements } from "../../src/state/statement.ts";

/** Tables whose size does not grow with the network. */
const BOUNDED = ["totals", "token_totals"];

/** The steps of a plan that walk a whole table or build a temporary index. */
function walks(db: Database, sql: string): string[] {
  const steps = db.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
  return (
    steps
      .map(({ detail }) => detail)
      .filter((detail) => /^SCAN |AUTOMATIC/.test(detail))
      .filter((detail) => !/^SCAN (j VIRTUAL TABLE|json_each|CONSTANT ROW|below|b$|\(subquery)/.test(detail))
      // A virtual table is searched when its plan carries a constraint.
      .filter((detail) => !/^SCAN casts_fts VIRTUAL TABLE INDEX \d+:.*[=M]/.test(detail))
      .filter((detail) => !BOUNDED.some((table) => detail.startsWith(`SCAN ${table}`)))
  );
}

test("no statement of the node scans a table that grows with the network", () => {
  using db = openIndexInMemory();
  const offenders = [...declaredStatements()].flatMap(([name, { sql }]) =>
    walks(db.sqlite, sql).map((step) => `${name}: ${step}`),
  );
  expect(declaredStatements().size).toBeGreaterThan(40);
  expect(offenders).toEqual([]);
});

test("no statement of the state database scans a table", () => {
  using db = openStateInMemory();
  const offenders = [...declaredStateStatements()].flatMap(([name, { sql }]) =>
    walks(db.sqlite, sql).map((step) => `${name}: ${step}`),
  );
  expect(declaredStateStatements().size).toBeGreaterThan(15);
  expect(offenders).toEqual([]);
});

test("the check finds a scan when there is one", () => {
  using db = openIndexInMemory();
  expect(walks(db.sqlite, "SELECT hash FROM casts WHERE text = 'x'")).toHaveLength(1);
});

test.each([
  ["index", openIndexInMemory],
  ["state", openStateInMemory],
])("every table of the %s with a composite key is one b-tree", (_name, open) => {
  using db = open();
  const heaps = db.sqlite
    .query<{ name: string }, []>(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%PRIMARY KEY(%' AND sql NOT LIKE '%WITHOUT ROWID%'`,
    )
    .all();
  expect(heaps).toEqual([]);
});
