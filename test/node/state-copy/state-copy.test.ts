import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { PAUSABLE } from "../../../src/cluster/switch-store.ts";
import { migratePostgres } from "../../../src/db/postgres/migrate.ts";
import { openState, openStateInMemory, openStateReader, statePath } from "../../../src/db/state/database.ts";
import { nonceFloor } from "../../../src/db/state/state-clock.ts";
import { STATE_TABLES } from "../../../src/node/state/tables.ts";
import { COPIED_TABLES, type CopiedTable } from "../../../src/node/state-copy/copied-tables.ts";
import { copyToPostgres } from "../../../src/node/state-copy/copy-to-postgres.ts";
import { copyToSqlite } from "../../../src/node/state-copy/copy-to-sqlite.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { tempDir } from "../../support/program.ts";
import { fillState, rowsOf } from "./filled-state.ts";

const NOW_SECS = 1_750_000_000;
const WINDOW_SECS = 300;
async function openFixture() {
  const dir = tempDir();
  const postgres = await createDatabase();
  const file = statePath(dir.path);
  {
    using state = openState(file);
    fillState(state.sqlite);
  }
  const options = {
    file,
    postgres: postgres.settings,
    postgresName: "PostgreSQL at test",
    dryRun: false,
    force: false,
    signedAtWindowSecs: WINDOW_SECS,
    clock: { nowMs: () => NOW_SECS * 1000 },
    signal: new AbortController().signal,
  };
  return {
    file,
    postgres,
    options,
    async [Symbol.asyncDispose]() {
      await postgres[Symbol.asyncDispose]();
      dir[Symbol.dispose]();
    },
  };
}

describe("the tables that are copied", () => {
  const tablesOf = (database: "sqlite" | "postgres") =>
    STATE_TABLES.filter(({ only }) => only === undefined || only === database)
      .map(({ name }) => name)
      .sort();

  const listed = (table: CopiedTable, added: boolean) =>
    [
      ...table.columns.map(([name]) => name),
      ...(added ? Object.keys(table.added) : []),
      ...(added && table.summed ? ["slot"] : []),
    ].sort();

  test("are those of state.db, with every column", () => {
    using db = openStateInMemory();
    const tables = db.sqlite
      .query<{ name: string }, []>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite_%'",
      )
      .all()
      .map(({ name }) => name);
    expect(tablesOf("sqlite")).toEqual(tables.sort());
    // Of moderation, too: a ban that a move lost would show its user again.
    expect(tables).toEqual(expect.arrayContaining(["app_bans", "private_mutes", "rules_versions"]));
    for (const table of COPIED_TABLES) {
      const columns = db.sqlite
        .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
        .all(table.name);
      expect([table.name, listed(table, false)]).toEqual([
        table.name,
        columns.map(({ name }) => name).sort(),
      ]);
    }
  });

  test.skipIf(!HAS_POSTGRES)("are those of PostgreSQL, with every column", async () => {
    await using postgres = await createDatabase();
    const rows = await postgres.query(
      `SELECT c.table_name AS "table", c.column_name AS "column" FROM information_schema.columns c
       JOIN pg_class r ON r.relname = c.table_name AND r.relnamespace = 'svc'::regnamespace AND NOT r.relispartition
       WHERE c.table_schema = 'svc' AND c.table_name <> '__drizzle_migrations'`,
    );
    const byTable = Map.groupBy(rows, ({ table }) => String(table));
    expect([...tablesOf("postgres"), "schema_functions"].sort()).toEqual([...byTable.keys()].sort());
    for (const table of COPIED_TABLES) {
      const columns = (byTable.get(table.name) ?? []).map(({ column }) => String(column)).sort();
      expect([table.name, listed(table, true)]).toEqual([table.name, columns]);
    }
  });
});

describe.skipIf(!HAS_POSTGRES)("svc state copy", () => {
  test("there and back gives the same rows, numbers and order, in every table", async () => {
    await using fixture = await openFixture();
    const { file, postgres, options } = fixture;
    const before = rowsOf(file);
    const there = await copyToPostgres(options);
    expect(there.tables.map(({ table, rows }) => [table, rows])).toEqual(
      COPIED_TABLES.map(({ name }) => [name, before.get(name)?.length ?? -1]),
    );
    for (const { name } of COPIED_TABLES)
      expect(await postgres.rows(name)).toBe(before.get(name)?.length ?? -1);
    const [next] = await postgres
      .query(
        "INSERT INTO webhook_changes (webhook_id) VALUES ('new') RETURNING version; DELETE FROM webhook_changes WHERE webhook_id = 'new'",
      )
      .then((results) => results.flat() as Record<string, unknown>[]);
    expect(Number(next?.version)).toBe(1001);
    const back = await copyToSqlite(options);
    expect(back.tables.map(({ table, sha256 }) => [table, sha256])).toEqual(
      there.tables.map(({ table, sha256 }) => [table, sha256]),
    );
    expect(rowsOf(file)).toEqual(before);
    using state = openState(file);
    expect(nonceFloor(state)).toBe(NOW_SECS + WINDOW_SECS);
    const seq = (name: string) =>
      state.sqlite
        .query<{ seq: number }, [string]>("SELECT seq FROM sqlite_sequence WHERE name = ?")
        .get(name)?.seq;
    expect([seq("deliveries"), seq("webhook_changes")]).toEqual([1000, 1001]);
  }, 180_000);

  test("marks the source: it is neither started nor copied again", async () => {
    await using fixture = await openFixture();
    const { file, postgres, options } = fixture;
    await copyToPostgres(options);
    const moved = "the state was moved on 2025-06-15T15:06:40.000Z to PostgreSQL at test";
    expect(() => openState(file)).toThrow(moved);
    expect(() => openStateReader(file)).toThrow(moved);
    await expect(copyToPostgres(options)).rejects.toThrow(`in ${file} was moved to PostgreSQL at test`);
    await copyToSqlite(options);
    await expect(migratePostgres(postgres.settings)).rejects.toThrow(`the state was moved to ${file}`);
    await expect(copyToSqlite(options)).rejects.toThrow(`in PostgreSQL was moved to ${file}`);
    // The state that was moved there first is still beside it.
    expect(existsSync(`${file}.moved`)).toBe(true);
    await expect(copyToPostgres(options)).rejects.toThrow(`that was moved to ${file}. Drop its schema`);
    openState(file)[Symbol.dispose]();
  }, 180_000);

  test("ends leases and runs, and refuses requests that were signed before", async () => {
    await using fixture = await openFixture();
    const { postgres, options } = fixture;
    await copyToPostgres(options);
    const [left] = await postgres.query(
      `SELECT (SELECT count(*) FROM deliveries WHERE lease_ends_at_ms IS NOT NULL OR claimed_by IS NOT NULL) AS leased,
         (SELECT count(*) FROM campaigns WHERE runner IS NOT NULL) AS running, (SELECT nonce_floor FROM state_clock) AS floor`,
    );
    expect(Object.values(left ?? {}).map(Number)).toEqual([0, 0, NOW_SECS + WINDOW_SECS]);
  }, 180_000);

  test("replaces NUL, which PostgreSQL refuses, and counts it", async () => {
    await using fixture = await openFixture();
    const { file, postgres, options } = fixture;
    {
      using state = openState(file);
      state.sqlite.run(
        "UPDATE delivery_attempts SET answer = 'a' || char(0) || 'b' || char(0) WHERE seq = 1",
      );
    }
    expect((await copyToPostgres(options)).nuls).toBe(2);
    const [row] = await postgres.query("SELECT answer FROM delivery_attempts WHERE seq = 1");
    expect(row?.answer).toBe("a\uFFFDb\uFFFD");
  }, 180_000);

  test("of a dry run compares everything and keeps nothing", async () => {
    await using fixture = await openFixture();
    const { file, postgres, options } = fixture;
    const dry = { ...options, dryRun: true };
    const report = await copyToPostgres(dry);
    for (const { name } of COPIED_TABLES) expect(await postgres.rows(name)).toBe(0);
    expect(await copyToPostgres(options)).toEqual(report);
    expect((await copyToSqlite(dry)).tables).toEqual(report.tables);
    expect(existsSync(`${file}.partial`)).toBe(false);
    expect(() => openState(file)).toThrow("was moved");
    await migratePostgres(postgres.settings);
  }, 180_000);

  test("that was interrupted before the source was marked is recognised, in both directions", async () => {
    await using fixture = await openFixture();
    const { file, postgres, options } = fixture;
    const { tables } = await copyToPostgres(options);
    const unmark = () => {
      using sqlite = new Database(file);
      sqlite.run("DELETE FROM state_move");
    };
    unmark();
    expect(await copyToPostgres(options)).toEqual({ tables, nuls: 0, wasThere: true });
    expect(() => openState(file)).toThrow("was moved");
    await copyToSqlite(options);
    await postgres.query("DELETE FROM cluster");
    expect(await copyToSqlite(options)).toMatchObject({ tables, wasThere: true });
    await expect(migratePostgres(postgres.settings)).rejects.toThrow("was moved");
  }, 180_000);

  test("is refused over another state, in both directions", async () => {
    await using fixture = await openFixture();
    const { file, postgres, options } = fixture;
    await postgres.query("INSERT INTO webhook_changes (webhook_id) VALUES ('other')");
    await expect(copyToPostgres(options)).rejects.toThrow(
      "PostgreSQL holds another state: nonces is neither empty",
    );
    await expect(copyToSqlite(options)).rejects.toThrow(`${file} holds another state: its nonces differ`);
    expect(await postgres.rows("nonces")).toBe(0);
    openState(file)[Symbol.dispose]();
  }, 180_000);

  test("is refused while nodes are alive by PostgreSQL's clock; from PostgreSQL unless all is paused", async () => {
    await using fixture = await openFixture();
    const { file, postgres } = fixture;
    const options = { ...fixture.options, clock: { nowMs: () => Date.now() + 3_600_000 } };
    await postgres.query(
      `INSERT INTO nodes (node_id, boot, slot, started_at, ends_at_ms, beat, version, schema_version, solo, settings)
       VALUES ('node-a', '${crypto.randomUUID()}', 0, 1, extract(epoch FROM clock_timestamp()) * 1000 + 60000, 1, '1', 1, false, '{}')`,
    );
    await expect(copyToPostgres(options)).rejects.toThrow("these nodes use the state in PostgreSQL: node-a");
    rmSync(file);
    await expect(copyToSqlite(options)).rejects.toThrow("add --force");
    await expect(copyToSqlite({ ...options, force: true })).rejects.toThrow("pause all");
    for (const name of PAUSABLE)
      await postgres.query(`INSERT INTO switches VALUES ('${name}', 'moving', 'operator', 1)`);
    writeFileSync(`${file}-wal`, "of another database");
    await expect(copyToSqlite({ ...options, force: true })).rejects.toThrow(`${file}-wal is there without`);
    rmSync(`${file}-wal`);
    await copyToSqlite({ ...options, force: true });
    expect([...rowsOf(file).values()].flat()).toHaveLength(PAUSABLE.length);
  }, 180_000);

  test("undoes everything when a row was not stored as it was read", async () => {
    await using fixture = await openFixture();
    const { file, postgres, options } = fixture;
    await postgres.query(
      `CREATE FUNCTION falsify() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.title := NEW.title || ' '; RETURN NEW; END $$;
       CREATE TRIGGER falsify BEFORE INSERT ON webhooks FOR EACH ROW EXECUTE FUNCTION falsify()`,
    );
    await expect(copyToPostgres(options)).rejects.toThrow(
      "webhooks: the copy differs from the source: 7 rows",
    );
    for (const { name } of COPIED_TABLES) expect(await postgres.rows(name)).toBe(0);
    openState(file)[Symbol.dispose]();
  }, 180_000);
});
