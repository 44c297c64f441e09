import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { openHistory } from "../../../src/history/history.ts";
import { createBackups } from "../../../src/node/backup/backups.ts";
import { createSnapshot } from "../../../src/node/snapshot/create-snapshot.ts";
import { placeOf } from "../../../src/node/snapshot/places/place-of.ts";
import { seal, unseal } from "../../../src/node/snapshot/places/seal-stream.ts";
import { restoreSnapshot } from "../../../src/node/snapshot/restore-snapshot.ts";
import { verifySnapshot } from "../../../src/node/snapshot/verify-snapshot.ts";
import { configWith } from "../../runtime/config.ts";
import { CREDENTIALS, startBucketServer } from "../../support/bucket-server.ts";
import { ManualClock } from "../../support/clock.ts";
import { silentLog } from "../../support/log.ts";
import { openSnapshotNode, tablesOf, UNENDING } from "./snapshot-node.ts";

const server = startBucketServer();
afterAll(() => server[Symbol.dispose]());
const KEY = "5e".repeat(32);
const clock = new ManualClock(1_750_000_000);

function settings(...more: string[]) {
  return configWith(
    `backup.endpoint=${server.url}`,
    `backup.access_key_id=${CREDENTIALS.accessKeyId}`,
    `backup.secret_access_key=${CREDENTIALS.secretAccessKey}`,
    ...more,
  );
}

/** A web server over the objects of the bucket, as many stores have one. */
const web = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch({ url }) {
    const found = server.objects.get(decodeURIComponent(new URL(url).pathname.slice(1)));
    return found ? new Response(found as Uint8Array<ArrayBuffer>) : new Response(null, { status: 404 });
  },
});
afterAll(() => void web.stop(true));

describe("a snapshot in a bucket", () => {
  test("is encrypted, is restored from there and over the web, and leaves no copy on the node", async () => {
    using fixture = await openSnapshotNode();
    const config = settings(`backup.encryption_key=${KEY}`);
    const place = placeOf("s3://bucket/nodes/today", config.backup);
    const parts = ["index", "state"] as const;
    await createSnapshot({ dataDir: fixture.dataDir, place, parts, clock, signal: UNENDING });
    expect([...server.objects.keys()].sort()).toEqual([
      "nodes/snapshots.json",
      "nodes/today/index.db.zst",
      "nodes/today/manifest.json",
      "nodes/today/state.db.zst",
    ]);
    expect(readdirSync(fixture.dataDir).filter((name) => name.startsWith("upload"))).toEqual([]);
    for (const [key, bytes] of server.objects)
      if (key.startsWith("nodes/today/")) {
        const text = Buffer.from(bytes).toString("latin1");
        expect([text.slice(0, 8), text.includes("SQLite"), text.includes("sha256")]).toEqual([
          "svcseal1",
          false,
          false,
        ]);
      }
    await expect(
      createSnapshot({ dataDir: fixture.dataDir, place, parts, clock, signal: UNENDING }),
    ).rejects.toThrow("already exists");
    const restored: Map<string, string>[] = [];
    for (const [at, from] of [
      "s3://bucket/nodes/today",
      `http://127.0.0.1:${web.port}/nodes/today`,
    ].entries()) {
      const source = placeOf(from, config.backup);
      const listed = await placeOf(from.replace("/today", ""), config.backup).snapshots(UNENDING);
      expect(listed).toEqual([{ name: "today", bytes: expect.any(Number) }]);
      const dataDir = fixture.path(`restored-${at}`);
      await Bun.write(join(dataDir, "empty"), "");
      await restoreSnapshot({ place: source, dataDir, config, clock, signal: UNENDING });
      restored.push(tablesOf(join(dataDir, "index.db")));
    }
    expect(restored[0]?.get("messages")).toBe(
      tablesOf(join(fixture.dataDir, "index.db")).get("messages") ?? "",
    );
    expect(restored[1]).toEqual(restored[0] ?? new Map());
    for (const [key, text] of [
      ["", "it is encrypted: set backup.encryption_key"],
      ["5f".repeat(32), "backup.encryption_key is another one"],
    ]) {
      const other = placeOf("s3://bucket/nodes/today", settings(`backup.encryption_key=${key}`).backup);
      await expect(verifySnapshot({ place: other, config, signal: UNENDING })).rejects.toThrow(text);
    }
    // One byte of the database.
    const stored = server.objects.get("nodes/today/state.db.zst") ?? new Uint8Array();
    stored[stored.length - 100] = (stored.at(-100) ?? 0) ^ 1;
    await expect(verifySnapshot({ place, config, signal: UNENDING })).rejects.toThrow(
      "state.db.zst is not the file that was written",
    );
  });

  test("as a backup displaces the oldest of its kind, and the operator sees the rest", async () => {
    using fixture = await openSnapshotNode();
    server.objects.clear();
    server.objects.set("own/notes.txt", new Uint8Array(1));
    const config = settings(`data.dir=${fixture.dataDir}`, "backup.keep=2", "backup.url=s3://bucket/own");
    const root = placeOf(config.backup.url, config.backup);
    const deleted: string[] = [];
    const openPast = () =>
      openHistory({
        dir: fixture.dataDir,
        settings: { max_bytes: 8_388_608, log_days: 7 },
        beginning: { version: "1", settings: {} },
        clock,
        log: silentLog,
      });
    let history = openPast();
    let backups = createBackups({ config, clock, past: history.backups });
    for (let made = 0; made < 3; made++) {
      const backup = await backups.make("state", UNENDING);
      deleted.push(...backup.deleted);
      clock.advanceSecs(1);
    }
    expect(deleted).toEqual(["s3://bucket/own/20250615T150640Z-state"]);
    server.fault = () => Promise.resolve(new Response(null, { status: 403 }));
    await expect(backups.make("state", UNENDING)).rejects.toThrow("HTTP 403");
    server.fault = () => undefined;
    // The list of another run of the node, which has made none.
    history.stop();
    history = openPast();
    backups = createBackups({ config, clock, past: history.backups });
    const listed = await backups.list();
    expect(listed.map(({ file, ok, is_deleted }) => [file, ok, is_deleted])).toEqual([
      [null, false, false],
      ["20250615T150642Z-state", true, false],
      ["20250615T150641Z-state", true, false],
      ["20250615T150640Z-state", true, true],
    ]);
    expect(listed[0]?.reason).toContain("HTTP 403");
    for (const { ok, bytes, seconds, kind } of listed) {
      expect(kind).toBe("state");
      expect(seconds).toBeGreaterThan(0);
      if (ok) expect(bytes).toBeGreaterThan(0);
    }
    const marks = history.rpc.lanes({ from: 0, to: clock.nowMs() / 1000 + 1, buckets: 1 });
    expect(
      marks.ok && marks.value.marks.map(({ kind }) => kind).filter((kind) => /backup/.test(kind)),
    ).toEqual(["backup", "backup", "backup", "backup_failed"]);
    history.stop();
    expect(server.objects.has("own/notes.txt")).toBe(true);
    await expect(verifySnapshot({ place: root, config, signal: UNENDING })).rejects.toThrow(
      "holds 2 snapshots. Name one of them, such as the newest: s3://bucket/own/20250615T150642Z-state",
    );
  });

  test("that cannot be stored leaves no snapshot and no copy", async () => {
    using fixture = await openSnapshotNode();
    server.objects.clear();
    server.fault = (request) =>
      request.method === "PUT" && request.url.includes("index.db")
        ? Promise.resolve(new Response(null, { status: 403 }))
        : undefined;
    const place = placeOf("s3://bucket/nodes/today", settings().backup);
    await expect(
      createSnapshot({ dataDir: fixture.dataDir, place, parts: ["state", "index"], clock, signal: UNENDING }),
    ).rejects.toThrow("s3://bucket/nodes/today/index.db.zst: HTTP 403");
    const deletions = server.requests.filter((request) => request.startsWith("DELETE"));
    expect(deletions).toContain("DELETE /bucket/nodes/today/state.db.zst");
    server.fault = () => undefined;
    expect([...server.objects.keys()]).toEqual([]);
    expect(existsSync(join(fixture.dataDir, "upload.partial"))).toBe(false);
  });
});

test("a directory is encrypted in the same way", async () => {
  using fixture = await openSnapshotNode();
  const config = settings(`backup.encryption_key=${KEY}`);
  const place = placeOf(fixture.path("sealed"), config.backup);
  await createSnapshot({ dataDir: fixture.dataDir, place, parts: ["state"], clock, signal: UNENDING });
  expect(readFileSync(fixture.path("sealed/state.db.zst")).toString("latin1", 0, 8)).toBe("svcseal1");
  expect((await verifySnapshot({ place, config, signal: UNENDING })).state).not.toBeNull();
  await expect(fixture.verify("sealed")).rejects.toThrow("it is encrypted");
});

test("with a key, what is not encrypted is refused: anybody who can write there could have put it in place of a backup", async () => {
  using fixture = await openSnapshotNode();
  const sealing = settings(`backup.encryption_key=${KEY}`);
  const make = (name: string, { backup }: typeof sealing) =>
    createSnapshot({
      dataDir: fixture.dataDir,
      place: placeOf(fixture.path(name), backup),
      parts: ["state"],
      clock,
      signal: UNENDING,
    });
  await make("forged", settings());
  await make("own", sealing);
  const verify = (name: string) =>
    verifySnapshot({
      place: placeOf(fixture.path(name), sealing.backup),
      config: sealing,
      signal: UNENDING,
    });
  await expect(verify("forged")).rejects.toThrow("it is not encrypted, and backup.encryption_key is set");
  cpSync(fixture.path("forged/state.db.zst"), fixture.path("own/state.db.zst"));
  await expect(verify("own")).rejects.toThrow("it is not encrypted, and backup.encryption_key is set");
});

test.each([
  ["s3://B/x", "is not a URL such as s3://bucket/prefix"],
  ["ftp://host/x", "is neither a directory nor a URL"],
  ["http://example.com/x", "is neither a directory nor a URL"],
])("the place %s is refused", (text, message) => {
  expect(() => placeOf(text, settings().backup)).toThrow(message);
});

test("a web server that has sent nothing is given up after four attempts; one that has, after as many as a bucket", async () => {
  let calls = 0;
  let isUp = false;
  using dead = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      calls += 1;
      return isUp ? new Response('{"snapshots":[]}') : new Response(null, { status: 503 });
    },
  });
  const retries = { maxFailures: 8, initialDelayMs: 1, maxDelayMs: 1, stallMs: 10_000 };
  const place = placeOf(`http://127.0.0.1:${dead.port}/nodes`, settings().backup, retries);
  await expect(place.snapshots(UNENDING)).rejects.toThrow("HTTP 503, after 4 attempts");
  isUp = true;
  expect(await place.snapshots(UNENDING)).toEqual([]);
  isUp = false;
  await expect(place.snapshots(UNENDING)).rejects.toThrow("HTTP 503, after 8 attempts");
  expect(calls).toBe(13);
});

test("a bucket needs credentials, and one place has the backups", () => {
  expect(() => placeOf("s3://bucket/x", configWith().backup)).toThrow("needs backup.access_key_id");
  expect(() => configWith("backup.url=s3://bucket/x")).toThrow(
    "must not be set without backup.access_key_id",
  );
  expect(() => settings("backup.url=s3://bucket/x", "backup.dir=/backup")).toThrow(
    "backups are in one place",
  );
});

describe("a sealed stream", () => {
  const collect = async (chunks: AsyncIterable<Uint8Array>) => Buffer.concat(await Array.fromAsync(chunks));
  const chunked = async function* (bytes: Uint8Array, size: number) {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  const MEBIBYTE = 1024 * 1024;

  test("is opened as it was, in chunks of any size, and no byte of it can be changed, left out or added", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0, 1, 100, MEBIBYTE - 1, MEBIBYTE, MEBIBYTE + 1, 2 * MEBIBYTE + 5),
        fc.constantFrom(17, 65_536, 3 * MEBIBYTE),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        async (length, size, where) => {
          const step = Math.max(size, 4096);
          const bytes = new Uint8Array(length).fill(length % 251);
          const sealed = await collect(seal(chunked(bytes, step), KEY));
          expect((await collect(unseal(chunked(sealed, step), KEY))).equals(bytes)).toBe(true);
          const changed = Buffer.from(sealed);
          const at = 8 + Math.floor(where * (sealed.length - 8));
          changed[at] = (changed[at] ?? 0) ^ 1;
          const cut = sealed.subarray(0, 24 + Math.floor(where * (sealed.length - 24)));
          const longer = Buffer.concat([sealed, Buffer.alloc(1)]);
          for (const hostile of [changed, cut, longer])
            await expect(collect(unseal(chunked(hostile, step), KEY))).rejects.toThrow(
              "it cannot be decrypted",
            );
        },
      ),
      { numRuns: 5 },
    );
  });
});
