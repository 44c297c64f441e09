import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { indexPath, openIndexWriter } from "../../../src/db/index/database.ts";
import { eventsAfter, markAllPublished, publishedSeq } from "../../../src/db/index/log/outbox.ts";
import { writeMeta } from "../../../src/db/index/meta.ts";
import { putPosition } from "../../../src/db/index/positions.ts";
import { openState, statePath } from "../../../src/db/state/database.ts";
import { nonceFloor } from "../../../src/db/state/state-clock.ts";
import { makeBackup } from "../../../src/node/backup/backup.ts";
import { checkDatabase, copyDatabase } from "../../../src/node/snapshot/database-task.ts";
import { COPY_TREATMENT } from "../../../src/node/snapshot/detach-index.ts";
import type { SnapshotProgress } from "../../../src/node/snapshot/manifest.ts";
import { directoryPlace } from "../../../src/node/snapshot/places/directory-place.ts";
import { faultOfCopy } from "../../../src/node/snapshot/run-database-task.ts";
import { deleteUnfinishedCopies } from "../../../src/node/snapshot/unfinished-copy.ts";
import { decodeMessage } from "../../../src/protocol/message/signed-message.ts";
import { openDataDir } from "../../../src/runtime/data-dir.ts";
import { Scope } from "../../../src/upstream/scope.ts";
import { configWith } from "../../runtime/config.ts";
import { liveHashes } from "../../support/live-messages.ts";
import { cast } from "../../support/records.ts";
import { localStores } from "../../support/state-stores.ts";
import { isDone, writeKeyed } from "./keyed-writes.ts";
import { openSnapshotNode, tablesOf, UNENDING } from "./snapshot-node.ts";

const UPSTREAM = "upstream.url=http://127.0.0.1:1";
const SIGNED_AT_WINDOW_SECS = 300;

test("copies of one database that are made at once are both whole: the process of a killed one keeps copying", async () => {
  using fixture = await openSnapshotNode();
  const { node, path } = fixture;
  mkdirSync(path("copies"));
  const to = join(path("copies"), "index.db");
  const where = { database: "index", file: indexPath(node.dir) } as const;
  const copy = () => copyDatabase(where, to, { signal: UNENDING, onBytes: () => undefined });
  writeFileSync(`${to}-copy-0badcafe`, "of a killed process");
  expect(await Promise.all([copy(), copy()])).toEqual([{ damage: [] }, { damage: [] }]);
  expect(await checkDatabase({ database: "index", file: to }, UNENDING)).toEqual({ damage: [] });
  deleteUnfinishedCopies(to);
  expect(readdirSync(path("copies"))).toEqual(["index.db"]);
});

describe("a snapshot of a node that runs", () => {
  test("holds every table, and its manifest says what it holds", async () => {
    using fixture = await openSnapshotNode();
    const { node, create, restore, path, names } = fixture;
    node.merge([cast(7, "first"), cast(7, "second")]);
    const manifest = await create("a");
    expect(manifest).toMatchObject({
      format: 1,
      created_at: "2025-06-15T15:06:40Z",
      index: { network: "mainnet", demo: false, upstream: null, rows: { fids: 1 } },
    });
    expect(names("a")).toEqual(["index.db.zst", "manifest.json", "state.db.zst"]);
    await restore("a", "b");
    expect(names("b")).toEqual(["index.db", "state.db"]);
    for (const pathOf of [indexPath, statePath]) {
      const [before, after] = [tablesOf(pathOf(node.dir)), tablesOf(pathOf(path("b")))];
      expect([...after.keys()]).toEqual([...before.keys()]);
      const changed = [...before.keys()].filter((table) => before.get(table) !== after.get(table));
      const mayChange = ["state_clock", "sqlite_sequence", ...Object.keys(COPY_TREATMENT)];
      expect(changed.filter((table) => !mayChange.includes(table))).toEqual([]);
      expect(changed.filter((table) => COPY_TREATMENT[table as "meta"] === "whole")).toEqual([]);
    }
  });

  test("has what the operator's page has changed beside the state, and a restore leaves that of the node", async () => {
    using fixture = await openSnapshotNode();
    const { create, restore, path, dataDir } = fixture;
    const [changed, own] = ["[http]\nmax_ids = 22\n", "[http]\nmax_ids = 23\n"];
    writeFileSync(join(dataDir, "settings.toml"), changed);
    expect(await create("index-alone", { parts: ["index"] })).not.toHaveProperty("settings");
    expect(await create("a", { parts: ["state"] })).toMatchObject({ settings: changed });
    const settingsIn = (name: string) => readFileSync(path(`${name}/settings.toml`), "utf8");
    expect(await restore("a", "b")).toMatchObject({ hasSettings: true });
    expect([settingsIn("b"), statSync(path("b/settings.toml")).mode & 0o777]).toEqual([changed, 0o600]);
    mkdirSync(path("c"));
    writeFileSync(path("c/settings.toml"), own);
    expect(await restore("a", "c")).toMatchObject({ hasSettings: false });
    expect(settingsIn("c")).toBe(own);
    await create("whole");
    expect(await restore("whole", "d", { parts: ["index"] })).toMatchObject({ hasSettings: null });
    expect(existsSync(path("d/settings.toml"))).toBe(false);
  });

  test("has the databases though the settings of the operator's page cannot be read, and says so", async () => {
    using fixture = await openSnapshotNode();
    const { create, path, dataDir, verify } = fixture;
    const file = join(dataDir, "settings.toml");
    const said: string[] = [];
    const onLeftOut = (what: string) => said.push(what);
    symlinkSync("/dev/zero", file);
    await create("index-alone", { parts: ["index"], onLeftOut });
    expect(said).toEqual([]);
    expect(await create("a", { onLeftOut })).not.toHaveProperty("settings");
    expect(said).toEqual([`${file} cannot be read, so it is not in the backup: it is not a regular file`]);
    await verify("a");
    const config = configWith(`data.dir=${dataDir}`);
    const root = directoryPlace(path("root"));
    const clock = { nowMs: () => 1_750_000_000_000 };
    expect(await makeBackup({ config, root, kind: "state", clock, signal: UNENDING })).toMatchObject({
      leftOut: said,
    });
  });

  test("has files that only their owner can read", async () => {
    using fixture = await openSnapshotNode();
    const { create, restore, path } = fixture;
    await create("a");
    await restore("a", "b");
    const files = ["a/index.db.zst", "a/state.db.zst", "a/manifest.json", "b/index.db", "b/state.db"];
    expect(files.map((file) => statSync(path(file)).mode & 0o777)).toEqual(files.map(() => 0o600));
    expect(statSync(path("a")).mode & 0o777).toBe(0o700);
  });

  test("publishes nothing that waits in the outbox when it has no state, and all of it when it has one", async () => {
    using fixture = await openSnapshotNode();
    const { node, create, restore, path } = fixture;
    node.merge([cast(7, "first"), cast(7, "second")]);
    const events = eventsAfter(node.db, 0, 10).length;
    expect(events).toBeGreaterThan(0);
    await create("whole");
    await create("index-alone", { parts: ["index"] });
    const waiting = async (name: string, into: string, parts?: readonly ["index"]) => {
      await restore(name, into, { parts });
      using index = openIndexWriter(indexPath(path(into)));
      return eventsAfter(index, publishedSeq(index), 10).length;
    };
    expect(await waiting("whole", "b")).toBe(events);
    expect(await waiting("index-alone", "c")).toBe(0);
    // The events of a state that is not restored belong to the node that has it.
    expect(await waiting("whole", "d", ["index"])).toBe(0);
  });

  test("has every cast that its state acknowledges, and publishes again what was published meanwhile", async () => {
    using fixture = await openSnapshotNode();
    const { node, create, restore, path } = fixture;
    using state = openState(statePath(node.dir));
    const { writes } = localStores(state);
    const before = publishedSeq(node.db);
    let written = 0;
    // At each step of the copy, as a node does that serves meanwhile.
    const write = () => {
      const record = cast(7, `cast ${written++}`);
      node.merge([record]);
      const decoded = decodeMessage(record.bytes);
      if (!decoded.ok) throw new Error("a cast");
      const { hash } = decoded.value;
      const request = crypto.randomUUID();
      const message = { position: 0, fid: 7, type: 1, hash, message: record.bytes };
      const audit = { action: "write.cast", signerUuid: null, requestId: "r", address: "127.0.0.1" };
      const stored = { request, ownerFid: 7, apiKeyId: "key", call: null, messages: [message], audit };
      void writes.begin(stored, 1_000).then(async (result) => {
        const [lease] = result.kind === "leased" ? result.leases : [];
        if (lease) await writes.settle(request, [{ lease, result: { kind: "merged" } }]);
      });
      markAllPublished(node.db);
    };
    await create("a", { onProgress: write });
    await restore("a", "b");
    using restoredState = new Database(statePath(path("b")), { readonly: true });
    const acknowledged = restoredState
      .query<{ hash: Uint8Array }, []>("SELECT hash FROM queued_writes WHERE state = 'merged'")
      .all();
    using index = openIndexWriter(indexPath(path("b")));
    const held = liveHashes(index);
    expect(acknowledged.length).toBeGreaterThan(0);
    for (const { hash } of acknowledged) expect(held).toContain(hash.toHex());
    expect(publishedSeq(index)).toBe(before);
    expect(eventsAfter(index, before, 1_000).length).toBeGreaterThanOrEqual(acknowledged.length);
  });

  test("keeps the idempotency key of a cast that was written while the index was copied", async () => {
    using fixture = await openSnapshotNode();
    const { node, create, restore, path } = fixture;
    using state = openState(statePath(node.dir));
    const written: Promise<void>[] = [];
    const onProgress = ({ part }: SnapshotProgress) => {
      // The copy of the state is complete by then.
      if (part === "index" && written.length === 0) written.push(writeKeyed(node, state, "meanwhile"));
    };
    await create("a", { onProgress });
    await Promise.all(written);
    expect(written).toHaveLength(1);
    await restore("a", "b");
    using restored = openState(statePath(path("b")));
    expect(await isDone(restored, "meanwhile")).toBe(true);
  });

  test("refuses requests that were signed before the state was restored, and ends sessions", async () => {
    using fixture = await openSnapshotNode();
    const { node, create, restore, path } = fixture;
    {
      using state = openState(statePath(node.dir));
      state.sqlite.run(
        `INSERT INTO sessions (session_id, owner_fid, public_key, custody, access, label, origin, created_at, expires_at)
         VALUES ('s', 1, 'k', 'c', 'read', 'l', 'https://a.example', 1, 9999999999)`,
      );
    }
    await create("a", { parts: ["state"] });
    await restore("a", "b");
    using state = openState(statePath(path("b")));
    expect(nonceFloor(state)).toBe(1_750_000_000 + SIGNED_AT_WINDOW_SECS);
    expect(state.sqlite.query("SELECT count(*) AS n FROM sessions").get()).toEqual({ n: 0 });
  });

  test("numbers the events of a log of its own", async () => {
    using fixture = await openSnapshotNode();
    const { node, create, restore, path } = fixture;
    writeMeta(node.db, "log id", "1");
    await create("a");
    await restore("a", "b");
    expect(tablesOf(indexPath(path("b"))).get("meta")).not.toContain("log id");
  });
});

describe("a snapshot is not made", () => {
  test("over a directory that exists", async () => {
    using fixture = await openSnapshotNode();
    const { create, path } = fixture;
    mkdirSync(path("a"));
    await expect(create("a")).rejects.toThrow("already exists");
  });

  test("of an index that is being filled, unless that is asked for", async () => {
    using fixture = await openSnapshotNode();
    const { node, create, verify } = fixture;
    writeMeta(node.db, "follows", "true");
    putPosition(node.db, "upstream stage", 2);
    putPosition(node.db, "upstream shards", 2);
    putPosition(node.db, "upstream 1 applied", 41);
    await expect(create("a", { parts: ["index"] })).rejects.toThrow("--any-stage");
    const { index } = await create("a", { parts: ["index"], anyStage: true });
    expect(index?.upstream).toEqual({
      fids: 0,
      stage: "filling",
      shards: 2,
      applied_blocks: { "1": 41 },
      seqnum: null,
    });
    expect((await verify("a", UPSTREAM)).index).toEqual(index);
  });

  test("when the write-ahead log grows too large meanwhile, and leaves nothing", async () => {
    using fixture = await openSnapshotNode();
    const { create, path } = fixture;
    await expect(create("a", { logLimitBytes: 0 })).rejects.toThrow("write-ahead log passed 0 MB");
    expect([existsSync(path("a")), existsSync(path("a.partial"))]).toEqual([false, false]);
  });

  test("without room for its lock, and leaves nothing", async () => {
    using fixture = await openSnapshotNode();
    // Where the longest paths end: the directory can be made, its lock cannot be opened, or not even made.
    let deep = fixture.path("deep");
    while (deep.length < 3700) deep = join(deep, "d".repeat(200));
    mkdirSync(deep, { recursive: true });
    for (const pathBytes of [4080, 4090]) {
      const name = "n".repeat(pathBytes - `${deep}/.partial`.length);
      const making = fixture.create("", { place: directoryPlace(join(deep, name)) });
      await expect(making).rejects.toThrow("cannot be locked");
      expect(readdirSync(deep)).toEqual([]);
    }
  });

  test("while another process makes it", async () => {
    using fixture = await openSnapshotNode();
    const { create, path } = fixture;
    const other = openDataDir(path("a.partial"));
    await expect(create("a")).rejects.toThrow(`is in use by process ${process.pid}`);
    other.release();
    await create("a");
  });

  test("after it was stopped, and leaves nothing", async () => {
    using fixture = await openSnapshotNode();
    const { create, path } = fixture;
    const stop = new AbortController();
    const creating = create("a", { signal: stop.signal, onProgress: () => stop.abort(new Error("stopped")) });
    await expect(creating).rejects.toThrow("stopped");
    expect([existsSync(path("a")), existsSync(path("a.partial"))]).toEqual([false, false]);
  });
});

describe("a snapshot is not restored", () => {
  test.each([
    [
      "of another network",
      ["protocol.network=testnet"],
      "the index holds mainnet; protocol.network is testnet",
    ],
    ["of a node that follows none, where upstream.url is set", [UPSTREAM], "was filled without an upstream"],
  ])("%s", async (_name, settings, message) => {
    using fixture = await openSnapshotNode();
    const { create, verify } = fixture;
    await create("a");
    await expect(verify("a", ...settings)).rejects.toThrow(message);
  });

  test.each([
    ["without upstream.url", [], "upstream.url is empty"],
    ["for other fids", [UPSTREAM, "upstream.fids=3,5"], "the index follows other fids"],
    ["for all fids", [UPSTREAM], "the index follows other fids"],
  ])("of a node that follows some fids: %s", async (_name, settings, message) => {
    using fixture = await openSnapshotNode();
    const { node, create, verify } = fixture;
    writeMeta(node.db, "follows", "true");
    putPosition(node.db, "upstream stage", 3);
    putPosition(node.db, "upstream scope", new Scope(new Set([3, 4]), []).fingerprint);
    await create("a");
    await expect(verify("a", ...settings)).rejects.toThrow(message);
    await verify("a", UPSTREAM, "upstream.fids=4,3");
  });

  test.each([
    ["an index", "index.db"],
    ["a state", "state.db"],
    ["a log that belongs to no file", "index.db-wal"],
  ])("over %s", async (_name, file) => {
    using fixture = await openSnapshotNode();
    const { create, restore, path, names } = fixture;
    await create("a");
    mkdirSync(path("b"));
    writeFileSync(path(`b/${file}`), "data");
    await expect(restore("a", "b")).rejects.toThrow(`${path(`b/${file}`)} already exists`);
    expect([names("b"), readFileSync(path(`b/${file}`), "utf8")]).toEqual([[file], "data"]);
  });

  test("beside PostgreSQL, unless it is only the index", async () => {
    using fixture = await openSnapshotNode();
    const { create, restore, names } = fixture;
    await create("a");
    const config = configWith("state.url=postgres://svc@127.0.0.1/svc");
    await expect(restore("a", "b", { config })).rejects.toThrow("add --index-only");
    await restore("a", "b", { config, parts: ["index"] });
    expect(names("b")).toEqual(["index.db"]);
  });

  test("without a state by mistake: an index of another node gets an empty one, that of a backup does not", async () => {
    using fixture = await openSnapshotNode();
    const { create, restore, path, names } = fixture;
    await create("whole");
    await create("index-alone", { parts: ["index"] });
    expect(await restore("index-alone", "b")).toMatchObject({
      parts: ["index"],
      isStateNew: true,
      keys: null,
    });
    expect(names("b")).toEqual(["index.db", "state.db"]);
    openState(statePath(path("b")), { mayCreate: false })[Symbol.dispose]();
    expect(await restore("whole", "c", { parts: ["index"] })).toMatchObject({ isStateNew: false });
    expect(names("c")).toEqual(["index.db"]);
    expect(await restore("whole", "e")).toMatchObject({ keys: { count: 0, listed: [] } });
    // One that is there stays.
    mkdirSync(path("d"));
    openState(statePath(path("d")))[Symbol.dispose]();
    expect(await restore("index-alone", "d")).toMatchObject({ isStateNew: false });
  });

  test("with a newer schema or format, or a manifest that is damaged, missing or huge", async () => {
    using fixture = await openSnapshotNode();
    const { create, verify, path } = fixture;
    const manifest = await create("a");
    const file = path("a/manifest.json");
    const index = manifest.index;
    for (const [content, message] of [
      [{ ...manifest, index: { ...index, schema: 9e15 } }, "is damaged: /index"],
      [{ ...manifest, index: { ...index, schema: 2e12 } }, "newer version"],
      [{ ...manifest, format: 2 }, "has format 2; this program knows 1"],
      [{ ...manifest, index: { ...index, sha256: "../../x" } }, "is damaged: /index"],
      [{ ...manifest, index: null, state: null }, "neither an index nor a state"],
      [[], "is damaged"],
      ["x".repeat(2 ** 22), "it is too large"],
    ] as const) {
      writeFileSync(file, JSON.stringify(content));
      await expect(verify("a")).rejects.toThrow(message);
    }
    writeFileSync(file, "{");
    await expect(verify("a")).rejects.toThrow("is damaged");
    await expect(verify("nowhere")).rejects.toThrow("holds no snapshot");
  });

  test("from a directory that holds several: the newest is named", async () => {
    using fixture = await openSnapshotNode();
    const { create, verify, path } = fixture;
    await create("all/1", { parts: ["state"] });
    await create("all/2", { parts: ["state"] });
    await expect(verify("all")).rejects.toThrow(`the newest: ${path("all/2")}`);
  });

  test("after any byte of a file has changed, or the file was cut or made longer", async () => {
    using fixture = await openSnapshotNode();
    const { create, verify, path } = fixture;
    await create("a");
    const files = ["index.db.zst", "state.db.zst"].map((name) => path(`a/${name}`));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 0, max: 9 }),
        async (file, at, bit) => {
          const before = readFileSync(file);
          const changed = Buffer.from(before);
          const offset = Math.floor(at * before.length);
          if (bit < 8) changed[offset] = (before[offset] ?? 0) ^ (1 << bit);
          writeFileSync(
            file,
            bit === 8 ? before.subarray(0, offset) : bit === 9 ? Buffer.concat([before, before]) : changed,
          );
          const outcome = await verify("a").then(
            () => "accepted",
            (cause: Error) => cause.message,
          );
          writeFileSync(file, before);
          expect(outcome).toContain(`${file} is not the file that was written`);
        },
      ),
      { numRuns: 40 },
    );
    await verify("a");
  });

  test("when a file holds more than the manifest says", async () => {
    using fixture = await openSnapshotNode();
    const { create, restore, path, names } = fixture;
    await create("a", { parts: ["index"] });
    writeFileSync(path("a/index.db.zst"), Bun.zstdCompressSync(Buffer.alloc(64 * 2 ** 20)));
    await expect(restore("a", "b")).rejects.toThrow("it holds more than");
    expect(names("b")).toEqual([]);
  });

  test("without enough free space", async () => {
    using fixture = await openSnapshotNode();
    const { node, create, path, restore } = fixture;
    const manifest = await create("a");
    const huge = { ...manifest, index: { ...manifest.index, bytes: 2 ** 50 } };
    writeFileSync(path("a/manifest.json"), JSON.stringify(huge));
    await expect(restore("a", "b")).rejects.toThrow("of free space");
    expect(existsSync(join(node.dir, "index.db"))).toBe(true);
  });
});

test("a restore that was killed between two moves is completed by the next, and no other command uses the directory", async () => {
  using fixture = await openSnapshotNode();
  const { create, restore, path, names } = fixture;
  const manifest = await create("a");
  await restore("a", "b");
  const expected = [indexPath, statePath].map((pathOf) => tablesOf(pathOf(path("b"))));
  const report = {
    manifest,
    parts: ["index", "state"] as const,
    isStateNew: false,
    keys: null,
    hasSettings: null,
  };
  // The state as the kill leaves it: one database is moved, the other is not.
  mkdirSync(path("b/restoring"));
  renameSync(path("b/index.db"), path("b/restoring/index.db"));
  writeFileSync(path("b/restoring/complete"), JSON.stringify(report));
  expect(() => openDataDir(path("b"))).toThrow("restoring a snapshot was interrupted");
  expect(await restore("a", "b")).toEqual(report);
  expect(names("b")).toEqual(expect.arrayContaining(["index.db", "state.db"]));
  expect(existsSync(path("b/restoring"))).toBe(false);
  expect([indexPath, statePath].map((pathOf) => tablesOf(pathOf(path("b"))))).toEqual(expected);
  openDataDir(path("b")).release();
});

test("a restore that was killed before its databases were whole is repeated, and no node starts in the directory with empty ones", async () => {
  using fixture = await openSnapshotNode();
  const { create, restore, path, names } = fixture;
  await create("a");
  mkdirSync(path("b/restoring"), { recursive: true });
  writeFileSync(path("b/restoring/index.db"), "half");
  expect(() => openDataDir(path("b"))).toThrow(`or delete ${path("b/restoring")} to leave the directory`);
  expect(names("b")).not.toContain("index.db");
  await restore("a", "b");
  expect(names("b")).toEqual(expect.arrayContaining(["index.db", "state.db"]));
  openDataDir(path("b")).release();
});

test("a damaged database is not copied", async () => {
  using fixture = await openSnapshotNode();
  const { node, create } = fixture;
  node.db.checkpoint();
  const file = indexPath(node.dir);
  const bytes = readFileSync(file);
  const root = (() => {
    using sqlite = new Database(file, { readonly: true });
    return sqlite
      .query<{ rootpage: number }, []>("SELECT rootpage FROM sqlite_master WHERE name = 'casts'")
      .get();
  })();
  bytes.fill(0xff, ((root?.rootpage ?? 1) - 1) * 4096, (root?.rootpage ?? 1) * 4096);
  mkdirSync(fixture.path("data"));
  writeFileSync(fixture.path("data/index.db"), bytes);
  await expect(create("a", { dataDir: fixture.path("data"), parts: ["index"] })).rejects.toThrow("malformed");
});

test("a copy that finds no room names the disk of the copy, not that of the database", () => {
  using source = new Database(":memory:");
  let full: unknown;
  try {
    // A device on which every write finds the disk full.
    source.run("CREATE TABLE t (a)");
    source.run("VACUUM INTO '/dev/full'");
  } catch (cause) {
    full = cause;
  }
  const copy = { database: "state", file: "/backups/b.partial/state.db" } as const;
  expect(String(faultOfCopy(copy, full))).toContain(
    "Free space on the disk of /backups/b.partial, and try again",
  );
  const busy = new Error("not of the copy");
  expect(faultOfCopy(copy, busy)).toBe(busy);
});
