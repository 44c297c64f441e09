import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { declaredPgStatements } from "../../../src/db/postgres/statement.ts";
import { declaredSql } from "../../../src/db/state/sql.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";

// Every module that declares a statement, so that none escapes because nothing here happens to import it.
const root = join(import.meta.dir, "../../..");
for (const path of new Bun.Glob("src/**/*.ts").scanSync({ cwd: root, absolute: true })) {
  if (/^import \{[^}]*\b(pgStatement|sql)\b/m.test(readFileSync(path, "utf8"))) await import(path);
}

/** Tables whose size does not grow with the network. */
const BOUNDED = [
  "__drizzle_migrations",
  "schema_functions",
  "token_totals",
  "delivery_totals",
  "nodes",
  "cluster",
  "switches",
  "leases",
];

/** Partial indexes over work under way, of which there is little: unfinished campaigns. */
const BOUNDED_INDEXES = ["campaigns_unfinished", "campaigns_under_way"];

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly "Recheck Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** The nodes of a plan that walk a whole table or a whole index. */
function walks(node: PlanNode): string[] {
  const type = node["Node Type"];
  const table = node["Relation Name"] ?? "";
  const isWalk = type === "Seq Scan" || (/^Index (Only )?Scan$/.test(type) && !node["Index Cond"]);
  const isBounded = BOUNDED.includes(table) || BOUNDED_INDEXES.includes(node["Index Name"] ?? "");
  const own = isWalk && !isBounded ? [`${type} of ${table}`] : [];
  return [...own, ...(node.Plans ?? []).flatMap(walks)];
}

/**
 * What a planner chooses for large tables: of an empty one it would rather read all than search its index, whatever the
 * statement is.
 */
const PLANNER = {
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  plan_cache_mode: "force_generic_plan",
};

/** Explains statements as they are planned without knowledge of their parameters. */
async function createExplainer(url: string) {
  const sql = new SQL(url, {
    max: 1,
    connection: { search_path: "svc", ...PLANNER },
  });
  let prepared = 0;
  return {
    async explain(text: string): Promise<string[]> {
      prepared += 1;
      const name = `explained_${prepared}`;
      await sql.unsafe(`PREPARE ${name} AS ${text}`);
      const [{ count }] = await sql.unsafe(
        `SELECT cardinality(parameter_types) AS count FROM pg_prepared_statements WHERE name = '${name}'`,
      );
      const params = count > 0 ? `(${Array(count).fill("NULL").join(", ")})` : "";
      const [row] = await sql.unsafe(`EXPLAIN (FORMAT JSON) EXECUTE ${name}${params}`);
      const plan = row["QUERY PLAN"];
      return walks((typeof plan === "string" ? JSON.parse(plan) : plan)[0].Plan);
    },
    [Symbol.asyncDispose]: () => sql.close({ timeout: 0 }),
  };
}

test.skipIf(!HAS_POSTGRES)("no statement of the state in PostgreSQL walks a table that grows", async () => {
  await using database = await createDatabase();
  await using explainer = await createExplainer(database.url);
  const offenders: string[] = [];
  for (const [name, { sql }] of [...declaredPgStatements(), ...declaredSql()]) {
    // Those of other test files in the same process.
    if (name.startsWith("test.")) continue;
    for (const step of await explainer.explain(sql)) offenders.push(`${name}: ${step}`);
  }
  expect(declaredSql().size).toBeGreaterThan(5);
  expect(offenders).toEqual([]);
});

test.skipIf(!HAS_POSTGRES)("the check finds a walk when there is one", async () => {
  await using database = await createDatabase();
  await using explainer = await createExplainer(database.url);
  expect(await explainer.explain("SELECT name FROM apps WHERE name = $1")).toEqual(["Seq Scan of apps"]);
  expect(await explainer.explain("SELECT seq FROM apps ORDER BY app_id LIMIT 1")).not.toEqual([]);
});

test("no statement locks the rows of its batch in a subquery that a plan may repeat", () => {
  const repeatable = [...declaredPgStatements(), ...declaredSql()].filter(
    ([, { sql }]) =>
      /\bIN\s*\(\s*SELECT\b[^;]*\bLIMIT\b[^;]*\bSKIP LOCKED\s*\)/.test(sql) &&
      !sql.includes("IN (WITH batch AS"),
  );
  expect(repeatable.map(([name]) => name)).toEqual([]);
});
