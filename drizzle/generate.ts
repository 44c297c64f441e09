/**
 * Writes a migration for each database whose tables have changed since its last one: `bun run db:generate --name <name>`. With
 * `--check` it only says which have.
 */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import {
  generateDrizzleJson,
  generateMigration,
  generateSQLiteDrizzleJson,
  generateSQLiteMigration,
} from "drizzle-kit/api";
import { STATE_TABLES } from "../src/node/state/tables.ts";
import { postgresTables, sqliteTables } from "./state-tables.ts";

interface Journal {
  readonly version: string;
  readonly dialect: string;
  readonly entries: { idx: number; version: string; when: number; tag: string; breakpoints: boolean }[];
}

const { values } = parseArgs({ options: { name: { type: "string" }, check: { type: "boolean" } } });
const ROOT = import.meta.dir;

/** The statements from one snapshot to the next, and the next. */
type Diff = (previous: unknown) => Promise<{ readonly snapshot: unknown; readonly statements: string[] }>;

const sqliteDiff =
  (tables: Record<string, unknown>): Diff =>
  async (previous) => {
    const snapshot = await generateSQLiteDrizzleJson(tables);
    const from = (previous ?? (await generateSQLiteDrizzleJson({}))) as typeof snapshot;
    const statements = await generateSQLiteMigration(from, snapshot);
    return { snapshot, statements: statements.map(withoutRowid) };
  };

const postgresDiff: Diff = async (previous) => {
  const snapshot = generateDrizzleJson(postgresTables(STATE_TABLES));
  const from = (previous ?? generateDrizzleJson({})) as typeof snapshot;
  const statements = (await generateMigration(from, snapshot)).map(byteCollation);
  return { snapshot, statements };
};

/** Drizzle cannot express it: a table with a key of several columns is one b-tree in key order instead of a heap with a second tree. */
function withoutRowid(statement: string): string {
  return statement.replace(/(\n\tPRIMARY KEY\([^)]*\)\n\));/g, "$1 WITHOUT ROWID;");
}

/** Nor this: text is compared by its bytes, as in SQLite, whatever the database's locale is. */
function byteCollation(statement: string): string {
  return statement.replace(
    /^(\t"\w+" text|ALTER TABLE "\w+" ADD COLUMN "\w+" text)(?! COLLATE)/gm,
    '$1 COLLATE "C"',
  );
}

async function indexTables(): Promise<Record<string, unknown>> {
  const modules = [...new Bun.Glob("*.ts").scanSync(`${ROOT}/../src/db/index/schema`)].sort();
  const tables = await Promise.all(modules.map((name) => import(`${ROOT}/../src/db/index/schema/${name}`)));
  return Object.assign({}, ...tables);
}

/** What drizzle cannot describe; the first migration ends with it. */
async function byHand(folder: string): Promise<string[]> {
  const path = `${folder}/by-hand.sql`;
  return existsSync(path) ? (await Bun.file(path).text()).split("--> statement-breakpoint") : [];
}

async function generate(database: string, dialect: string, diff: Diff): Promise<void> {
  const folder = `${ROOT}/${database}`;
  const read = async (path: string) => (existsSync(path) ? Bun.file(path).json() : undefined);
  const snapshotPath = `${folder}/meta/snapshot.json`;
  const journalPath = `${folder}/meta/_journal.json`;
  const previous = await read(snapshotPath);
  const { snapshot, statements } = await diff(previous);
  if (previous === undefined) statements.push(...(await byHand(folder)));
  if (statements.length === 0) {
    console.log(`${database}: no change`);
    return;
  }
  if (values.check) {
    console.error(`${database}: its tables have changed; run bun run db:generate`);
    process.exitCode = 1;
    return;
  }
  const journal: Journal = (await read(journalPath)) ?? { version: "7", dialect, entries: [] };
  const idx = journal.entries.length;
  const name = idx === 0 ? "init" : values.name;
  if (name === undefined) throw new Error(`${database}: name the migration with --name`);
  const tag = `${String(idx).padStart(4, "0")}_${name}`;
  journal.entries.push({ idx, version: "7", when: Date.now(), tag, breakpoints: true });
  await Bun.write(
    `${folder}/${tag}.sql`,
    `${statements.map((sql) => sql.trim()).join("\n--> statement-breakpoint\n")}\n`,
  );
  await Bun.write(snapshotPath, `${JSON.stringify(snapshot, null, 2)}\n`);
  await Bun.write(journalPath, `${JSON.stringify(journal, null, 2)}\n`);
  console.log(`${database}: ${tag}`);
}

await generate("index", "sqlite", sqliteDiff(await indexTables()));
await generate("state", "sqlite", sqliteDiff(sqliteTables(STATE_TABLES)));
await generate("postgres", "postgresql", postgresDiff);
