import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { indexPath } from "../../src/db/index/database.ts";
import { writeRecords } from "../../src/import/write-records.ts";
import { accountRecords, startTestNode } from "../support/node.ts";
import { oddMessages } from "../support/odd-messages.ts";
import { knowingOlderFormat, writeOlderIndex } from "../support/older-index.ts";
import { startNode } from "../support/program.ts";
import { emptyDir, run, withFileLimit } from "./run.ts";

const LARGE = 100_000;

let template: ReturnType<typeof emptyDir>;

beforeAll(() => {
  template = emptyDir();
  using node = startTestNode();
  node.ingestAll(accountRecords(7, 10));
  for (const bytes of oddMessages(7)) node.ingestMessage(bytes);
  writeOlderIndex(`${template.path}/older.db`, node.db);
});

afterAll(() => template[Symbol.dispose]());

/** A data directory with an index in an older format that counts `messages` messages. */
function olderDir({ messages = LARGE, isDemo = false } = {}) {
  const dir = emptyDir();
  const data = `${dir.path}/data`;
  mkdirSync(data, { mode: 0o700 });
  const path = indexPath(data);
  cpSync(`${template.path}/older.db`, path);
  using sqlite = new Database(path);
  sqlite.run("UPDATE totals SET count = ? WHERE name = 'messages'", [messages]);
  if (isDemo) sqlite.run("INSERT INTO meta VALUES ('demo', 'true')");
  return {
    data,
    path,
    file: (name: string) => `${dir.path}/${name}`,
    svc: (...args: string[]) =>
      run(["--data-dir", data, "--port", "0", "--set", "hub.port=0", ...args], {
        command: knowingOlderFormat,
      }),
    [Symbol.dispose]: dir[Symbol.dispose],
  };
}

function isOlder(path: string): boolean {
  using sqlite = new Database(path, { readonly: true });
  return sqlite.query("SELECT 1 FROM pragma_table_info('messages') WHERE name = 'bytes'").get() !== null;
}

describe("an index in an older format", () => {
  test("is refused by the commands with the one to run, and migrated by that", async () => {
    using dir = olderDir();
    await writeRecords(dir.file("records"), accountRecords(8));
    for (const args of [
      ["serve"],
      ["import", dir.file("records")],
      ["--set", "upstream.url=http://127.0.0.1:1", "verify"],
    ]) {
      const { exitCode, errors } = await dir.svc(...args);
      expect(errors, args.join(" ")).toMatch(/\S+ migrate`/);
      expect(exitCode, args.join(" ")).toBe(1);
    }
    expect(isOlder(dir.path)).toBe(true);

    const { exitCode, out, errors } = await dir.svc("migrate", "--new-state", "--verify");
    expect(errors).not.toContain("error");
    expect(exitCode).toBe(0);
    expect(out).toContain("The index was built again in the current format");
    expect(out).toContain(`${dir.path}.old`);
    expect(isOlder(dir.path)).toBe(false);
    expect(isOlder(`${dir.path}.old`)).toBe(true);
  }, 180_000);

  test("stays beside the new one until the node has run and stopped", async () => {
    using dir = olderDir();
    expect((await dir.svc("migrate", "--new-state")).exitCode).toBe(0);
    const node = await startNode({ command: knowingOlderFormat, dataDir: dir.data });
    expect(existsSync(`${dir.path}.old`)).toBe(true);
    await node.stop();
    expect(existsSync(`${dir.path}.old`)).toBe(false);
  }, 180_000);

  test("is migrated by serve --migrate", async () => {
    using dir = olderDir();
    const node = await startNode({
      command: knowingOlderFormat,
      dataDir: dir.data,
      serveFlags: ["--migrate", "--new-state"],
    });
    await node.stop();
    expect(isOlder(dir.path)).toBe(false);
  }, 180_000);

  test("is deleted by --drop-old", async () => {
    using dir = olderDir();
    expect((await dir.svc("migrate", "--new-state", "--drop-old")).exitCode).toBe(0);
    expect(isOlder(dir.path)).toBe(false);
    expect(existsSync(`${dir.path}.old`)).toBe(false);
  }, 180_000);

  test.each([
    ["with few messages", { messages: LARGE - 1 }],
    ["of the demo network", { isDemo: true }],
  ])(
    "is migrated by the command that opens it: %s",
    async (_name, options) => {
      using dir = olderDir(options);
      expect((await dir.svc("channels", "import", dir.file("none.json"))).exitCode).toBe(1);
      expect(isOlder(dir.path)).toBe(false);
    },
    60_000,
  );

  test("is unchanged after the disk was full, and migrated by the next run", async () => {
    using dir = olderDir();
    const migrate = ["--data-dir", dir.data, "migrate", "--new-state"];
    const { exitCode, errors } = await run(migrate, {
      command: knowingOlderFormat,
      through: withFileLimit(400),
    });
    expect(errors).toContain(`${dir.path}.new`);
    expect(exitCode).toBe(75);
    expect(isOlder(dir.path)).toBe(true);
    expect((await run(migrate, { command: knowingOlderFormat })).exitCode).toBe(0);
    expect(isOlder(dir.path)).toBe(false);
  }, 180_000);

  test("is migrated on a disk where the interrupted migration has taken the space, also in its log", async () => {
    using dir = olderDir();
    // Files with holes have the size of their ends.
    truncateSync(dir.path, 8 * 2 ** 40);
    writeFileSync(`${dir.path}.new-wal`, "");
    truncateSync(`${dir.path}.new-wal`, 8 * 2 ** 40);
    const { exitCode, errors } = await dir.svc("migrate", "--new-state");
    expect(errors).not.toContain("of free space");
    expect(exitCode).toBe(0);
  });

  test("is not migrated without enough free space", async () => {
    using dir = olderDir();
    // A file with a hole has the size of its end.
    truncateSync(dir.path, 8 * 2 ** 40);
    const { exitCode, errors } = await dir.svc("migrate", "--new-state");
    expect(errors).toContain("of free space");
    expect(exitCode).toBe(1);
    expect(existsSync(`${dir.path}.new`)).toBe(false);
  });
});
