import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createDatabase } from "../support/postgres/database.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import { emptyDir, run } from "./run.ts";

const migrate = (url: string, env: Record<string, string> = {}) =>
  run(["--log-level", "silent", "--set", `state.url=${url}`, "state", "migrate"], { env });

/** What the driver and libpq would read. */
const NONSENSE = {
  PGHOST: "10.255.255.1",
  PGPORT: "1",
  PGUSER: "nonsense",
  PGPASSWORD: "nonsense",
  PGDATABASE: "nonsense",
  PGOPTIONS: "-c nonsense=1",
  PGSSLMODE: "verify-full",
  PGAPPNAME: "nonsense",
  DATABASE_URL: "postgres://nonsense@10.255.255.1/nonsense",
  POSTGRES_URL: "postgres://nonsense@10.255.255.1/nonsense",
};

describe.skipIf(!HAS_POSTGRES)("svc state migrate", () => {
  test("creates the schema once, whatever the environment names, when three processes do it at once", async () => {
    await using database = await createDatabase({ isEmpty: true });
    const ended = await Promise.all([1, 2, 3].map(() => migrate(database.url, NONSENSE)));
    expect(ended.map(({ exitCode, errors }) => [exitCode, errors])).toEqual(Array(3).fill([0, ""]));
    const made = ended.filter(({ out }) => out.startsWith("The schema was brought up to date"));
    expect(made).toHaveLength(1);
    expect(ended.filter(({ out }) => out === "The schema is up to date\n")).toHaveLength(2);
    expect(await database.rows("nonces")).toBe(0);
  });

  test("a wrong password ends it with exit code 1 and one line that does not repeat it", async () => {
    await using database = await createDatabase({ isEmpty: true });
    const { password } = database.settings.connect;
    expect(await migrate(database.url.replace(password, "a-wrong-secret"))).toEqual({
      exitCode: 1,
      out: "",
      errors: expect.stringMatching(
        /^error: state\.url: \S+: the server refuses the user or the password\.\n$/,
      ),
    });
  });

  test("no other command creates it: a check of the wrong database finds no sound state", async () => {
    await using database = await createDatabase({ isEmpty: true });
    const commands = [
      ["check"],
      ["check", "--restored"],
      ["pause", "all", "--reason", "x"],
      ["resume", "all"],
    ];
    for (const command of commands) {
      const ended = await run(["--set", `state.url=${database.url}`, "state", ...command]);
      expect([ended.exitCode, ended.out]).toEqual([1, ""]);
      expect(ended.errors).toMatch(/Run `\S+ state migrate`/);
    }
    expect(await database.query("SELECT 1 AS one FROM pg_namespace WHERE nspname = 'svc'")).toEqual([]);
  });

  test("a start with state.migrate = false names the command, and does not change the database", async () => {
    await using database = await createDatabase({ isEmpty: true });
    using dir = emptyDir();
    const settings = ["--set", `state.url=${database.url}`, "--set", "state.migrate=false", "--port", "0"];
    const ended = await run(["--data-dir", join(dir.path, "data"), ...settings, "serve"]);
    expect(ended.exitCode).toBe(1);
    expect(ended.errors).toMatch(/Run `\S+ state migrate`/);
    expect(await database.query("SELECT 1 AS one FROM pg_namespace WHERE nspname = 'svc'")).toEqual([]);
  });
});
