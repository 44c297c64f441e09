import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { openState, statePath } from "../../src/db/state/database.ts";
import { COPIED_TABLES } from "../../src/node/state-copy/copied-tables.ts";
import { fillState, rowsOf } from "../node/state-copy/filled-state.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { IS_LONG } from "../support/long.ts";
import { createDatabase } from "../support/postgres/database.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import { type RunningNode, startNode } from "../support/program.ts";
import { ALLOWED_URL, custodyKey, writeKeyFile } from "./management-node.ts";
import { emptyDir, run } from "./run.ts";

/** The moments of kills. */
const PERIODS = IS_LONG ? 30 : 2;
/** So that a copy takes a while. */
const NONCES = IS_LONG ? 300_000 : 40_000;
const OWNER = 3;

test.skipIf(!HAS_POSTGRES)(
  "svc state copy that is killed at any moment is undone or completed by the next, there and back",
  async () => {
    using dir = emptyDir();
    await using postgres = await createDatabase();
    const file = statePath(dir.path);
    {
      using state = openState(file);
      fillState(state.sqlite);
      state.sqlite.run(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO nonces SELECT 100 + i, randomblob(16), i FROM n`,
        [NONCES],
      );
    }
    const before = rowsOf(file);
    const args = (to: string) => [
      "--data-dir",
      dir.path,
      "--set",
      `state.url=${postgres.url}`,
      "state",
      "copy",
      "--to",
      to,
    ];
    let wholeMs = 0;
    for (const to of ["postgres", "sqlite"]) {
      const dryMs = performance.now();
      expect(await run([...args(to), "--dry-run"])).toMatchObject({ exitCode: 0, errors: "" });
      wholeMs = performance.now() - dryMs;
      for (let at = 1; at <= PERIODS; at++) {
        const child = Bun.spawn([...compiledProgram, ...args(to)], {
          env: {},
          stdout: "ignore",
          stderr: "ignore",
        });
        const timer = setTimeout(() => child.kill("SIGKILL"), (wholeMs * at) / (PERIODS + 1));
        await child.exited;
        clearTimeout(timer);
      }
      // A kill that was too late has left a copy that is complete.
      const { exitCode, out, errors } = await run(args(to));
      if (exitCode !== 0) expect(errors).toContain("was moved to");
      else
        expect(out).toContain(
          `${to === "postgres" ? "state.db" : "The state in PostgreSQL"} is not to be used any more`,
        );
      const again = await run(args(to));
      expect([again.exitCode, again.errors]).toEqual([1, expect.stringContaining("was moved to")]);
    }
    expect(rowsOf(file)).toEqual(before);
    for (const { name } of COPIED_TABLES)
      expect(await postgres.rows(name)).toBe(before.get(name)?.length ?? -1);
    expect(existsSync(`${file}.partial`)).toBe(false);
  },
  IS_LONG ? 900_000 : 120_000,
);

test.skipIf(!HAS_POSTGRES)(
  "svc state copy needs state.url, and a state that no node uses",
  async () => {
    using dir = emptyDir();
    const none = await run(["--data-dir", dir.path, "state", "copy", "--to", "postgres"]);
    expect([none.exitCode, none.errors]).toEqual([1, expect.stringContaining("set state.url")]);
    const wrong = await run(["state", "copy", "--to", "mysql"]);
    expect([wrong.exitCode, wrong.errors]).toEqual([
      1,
      expect.stringContaining("Allowed choices are postgres, sqlite"),
    ]);
    await using postgres = await createDatabase();
    const missing = await run([
      "--data-dir",
      dir.path,
      "--set",
      `state.url=${postgres.url}`,
      "state",
      "copy",
      "--to",
      "postgres",
    ]);
    expect([missing.exitCode, missing.errors]).toEqual([1, expect.stringContaining("state.db is missing")]);
  },
  180_000,
);

test.skipIf(!HAS_POSTGRES || !IS_LONG)(
  "a node serves the same apps, webhooks and secrets before, between and after the moves",
  async () => {
    using dir = emptyDir();
    await using postgres = await createDatabase();
    const data = `${dir.path}/data`;
    const key = writeKeyFile(dir.path, "owner.key", `${custodyKey(OWNER)}\n`);
    const url = ["--set", `state.url=${postgres.url}`];
    const common = ["--data-dir", data, "--set", "net.allow_cidrs=127.0.0.0/8"];
    const serve = (args: readonly string[], demo = false) =>
      startNode({ command: compiledProgram, dataDir: data, args: [...common.slice(2), ...args], demo });
    const asOwner = async (node: RunningNode, ...args: string[]) => {
      const signed = ["--fid", `${OWNER}`, "--key-file", key, "--url", node.url, "--json"];
      const { exitCode, out, errors } = await run([...args, ...signed]);
      expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
      return JSON.parse(out);
    };
    const records = async (node: RunningNode) => [
      await asOwner(node, "app", "list", "--reveal"),
      await asOwner(node, "webhook", "list", "--reveal"),
    ];
    const refused = async (...args: string[]) => {
      const { exitCode, errors } = await run([
        ...common,
        "--port",
        "0",
        "--set",
        "hub.port=0",
        ...args,
        "serve",
      ]);
      expect([exitCode, errors]).toEqual([1, expect.stringContaining("the state was moved")]);
    };
    const copy = async (to: string) =>
      expect(await run([...common, ...url, "state", "copy", "--to", to])).toMatchObject({ exitCode: 0 });

    const create = [
      "webhook",
      "create",
      "--name",
      "Talk",
      "--target-url",
      ALLOWED_URL,
      "--on",
      "cast.created",
    ];
    let before: unknown;
    {
      await using node = await serve([], true);
      await asOwner(node, "app", "create", "--name", "Bread", "--app-url", ALLOWED_URL);
      await asOwner(node, ...create);
      before = await records(node);
      await node.stop();
    }
    await copy("postgres");
    await refused();
    let between: unknown;
    {
      await using node = await serve(url);
      expect(await records(node)).toEqual(before as never);
      await asOwner(node, ...create);
      between = await records(node);
      await node.stop();
    }
    expect(between).not.toEqual(before);
    await copy("sqlite");
    await refused(...url);
    await using node = await serve([]);
    expect(await records(node)).toEqual(between as never);
  },
  180_000,
);
