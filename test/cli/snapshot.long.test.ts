import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { indexPath } from "../../src/db/index/database.ts";
import { appendToJournal } from "../../src/db/index/upstream-work.ts";
import { openState, statePath } from "../../src/db/state/database.ts";
import { tablesOf } from "../node/snapshot/snapshot-node.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { IS_LONG } from "../support/long.ts";
import { accountRecords, startTestNode } from "../support/node.ts";
import { startNode } from "../support/program.ts";
import { emptyDir, run, withFileLimit } from "./run.ts";

/** The moments of kills. */
const PERIODS = IS_LONG ? 40 : 2;
const KILL_TIMEOUT_MS = IS_LONG ? 600_000 : 60_000;
const JOURNAL_BYTES = 8 * 2 ** 20;

let template: ReturnType<typeof emptyDir>;

beforeAll(() => {
  template = emptyDir();
  const data = `${template.path}/data`;
  mkdirSync(data, { mode: 0o700 });
  using node = startTestNode();
  node.ingestAll(Array.from({ length: 5 }, (_, at) => accountRecords(at + 1)).flat());
  // What does not compress, so that a copy takes a while.
  appendToJournal(node.db, 1, { block: 1, bytes: randomBytes(JOURNAL_BYTES) });
  node.db.checkpoint();
  cpSync(indexPath(node.dir), indexPath(data));
  openState(statePath(data))[Symbol.dispose]();
});

afterAll(() => template[Symbol.dispose]());

function filledDir() {
  const dir = emptyDir();
  const data = `${dir.path}/data`;
  cpSync(`${template.path}/data`, data, { recursive: true });
  const path = (name: string) => `${dir.path}/${name}`;
  return { data, path, [Symbol.dispose]: dir[Symbol.dispose] };
}

/** Runs a command of the program and kills it after a while. Returns whether it had ended before. */
async function runKilled(args: readonly string[], afterMs: number): Promise<boolean> {
  const child = Bun.spawn([...compiledProgram, ...args], { env: {}, stdout: "ignore", stderr: "ignore" });
  const timer = setTimeout(() => child.kill("SIGKILL"), afterMs);
  await child.exited;
  clearTimeout(timer);
  return child.signalCode === null;
}

function filesIn(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => !name.startsWith("lock"))
    .sort();
}

describe("svc snapshot", () => {
  test("copies a node that serves, and a new node starts from the copy", async () => {
    using dir = filledDir();
    await using node = await startNode({ command: compiledProgram, dataDir: dir.data });
    const created = await run([
      "--data-dir",
      dir.data,
      "snapshot",
      "create",
      "--to",
      dir.path("a"),
      "--with-state",
    ]);
    expect(created).toMatchObject({ exitCode: 0 });
    expect(created.out).toContain("index  mainnet, 0 messages");
    expect(await run(["snapshot", "verify", "--from", dir.path("a")])).toMatchObject({ exitCode: 0 });
    const busy = await run(["--data-dir", dir.data, "restore", "--from", dir.path("a")]);
    expect([busy.exitCode, busy.errors]).toEqual([75, expect.stringContaining("is in use by process")]);
    const into = ["--data-dir", dir.path("new")];
    const restored = await run([...into, "restore", "--from", dir.path("a")]);
    expect(restored).toMatchObject({ exitCode: 0 });
    expect(restored.out).toContain(`Restored index and state into ${dir.path("new")}`);
    const again = await run([...into, "snapshot", "restore", "--from", dir.path("a")]);
    expect([again.exitCode, again.errors]).toEqual([1, expect.stringContaining("already exists")]);
    await using copy = await startNode({ command: compiledProgram, dataDir: dir.path("new") });
    const user = await Promise.all(
      [node, copy].map(({ url }) => fetch(`${url}/v2/svc/user?fid=3`).then((r) => r.text())),
    );
    expect(user[0]).toBe(user[1] ?? "");
  }, 180_000);

  test("refuses with exit code 1 a missing index, and options that exclude each other", async () => {
    using dir = filledDir();
    const none = await run(["--data-dir", dir.path("none"), "snapshot", "create", "--to", dir.path("a")]);
    expect([none.exitCode, none.errors]).toEqual([
      1,
      expect.stringContaining("is missing: there is no index yet"),
    ]);
    const both = await run(["restore", "--from", dir.path("a"), "--index-only", "--state-only"]);
    expect([both.exitCode, both.errors]).toEqual([1, expect.stringContaining("exclude each other")]);
  }, 180_000);

  test(
    "that is killed at any moment leaves no snapshot or a whole one, and the next run makes it",
    async () => {
      using dir = filledDir();
      const create = ["--data-dir", dir.data, "snapshot", "create", "--to", dir.path("a"), "--with-state"];
      const startedMs = performance.now();
      expect((await run(create)).exitCode).toBe(0);
      const wholeMs = performance.now() - startedMs;
      const endsAfter = async (ms: number) => {
        rmSync(dir.path("a"), { recursive: true, force: true });
        const hasEnded = await runKilled(create, ms);
        if (existsSync(dir.path("a")))
          expect((await run(["snapshot", "verify", "--from", dir.path("a")])).exitCode).toBe(0);
        return hasEnded;
      };
      for (let at = 1; at < PERIODS; at++) await endsAfter((wholeMs * at) / PERIODS);
      // The first run may have been the slowest by far.
      let lastMs = wholeMs;
      while (await endsAfter(lastMs)) lastMs /= 2;
      rmSync(dir.path("a"), { recursive: true, force: true });
      expect(await run(create)).toMatchObject({ exitCode: 0 });
      expect(existsSync(dir.path("a.partial"))).toBe(false);
    },
    KILL_TIMEOUT_MS,
  );

  test(
    "restore that is killed at any moment is completed by the next run",
    async () => {
      using dir = filledDir();
      expect(
        (await run(["--data-dir", dir.data, "snapshot", "create", "--to", dir.path("a"), "--with-state"]))
          .exitCode,
      ).toBe(0);
      const restore = ["--data-dir", dir.path("b"), "restore", "--from", dir.path("a")];
      const startedMs = performance.now();
      expect((await run(restore)).exitCode).toBe(0);
      const wholeMs = performance.now() - startedMs;
      const expected = tablesOf(indexPath(dir.path("b")));
      for (let at = 1; at <= PERIODS; at++) {
        rmSync(dir.path("b"), { recursive: true, force: true });
        if (await runKilled(restore, (wholeMs * at) / PERIODS)) continue;
        const { exitCode, errors } = await run(restore);
        if (exitCode !== 0) expect(errors).toContain("already exists");
        expect(filesIn(dir.path("b"))).toEqual(["index.db", "state.db"]);
        expect(tablesOf(indexPath(dir.path("b")))).toEqual(expected);
      }
    },
    KILL_TIMEOUT_MS,
  );

  test("on a full disk ends with 75 and leaves nothing", async () => {
    using dir = filledDir();
    const create = ["--data-dir", dir.data, "snapshot", "create", "--to", dir.path("a")];
    const full = await run(create, { through: withFileLimit(2000) });
    expect([full.exitCode, full.errors]).toEqual([75, expect.stringContaining("error: ")]);
    expect([existsSync(dir.path("a")), existsSync(dir.path("a.partial"))]).toEqual([false, false]);
    expect((await run(create)).exitCode).toBe(0);
    const restore = ["--data-dir", dir.path("b"), "restore", "--from", dir.path("a")];
    const stopped = await run(restore, { through: withFileLimit(2000) });
    expect(stopped.exitCode).toBe(75);
    expect(filesIn(dir.path("b"))).toEqual([]);
    expect((await run(restore)).exitCode).toBe(0);
  }, 180_000);
});

test("no command uses a data directory in which a restore was interrupted", async () => {
  using dir = filledDir();
  mkdirSync(`${dir.data}/restoring`);
  writeFileSync(`${dir.data}/restoring/complete`, "{}");
  cpSync(indexPath(dir.data), `${dir.data}/restoring/index.db`);
  for (const args of [["serve"], ["migrate"], ["channels", "import", dir.path("file.json")]]) {
    const { exitCode, errors } = await run(["--data-dir", dir.data, "--port", "0", ...args]);
    expect([exitCode, errors]).toEqual([1, expect.stringContaining("restoring a snapshot was interrupted")]);
  }
}, 180_000);
