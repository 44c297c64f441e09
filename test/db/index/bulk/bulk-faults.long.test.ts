import { describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IndexDatabase, indexPath, openIndexWriter } from "../../../../src/db/index/database.ts";
import { claimNetwork } from "../../../../src/db/index/identity.ts";
import { StorageError } from "../../../../src/db/sqlite/storage-error.ts";
import { seededRandom } from "../../../../src/demo/random.ts";
import type { SignedMessage } from "../../../../src/protocol/message/signed-message.ts";
import { bulkFill } from "../../../support/bulk-fill.ts";
import { contentDifferences, indexContent } from "../../../support/index-content.ts";
import { IS_LONG } from "../../../support/long.ts";
import { withFaultAtEveryStatement } from "../../../support/storage-faults.ts";
import { temporaryIndex } from "../../../support/temporary-index.ts";
import { wildMessages } from "../../../support/wild-network.ts";

const FILL = join(import.meta.dir, "processes", "fill.ts");

/** The content of an index that is filled without a fault. */
function undisturbed(messages: readonly SignedMessage[]): Map<string, string[]> {
  using index = temporaryIndex();
  const fill = bulkFill(index.db, messages);
  while (fill.next());
  return contentOf(index.db);
}

/** Without the position of the tests. */
function contentOf(db: IndexDatabase): Map<string, string[]> {
  const content = indexContent(db);
  content.delete("positions");
  return content;
}

describe("a bulk build", () => {
  test("that is killed at random moments ends as an undisturbed one", async () => {
    const count = 600;
    const expected = undisturbed(wildMessages("kill", count));
    const random = seededRandom(`kills ${Date.now()}`);
    let kills = 0;
    while (kills < (IS_LONG ? 30 : 3)) {
      const dir = mkdtempSync(join(tmpdir(), "bulk-kill-"));
      try {
        for (let isDone = false; !isDone; ) {
          const child = Bun.spawn(["bun", FILL, indexPath(dir), "kill", `${count}`], {
            stdout: "pipe",
            stderr: "inherit",
          });
          const output = child.stdout.getReader();
          // It prints a line for each of its about 120 transactions.
          for (let left = random.below(50); left >= 0 && !(await output.read()).done; left--);
          child.kill("SIGKILL");
          await child.exited;
          isDone = child.signalCode === null;
          expect(isDone ? child.exitCode : 0).toBe(0);
          if (!isDone) kills++;
        }
        using db = openIndexWriter(indexPath(dir));
        expect(contentDifferences(expected, contentOf(db))).toEqual([]);
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    }
  }, 600_000);

  test("that loses what was not synced has all from before the last sync, and ends as an undisturbed one", () => {
    for (let round = 0; round < (IS_LONG ? 40 : 4); round++) {
      const random = seededRandom(`power ${Date.now()} ${round}`);
      const messages = wildMessages(`power ${round}`, 150);
      const expected = undisturbed(messages);
      using index = temporaryIndex();
      const fill = bulkFill(index.db, messages);
      let synced = { bytes: 0, spooled: 0 };
      for (let left = random.below(60); left > 0 && fill.next(); left--) {
        if (fill.bulk.phase === "finished" || !random.chance(0.2)) continue;
        fill.bulk.sync();
        synced = { bytes: statSync(`${index.path}-wal`).size, spooled: fill.spooled };
      }
      const dir = mkdtempSync(join(tmpdir(), "bulk-power-"));
      try {
        const path = indexPath(dir);
        cpSync(index.path, path);
        cpSync(`${index.path}-wal`, `${path}-wal`);
        const bytes = statSync(`${path}-wal`).size;
        if (fill.bulk.phase !== "finished")
          truncateSync(`${path}-wal`, synced.bytes + random.below(bytes - synced.bytes + 1));
        using db = openIndexWriter(path);
        claimNetwork(db, "mainnet");
        const continued = fill.bulk.phase === "finished" ? undefined : bulkFill(db, messages);
        expect(continued?.spooled ?? messages.length).toBeGreaterThanOrEqual(synced.spooled);
        while (continued?.next());
        expect(contentDifferences(expected, contentOf(db))).toEqual([]);
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    }
  }, 180_000);

  test.each(["full", "io", "busy"] as const)(
    "whose statements fail one after the other (%s) ends as an undisturbed one",
    async (fault) => {
      const messages = wildMessages(`faults ${fault}`, 40);
      const expected = undisturbed(messages);
      using index = temporaryIndex();
      const fill = bulkFill(index.db, messages, 8);
      const { faults, failed } = await withFaultAtEveryStatement(
        index.db,
        fault,
        () => {
          while (fill.next());
        },
        { rollsBack: fault === "full" },
      );
      expect(faults).toBeGreaterThan(300);
      expect(failed.size).toBeGreaterThan(30);
      expect(contentDifferences(expected, contentOf(index.db))).toEqual([]);
    },
    180_000,
  );

  test("on a full disk stops with an error of the file, and continues when there is space", () => {
    const messages = wildMessages("space", 1200);
    const expected = undisturbed(messages);
    using index = temporaryIndex();
    const pages = () =>
      index.db.sqlite.query<{ page_count: number }, []>("PRAGMA page_count").get()?.page_count ?? 0;
    const allow = (count: number) => index.db.sqlite.exec(`PRAGMA max_page_count = ${count}`);
    const fill = bulkFill(index.db, messages);
    let refusals = 0;
    let hasMore = true;
    while (hasMore) {
      allow(pages());
      try {
        hasMore = fill.next();
      } catch (cause) {
        expect(cause).toBeInstanceOf(StorageError);
        expect((cause as StorageError).fault).toBe("full");
        refusals++;
        allow(pages() + 2000);
        hasMore = fill.next();
      }
    }
    expect(refusals).toBeGreaterThan(20);
    expect(contentDifferences(expected, contentOf(index.db))).toEqual([]);
  });

  test("leaves no table, file or setting of its own", () => {
    using index = temporaryIndex();
    const settings = () =>
      ["synchronous", "wal_autocheckpoint", "cache_size", "temp_store", "temp_store_directory"].map((name) =>
        index.db.sqlite.query(`PRAGMA ${name}`).get(),
      );
    const before = settings();
    const fill = bulkFill(index.db, wildMessages("leftovers", 400));
    while (fill.next());
    expect(settings()).toEqual(before);
    const tables = index.db.sqlite.query("SELECT name FROM sqlite_master WHERE name GLOB 'bulk*'").all();
    expect(tables).toEqual([]);
    expect(readdirSync(index.dir).sort()).toEqual(["index.db", "index.db-shm", "index.db-wal"]);
    expect(statSync(`${index.path}-wal`).size).toBe(0);
    if (process.platform !== "linux") return;
    const open = readdirSync("/proc/self/fd").flatMap((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        return [];
      }
    });
    expect(open.filter((file) => file.startsWith(index.dir) && file.includes("etilqs"))).toEqual([]);
  });

  test.if(IS_LONG && process.platform === "linux")(
    "of 300,000 messages takes at most 700 MB of memory",
    async () => {
      const dir = mkdtempSync(join(tmpdir(), "bulk-memory-"));
      try {
        const script = join(import.meta.dir, "processes", "memory.ts");
        const child = Bun.spawn(["bun", script, indexPath(dir), "300000"], { stderr: "inherit" });
        const kib = Number(await new Response(child.stdout).text());
        expect(kib / 1024).toBeWithin(1, 700);
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    },
    300_000,
  );
});
