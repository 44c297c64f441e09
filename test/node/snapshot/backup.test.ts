import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { writeMeta } from "../../../src/db/index/meta.ts";
import { putPosition } from "../../../src/db/index/positions.ts";
import { type BackupKind, backupsIn, makeBackup } from "../../../src/node/backup/backup.ts";
import { startBackupSchedule } from "../../../src/node/backup/backup-schedule.ts";
import { directoryPlace } from "../../../src/node/snapshot/places/directory-place.ts";
import { configWith } from "../../runtime/config.ts";
import { ManualClock } from "../../support/clock.ts";
import { compiledFile } from "../../support/compiled-program.ts";
import { silentLog } from "../../support/log.ts";
import { ManualTimers } from "../../support/timers.ts";
import { openSnapshotNode, type SnapshotNode, UNENDING } from "./snapshot-node.ts";

/** 2025-06-15 15:06:40 UTC. */
const NOW_SECS = 1_750_000_000;
const DAY_SECS = 86_400;

function backupOf({ dataDir, path }: SnapshotNode, clock: ManualClock, ...settings: string[]) {
  const config = configWith(`data.dir=${dataDir}`, "backup.keep=2", ...settings);
  return (kind: BackupKind) =>
    makeBackup({ config, root: directoryPlace(path("root")), kind, clock, signal: UNENDING });
}

describe("a backup", () => {
  test("is a verified snapshot, of which the newest of each kind stay", async () => {
    using fixture = await openSnapshotNode();
    const clock = new ManualClock(NOW_SECS);
    const make = backupOf(fixture, clock);
    const kinds: BackupKind[] = ["whole", "state", "state", "state", "whole", "index"];
    const deleted: string[] = [];
    for (const kind of kinds) {
      deleted.push(...(await make(kind)).deleted);
      clock.advanceSecs(1);
    }
    expect(fixture.names("root")).toEqual([
      "20250615T150640Z",
      "20250615T150642Z-state",
      "20250615T150643Z-state",
      "20250615T150644Z",
      "20250615T150645Z-index",
    ]);
    expect(deleted.map((path) => basename(path))).toEqual(["20250615T150641Z-state"]);
    for (const name of fixture.names("root")) await fixture.verify(`root/${name}`);
  });

  test("of a node whose state is in PostgreSQL has the settings of the operator's page, which a restore brings to a lost data directory", async () => {
    using fixture = await openSnapshotNode();
    const changed = "[http]\nmax_ids = 22\n";
    writeFileSync(join(fixture.dataDir, "settings.toml"), changed);
    const { manifest, name } = await backupOf(fixture, new ManualClock(NOW_SECS))("index");
    expect(manifest).toMatchObject({ state: null, settings: changed });
    const config = configWith("state.url=postgres://svc@postgres.example:5432/svc?sslmode=verify-full");
    expect(await fixture.restore(`root/${name}`, "lost", { config })).toMatchObject({
      parts: ["index"],
      isStateNew: false,
      hasSettings: true,
    });
    expect(fixture.names("lost")).toEqual(["index.db", "settings.toml"]);
    expect(readFileSync(fixture.path("lost/settings.toml"), "utf8")).toBe(changed);
    mkdirSync(fixture.path("other"));
    writeFileSync(fixture.path("other/settings.toml"), "[http]\nmax_ids = 23\n");
    expect(await fixture.restore(`root/${name}`, "other", { config })).toMatchObject({ hasSettings: false });
    expect(readFileSync(fixture.path("other/settings.toml"), "utf8")).toContain("23");
  });

  test("requested on the operator's page neither displaces others nor is displaced by them", async () => {
    using fixture = await openSnapshotNode();
    const clock = new ManualClock(NOW_SECS);
    const config = configWith(`data.dir=${fixture.dataDir}`, "backup.keep=2");
    for (const isManual of [false, true, true, true, false]) {
      await makeBackup({
        config,
        root: directoryPlace(fixture.path("root")),
        kind: "state",
        isManual,
        clock,
        signal: UNENDING,
      });
      clock.advanceSecs(1);
    }
    expect(fixture.names("root")).toEqual([
      "20250615T150640Z-state",
      "20250615T150642Z-state-manual",
      "20250615T150643Z-state-manual",
      "20250615T150644Z-state",
    ]);
  });

  test("deletes nothing but backups and what killed ones left", async () => {
    using fixture = await openSnapshotNode();
    const clock = new ManualClock(NOW_SECS);
    const make = backupOf(fixture, clock);
    const foreign = ["notes.txt", "20200101T000000Z-other", "photos.partial", "20200101T000000Z"];
    for (const name of foreign) {
      mkdirSync(fixture.path(`root/${name}`), { recursive: true });
      writeFileSync(fixture.path(`root/${name}/file`), name);
    }
    mkdirSync(fixture.path("root/20200102T000000Z.partial"));
    writeFileSync(fixture.path("root/20200102T000000Z.partial/state.db"), "half");
    for (let made = 0; made < 3; made++) {
      await make("state");
      clock.advanceSecs(1);
    }
    expect(fixture.names("root")).toEqual(
      [...foreign, "20250615T150641Z-state", "20250615T150642Z-state"].sort(),
    );
    for (const name of foreign) expect(readFileSync(fixture.path(`root/${name}/file`), "utf8")).toBe(name);
  });

  test("that is made after the clock was set back stays", async () => {
    using fixture = await openSnapshotNode();
    const clock = new ManualClock(NOW_SECS);
    const make = backupOf(fixture, clock);
    for (let made = 0; made < 2; made++) {
      await make("state");
      clock.advanceSecs(1);
    }
    clock.advanceSecs(-DAY_SECS);
    const { path, deleted } = await make("state");
    expect(deleted.map((old) => basename(old))).toEqual(["20250615T150640Z-state"]);
    expect(existsSync(path)).toBe(true);
  });

  test("that fails deletes no older one", async () => {
    using fixture = await openSnapshotNode();
    const clock = new ManualClock(NOW_SECS);
    const make = backupOf(fixture, clock, "protocol.network=testnet");
    for (let at = 0; at < 2; at++) {
      await make("state");
      clock.advanceSecs(1);
    }
    // The index is of mainnet.
    await expect(make("whole")).rejects.toThrow("the index holds mainnet");
    const stored = await backupsIn(directoryPlace(fixture.path("root")), UNENDING);
    expect(stored.filter(({ kind }) => kind === "state")).toHaveLength(2);
  });
});

const isRoot = process.getuid?.() === 0;
const SERVICE = 65_534;

describe("in a directory of a service, root's backup", () => {
  test.skipIf(!isRoot)("belongs to the service, which deletes it in its turn", async () => {
    using fixture = await openSnapshotNode();
    const root = fixture.path("root");
    mkdirSync(root);
    chownSync(root, SERVICE, SERVICE);
    const { path } = await backupOf(fixture, new ManualClock(NOW_SECS))("state");
    const owners = [path, ...readdirSync(path).map((name) => join(path, name))].map(
      (one) => statSync(one).uid,
    );
    expect(new Set(owners)).toEqual(new Set([SERVICE]));
  });

  test.skipIf(isRoot && !Bun.which("setpriv"))(
    "that the service cannot delete is named once, whole or half, and the others are deleted as before",
    async () => {
      using fixture = await openSnapshotNode();
      const root = fixture.path("root");
      const make = backupOf(fixture, new ManualClock(NOW_SECS - 60));
      const own = await make("state");
      const foreign = ["20200101T000000Z-state", "20200102T000000Z-state.partial"].map((name) =>
        join(root, name),
      );
      for (const path of foreign) {
        cpSync(own.path, path, { recursive: true });
        chmodSync(path, isRoot ? 0o700 : 0o000);
      }
      if (isRoot) for (const path of [root, own.path]) chownSync(path, SERVICE, SERVICE);
      chmodSync(fixture.path(""), 0o755);
      chmodSync(fixture.dataDir, 0o777);
      for (const name of readdirSync(fixture.dataDir)) chmodSync(join(fixture.dataDir, name), 0o666);
      const user = isRoot ? ["setpriv", `--reuid=${SERVICE}`, `--regid=${SERVICE}`, "--clear-groups"] : [];
      const settings = ["--data-dir", fixture.dataDir, "--set", "backup.keep=1"];
      // The program may be in a directory that is closed to other users.
      const program = fixture.path("svc");
      cpSync(compiledFile, program);
      const child = Bun.spawn([...user, program, ...settings, "backup", "--state-only", "--to", root], {
        cwd: root,
        stdout: "ignore",
        stderr: "pipe",
      });
      const errors = (await new Response(child.stderr).text()).split("\n");
      expect([await child.exited, errors.filter((line) => line.includes("Backups of another user"))]).toEqual(
        [0, [expect.stringContaining(foreign[0] ?? "")]],
      );
      expect(errors.join("\n")).toContain(foreign[1] ?? "");
      expect(fixture.names("root")).toHaveLength(3);
      expect(existsSync(own.path)).toBe(false);
    },
  );
});

describe("scheduled backups", () => {
  /** A schedule at 03:15 whose backups are recorded. */
  function startSchedule(fixture: SnapshotNode, clock: ManualClock, ...settings: string[]) {
    const timers = new ManualTimers();
    const made: string[] = [];
    const config = configWith(
      `data.dir=${fixture.dataDir}`,
      `backup.dir=${fixture.path("root")}`,
      "backup.at=03:15",
      ...settings,
    );
    let fault: Error | undefined;
    const schedule = startBackupSchedule({
      config,
      clock,
      log: silentLog,
      after: timers.after,
      async make(kind, signal) {
        if (fault) throw fault;
        const backup = await makeBackup({
          config,
          root: directoryPlace(config.backup.dir),
          kind,
          clock,
          signal,
        });
        made.push(basename(backup.path));
        return backup;
      },
    });
    const idle = async () => {
      while (timers.pendingMs === undefined) await timers.next();
    };
    const poll = async (afterSecs: number) => {
      await idle();
      clock.advanceSecs(afterSecs);
      timers.fire(new ManualClock(0));
      await idle();
    };
    return { schedule, made, poll, idle, fail: (cause: Error | undefined) => (fault = cause) };
  }

  test("are made although the operator's page asked for one on that day", async () => {
    using fixture = await openSnapshotNode();
    const clock = new ManualClock(NOW_SECS);
    const config = configWith(`data.dir=${fixture.dataDir}`);
    await makeBackup({
      config,
      root: directoryPlace(fixture.path("root")),
      kind: "state",
      isManual: true,
      clock,
      signal: UNENDING,
    });
    const { idle, made, schedule } = startSchedule(fixture, clock);
    await idle();
    expect(made).toEqual(["20250615T150640Z-state"]);
    await schedule.stop();
  });

  test("are made once a day, and at the start when the day's is missing", async () => {
    using fixture = await openSnapshotNode();
    const clock = new ManualClock(NOW_SECS);
    const first = startSchedule(fixture, clock);
    await first.idle();
    expect(first.made).toEqual(["20250615T150640Z-state"]);
    await first.poll(30);
    await first.poll(10 * 3600);
    expect(first.made).toHaveLength(1);
    await first.poll(3 * 3600);
    expect(first.made).toEqual(["20250615T150640Z-state", "20250616T040710Z-state"]);
    expect(first.schedule.stats()).toMatchObject({
      lastAt: NOW_SECS + 13 * 3600 + 30,
      failure: null,
      failures: 0,
      nextAt: Date.UTC(2025, 5, 17, 3, 15) / 1000,
    });
    expect(first.schedule.stats().lastBytes).toBeGreaterThan(1000);
    await first.schedule.stop();
    const second = startSchedule(fixture, clock);
    await second.idle();
    expect(second.made).toEqual([]);
    await second.poll(DAY_SECS);
    expect(second.made).toHaveLength(1);
    await second.schedule.stop();
  });

  test("are made although one is dated in the future, from a clock that was wrong", async () => {
    using fixture = await openSnapshotNode();
    const clock = new ManualClock(NOW_SECS + 365 * DAY_SECS);
    await backupOf(fixture, clock)("state");
    clock.setSecs(NOW_SECS);
    const { schedule, made, idle } = startSchedule(fixture, clock);
    await idle();
    expect(made).toEqual(["20250615T150640Z-state"]);
    await schedule.stop();
  });

  test("are repeated ten minutes after a failure, which the stats report", async () => {
    using fixture = await openSnapshotNode();
    const clock = new ManualClock(NOW_SECS);
    const { schedule, made, poll, idle, fail } = startSchedule(fixture, clock);
    await idle();
    fail(new Error("the disk is full"));
    await poll(DAY_SECS);
    await poll(30);
    expect(schedule.stats()).toMatchObject({ failure: "the disk is full", failures: 1 });
    fail(undefined);
    await poll(30);
    expect(made).toHaveLength(1);
    await poll(600);
    expect(made).toHaveLength(2);
    expect(schedule.stats()).toMatchObject({ failure: null, failures: 1 });
    await schedule.stop();
  });

  test("are not reported as failed once the place, which could not be read, turns out to have the day's", async () => {
    using fixture = await openSnapshotNode();
    const clock = new ManualClock(NOW_SECS);
    const root = fixture.path("root");
    writeFileSync(root, "no directory");
    const { schedule, made, poll, idle } = startSchedule(fixture, clock);
    await idle();
    expect(schedule.stats()).toMatchObject({ failure: expect.any(String), failures: 1 });
    rmSync(root);
    await backupOf(fixture, clock)("state");
    await poll(600);
    expect(schedule.stats()).toMatchObject({ lastAt: NOW_SECS, failure: null, failures: 1 });
    expect(made).toEqual([]);
    await schedule.stop();
  });

  test("hold the index when that is set and it is complete", async () => {
    using fixture = await openSnapshotNode();
    const clock = new ManualClock(NOW_SECS);
    const upstream = "upstream.url=http://127.0.0.1:1";
    writeMeta(fixture.node.db, "follows", "true");
    putPosition(fixture.node.db, "upstream stage", 3);
    const { schedule, made, poll, idle } = startSchedule(fixture, clock, "backup.index=true", upstream);
    await idle();
    putPosition(fixture.node.db, "upstream stage", 2);
    await poll(DAY_SECS);
    await poll(30);
    expect(made).toEqual(["20250615T150640Z", "20250616T150640Z-state"]);
    await schedule.stop();
  });

  test("end with the node, and leave no files", async () => {
    using fixture = await openSnapshotNode();
    const { schedule } = startSchedule(fixture, new ManualClock(NOW_SECS));
    await schedule.stop();
    expect(existsSync(fixture.path("root")) ? readdirSync(fixture.path("root")) : []).toEqual([]);
    rmSync(fixture.path("root"), { recursive: true, force: true });
  });
});

test.each([
  [["backup.at=03:15"], "backup.at: must not be set without backup.dir or backup.url"],
  [
    ["backup.at=03:15", "backup.dir=/backup", "state.url=postgres://svc@127.0.0.1/svc"],
    "backup.at: must not be set without backup.index while state.url is set",
  ],
])("the settings %j are refused", (settings, message) => {
  expect(() => configWith(...settings)).toThrow(message);
});
