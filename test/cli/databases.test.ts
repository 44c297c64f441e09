import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { indexPath } from "../../src/db/index/database.ts";
import { statePath } from "../../src/db/state/database.ts";
import { writeRecords } from "../../src/import/write-records.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { accountRecords } from "../support/node.ts";
import { startNode } from "../support/program.ts";
import { type Ended, emptyDir, run, withFileLimit } from "./run.ts";

/** A data directory that an import has filled, with an unused state. */
async function filledDir() {
  const dir = emptyDir();
  const data = `${dir.path}/data`;
  await writeRecords(`${dir.path}/records`, accountRecords(1));
  const migrate = (...args: string[]) => run(["--data-dir", data, "migrate", ...args]);
  const serve = (...args: string[]) =>
    run(["--data-dir", data, "--port", "0", "--set", "hub.port=0", "serve", ...args]);
  const importFile = () => run(["--data-dir", data, "import", `${dir.path}/records`]);
  expect((await importFile()).exitCode).toBe(0);
  return { data, migrate, serve, importFile, [Symbol.dispose]: dir[Symbol.dispose] };
}

describe("a lost state next to a filled index", () => {
  test("is not replaced by an empty one without --new-state", async () => {
    using dir = await filledDir();
    const path = statePath(dir.data);
    const expectRefusal = async (how: string, command: () => Promise<Ended>) => {
      const { exitCode, errors } = await command();
      expect(exitCode).toBe(1);
      expect(errors).toContain(
        `${path} is ${how}. It holds the apps, webhooks, secrets, notification tokens`,
      );
      expect(errors).toContain("restore it from a backup, or set state.url");
      expect(errors).toContain("--new-state");
    };
    rmSync(path);
    await expectRefusal("missing", dir.serve);
    await expectRefusal("missing", dir.importFile);
    writeFileSync(path, "");
    await expectRefusal("empty", dir.migrate);
    expect((await dir.migrate("--new-state")).exitCode).toBe(0);
    expect((await dir.migrate()).exitCode).toBe(0);
  }, 180_000);

  test("is not created by a command that reads an app from it", async () => {
    using dir = await filledDir();
    rmSync(statePath(dir.data));
    const { exitCode, errors } = await run(["--data-dir", dir.data, "tokens", "export", "--app-id", "a"]);
    expect(exitCode).toBe(1);
    expect(errors).toContain(`${statePath(dir.data)} is missing`);
    expect(existsSync(statePath(dir.data))).toBe(false);
  });
});

test("a database of a newer version is neither served nor migrated", async () => {
  using dir = await filledDir();
  for (const [pathIn, command] of [
    [statePath, dir.serve],
    [indexPath, dir.migrate],
  ] as const) {
    const path = pathIn(dir.data);
    {
      using db = new Database(path);
      db.run("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('h', 4102444800000)");
    }
    const { exitCode, errors } = await command();
    expect(exitCode).toBe(1);
    expect(errors).toContain(`error: ${path}: `);
    expect(errors).toContain("was written by a newer version");
  }
}, 180_000);

describe("migrate --verify", () => {
  test("reports no error for intact databases", async () => {
    using dir = await filledDir();
    const { exitCode, out } = await dir.migrate("--verify");
    expect(exitCode).toBe(0);
    expect(out).toContain(`No damage in the pages of ${statePath(dir.data)}`);
    expect(out).toContain("The state satisfies its invariants.");
    expect(out).toContain("Every derived table equals a recount");
  });

  test("reports rows of the state that contradict others, and rows of the index that differ from a recount", async () => {
    using dir = await filledDir();
    {
      using state = new Database(statePath(dir.data));
      state.run(
        "INSERT INTO secrets (holder, uid, value, digest, created_at) VALUES ('nobody', 'u', 'v', x'00', 1)",
      );
      using index = new Database(indexPath(dir.data));
      index.run("UPDATE totals SET count = count + 1 WHERE name = 'fids'");
    }
    const { exitCode, errors } = await dir.migrate("--verify");
    expect(exitCode).toBe(1);
    expect(errors).toContain("state: secrets without an app, webhook or API key (1)");
    expect(errors).toContain("index: totals differs from a recount (1 missing, 1 extra)");
  });

  test("leaves a scratch database after a kill, which the next command or start deletes", async () => {
    using dir = await filledDir();
    const scratchFiles = () => readdirSync(dir.data).filter((name) => name.includes(".verify"));
    async function killVerification() {
      const child = Bun.spawn([...compiledProgram, "--data-dir", dir.data, "migrate", "--verify"], {
        stdio: ["ignore", "ignore", "ignore"],
      });
      while (child.exitCode === null && scratchFiles().length === 0) await Bun.sleep(1);
      child.kill("SIGKILL");
      await child.exited;
    }
    async function leaveScratchFiles() {
      // A verification may end before the kill.
      for (let kills = 0; kills < 20 && scratchFiles().length === 0; kills++) await killVerification();
      expect(scratchFiles()).toContain("index.db.verify");
    }
    await leaveScratchFiles();
    expect((await dir.migrate()).exitCode).toBe(0);
    expect(scratchFiles()).toEqual([]);
    await leaveScratchFiles();
    await using _node = await startNode({ command: compiledProgram, dataDir: dir.data });
    expect(scratchFiles()).toEqual([]);
  }, 180_000);

  test.each([
    [statePath, "cannot be rebuilt"],
    [indexPath, "can be rebuilt"],
  ])("finds damaged pages and says whether the file can be rebuilt", async (pathIn, recovery) => {
    using dir = await filledDir();
    const path = pathIn(dir.data);
    const content = readFileSync(path);
    // The root of an index that no start reads.
    const page = rootPage(path);
    content.fill(0xee, (page - 1) * 4096, page * 4096);
    writeFileSync(path, content);
    const { exitCode, errors } = await dir.migrate("--verify");
    expect(exitCode).toBe(1);
    expect(errors).toContain(`${path} is damaged:`);
    expect(errors).toContain(recovery);
    expect(errors).not.toContain("internal error");
  });
});

function rootPage(path: string): number {
  using db = new Database(path, { readonly: true });
  return (
    db
      .query<{ page: number }, []>(
        "SELECT rootpage AS page FROM sqlite_master WHERE name IN ('dedupe_keys_by_expiry', 'verifications_by_address')",
      )
      .get()?.page ?? 0
  );
}

test("exits with 75 when the disk rejects writes at the start", async () => {
  using dir = emptyDir();
  const { exitCode, errors } = await run(["--data-dir", dir.path, "migrate"], { through: withFileLimit(16) });
  expect(exitCode).toBe(75);
  expect(errors).toMatch(/^error: .*disk I\/O error/m);
});

test("reports a database that the user may not read", async () => {
  using dir = emptyDir();
  expect((await run(["--data-dir", dir.path, "migrate"])).exitCode).toBe(0);
  const isRoot = process.getuid?.() === 0;
  if (isRoot && !Bun.which("setpriv")) return;
  chmodSync(dir.path, 0o777);
  for (const name of ["lock", "index.db"]) chmodSync(`${dir.path}/${name}`, name === "lock" ? 0o666 : 0o000);
  rmSync(`${dir.path}/lock`);
  const through = isRoot ? ["setpriv", "--reuid=65534", "--clear-groups"] : [];
  const { exitCode, errors } = await run(["--data-dir", dir.path, "migrate"], { through, cwd: dir.path });
  expect(exitCode).toBe(1);
  expect(errors).toContain(`${indexPath(dir.path)}: the index cannot be opened: `);
  expect(errors).toContain("The user of this process must be able to read and write it.");
});
