import { expect, test } from "bun:test";
import { migratePostgres } from "../../../src/db/postgres/migrate.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";

test.skipIf(!HAS_POSTGRES)(
  "a start brings the functions up to date, and leaves those of a newer release",
  async () => {
    await using database = await createDatabase();
    const change = () => database.query("UPDATE schema_functions SET hash = 'of another release'");
    const others = () =>
      database.query("SELECT name FROM schema_functions WHERE hash = 'of another release'");
    await change();
    const { applied } = await migratePostgres(database.settings);
    expect(applied).toBeGreaterThan(0);
    expect(await others()).toHaveLength(0);
    await database.query(
      `INSERT INTO "__drizzle_migrations" (hash, created_at) VALUES ('later', 99999999999999)`,
    );
    await change();
    expect(await migratePostgres(database.settings)).toEqual({ applied: 0 });
    expect(await others()).toHaveLength(applied);
    await database.query("DELETE FROM schema_functions WHERE name LIKE 'maintain_audit%'");
    expect(await migratePostgres(database.settings)).toEqual({ applied: 1 });
  },
);
