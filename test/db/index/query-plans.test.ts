import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openIndexInMemory } from "../../../src/db/index/database.ts";
import { declaredStatements } from "../../../src/db/index/statement.ts";
import { openStateInMemory } from "../../../src/db/state/database.ts";
import { declaredStatements as declaredStateStatements } from "../../../src/db/state/sql.ts";

// Every module that declares a statement, so that none escapes because nothing here happens to import it.
const root = join(import.meta.dir, "../../..");
for (const path of new Bun.Glob("src/**/*.ts").scanSync({ cwd: root, absolute: true })) {
  if (/^import \{[^}]*\b(statement|sql)\b/m.test(readFileSync(path, "utf8"))) await import(path);
}

/** Tables whose size does not grow with the network. */
const BOUNDED = [
  "sqlite_schema",
  "totals",
  "cast_repoints",
  "token_totals",
  "delivery_totals",
  "switches",
  // Partial indexes of the campaigns that are under way.
  "campaigns USING INDEX campaigns_unfinished",
  "campaigns USING INDEX campaigns_under_way",
];

/** What a statement names in its own text: lists in parameters, common table expressions and subqueries, whose tables have steps of their own. */
function namesOf(sql: string): Set<string> {
  const named =
    /json_each\([^)]*\) (?:AS )?(\w+)|(?:WITH|RECURSIVE|\),)\s+(\w+)(?: \([^)]*\))? AS (?:MATERIALIZED )?\(|\) (?:AS )?(\w+)/g;
  return new Set([...sql.matchAll(named)].flatMap((found) => found.slice(1).filter(Boolean)));
}

/** The steps of a plan that walk a whole table or build a temporary index. */
function walks(db: Database, sql: string): string[] {
  const steps = db.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
  const names = namesOf(sql);
  return (
    steps
      .map(({ detail }) => detail)
      .filter((detail) => /^SCAN |AUTOMATIC/.test(detail))
      .filter(
        (detail) => !/^SCAN ([jt] VIRTUAL TABLE|json_each|CONSTANT ROW|below|b$|\(subquery)/.test(detail),
      )
      .filter((detail) => !names.has(/^SCAN (\w+)/.exec(detail)?.[1] ?? ""))
      // A virtual table is searched when its plan carries a constraint.
      .filter((detail) => !/^SCAN (casts|people)_fts VIRTUAL TABLE INDEX \d+:.*[=M]/.test(detail))
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
