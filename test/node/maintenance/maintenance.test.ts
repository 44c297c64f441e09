import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Registry } from "prom-client";
import { openStateInMemory, type StateDatabase } from "../../../src/db/state/database.ts";
import type { Sweep } from "../../../src/db/state/state-db.ts";
import {
  createMaintenance,
  maintenanceFigures,
  SQLITE_LIMITS,
  scheduleMaintenance,
} from "../../../src/node/maintenance/maintenance.ts";
import { registerFigures } from "../../../src/runtime/figures/figure-metrics.ts";
import { ManualClock } from "../../support/clock.ts";
import { localStores, SWEEP_MARGIN_SECS } from "../../support/state-stores.ts";

const START = 1_000_000;
let db: StateDatabase;
let clock: ManualClock;
beforeEach(() => {
  db = openStateInMemory();
  clock = new ManualClock(START);
  // Created here, so that every store of the test has this clock.
  localStores(db, { clock });
});
afterEach(() => db[Symbol.dispose]());

const rows = (table: string) =>
  db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1;

function maintain(sweeps: readonly Sweep[] = localStores(db, { clock }).sweeps) {
  return createMaintenance({
    limits: SQLITE_LIMITS,
    sweeps,
    clock,
    onFault: (_, cause) => {
      throw cause;
    },
  });
}

async function addApp(appId: string, secretLives: readonly (number | null)[] = []) {
  const secrets = secretLives.map((lifeSecs, n) => ({
    uid: `${appId} ${n}`,
    value: "00".repeat(32),
    createdAt: START,
    expiresAt: lifeSecs === null ? null : START + lifeSecs,
  }));
  const fields = { name: "App", appUrl: "https://app.example", description: null, signerFidAllowlist: [] };
  await localStores(db).apps.create(
    { appId, ownerFid: 3, ...fields, secrets, createdAt: 1, updatedAt: 1 },
    1e6,
  );
}

async function addTokens(appId: string, count: number) {
  const tokens = localStores(db).tokens;
  const details = { url: "https://client.example", host: "client.example", token: "t" };
  const limit = { maxChanges: 60, windowSecs: 3600 };
  for (let fid = 1; fid <= count; fid += 1) {
    const event = { name: "miniapp_added", details: fid % 3 === 0 ? undefined : details } as const;
    await tokens.apply({ appId, fid, clientFid: 0, event, nowSecs: START }, limit);
  }
}

const deleteApp = (appId: string) => localStores(db).apps.delete({ id: appId, ownerFid: 3, nowSecs: START });

const { rowsPerStep, maxStepsPerSweep } = SQLITE_LIMITS;

describe("a run deletes expired rows and no others", () => {
  test("nonces, a margin after their last valid second", async () => {
    const nonces = localStores(db).nonces;
    for (const [n, lifeSecs] of [10, 600].entries()) {
      const nonce = { fid: 3, nonce: new Uint8Array(32).fill(n) };
      await nonces.spend(nonce, {
        nowSecs: START,
        validUntil: START + lifeSecs,
        expiresAt: START + lifeSecs,
      });
    }
    const maintenance = maintain();
    clock.advanceSecs(10 + SWEEP_MARGIN_SECS);
    await maintenance.run();
    expect(rows("nonces")).toBe(2);
    clock.advanceSecs(1);
    await maintenance.run();
    expect(rows("nonces")).toBe(1);
  });

  test("secrets, a margin after they expire", async () => {
    await addApp("app", [10, 11, null]);
    const maintenance = maintain();
    clock.advanceSecs(9 + SWEEP_MARGIN_SECS);
    await maintenance.run();
    expect(rows("secrets")).toBe(3);
    clock.advanceSecs(1);
    await maintenance.run();
    expect(rows("secrets")).toBe(2);
    clock.advanceSecs(1_000_000);
    await maintenance.run();
    expect(rows("secrets")).toBe(1);
    expect(
      (await localStores(db).apps.find("app", START))?.secrets.map(({ expiresAt }) => expiresAt),
    ).toEqual([null]);
  });

  test("counts of token changes, when their window has passed", async () => {
    await addApp("app");
    await addTokens("app", 3);
    const maintenance = maintain();
    clock.advanceSecs(3599);
    await maintenance.run();
    expect(rows("token_changes")).toBe(3);
    clock.advanceSecs(1);
    await maintenance.run();
    expect(rows("token_changes")).toBe(0);
    expect(rows("tokens")).toBe(3);
  });

  test("tokens of deleted apps, and the totals stay correct", async () => {
    for (const appId of ["a", "b", "c", "d", "e"]) {
      await addApp(appId);
      await addTokens(appId, 6);
    }
    for (const appId of ["a", "c", "e"]) await deleteApp(appId);
    await maintain().run();
    const left = db.sqlite.query("SELECT app_id, count(*) AS n FROM tokens GROUP BY app_id").all();
    expect(left).toEqual([
      { app_id: "b", n: 6 },
      { app_id: "d", n: 6 },
    ]);
    expect(await localStores(db).tokens.totals()).toEqual({ enabled: 8, disabled: 0, no_token: 4 });
  });
});

describe("a run is bounded", () => {
  test("no step deletes more rows than its limit, and the next run continues", async () => {
    await addApp("gone");
    await addTokens("gone", 2 * rowsPerStep + 1);
    await deleteApp("gone");
    const counts: number[] = [];
    const sweeps = localStores(db, { clock }).sweeps.map((sweep) => ({
      ...sweep,
      async step(maxRows: number) {
        const swept = await sweep.step(maxRows);
        if (sweep.name === "orphaned_tokens") counts.push(swept.deleted);
        return swept;
      },
    }));
    await maintain(sweeps).run();
    expect(counts).toEqual([rowsPerStep, rowsPerStep, 1, 0]);
  });

  test("a sweep with more rows than the limit of a run stops there, and is reported as behind", async () => {
    let steps = 0;
    const endless: Sweep = {
      name: "endless",
      async step(maxRows) {
        steps += 1;
        return { deleted: maxRows, more: true };
      },
    };
    const after: Sweep = { name: "after", step: async () => ({ deleted: 1, more: false }) };
    const maintenance = maintain([endless, after]);
    await maintenance.run();
    expect(steps).toBe(maxStepsPerSweep);
    expect(maintenance.stats()).toEqual({
      runs: 1,
      faults: 0,
      lastRunAt: START,
      lastRunMs: expect.any(Number),
      deletedRows: { endless: maxStepsPerSweep * rowsPerStep, after: 1 },
      behind: ["endless"],
    });
  });

  test("thousands of apps with tokens are checked in steps", async () => {
    const insert = db.sqlite.prepare(
      "INSERT INTO tokens (app_id, fid, client_fid, enabled, last_event, created_at, updated_at) VALUES (?, 1, 0, 0, '', 0, 0)",
    );
    for (let n = 0; n < 1200; n += 1) {
      await addApp(`app ${n}`);
      insert.run(`app ${n}`);
    }
    insert.run("zzz orphan");
    const orphans = localStores(db, { clock }).sweeps.find(({ name }) => name === "orphaned_tokens");
    expect(await orphans?.step(100)).toEqual({ deleted: 0, more: true });
    expect(await orphans?.step(100)).toEqual({ deleted: 0, more: true });
    expect(await orphans?.step(100)).toEqual({ deleted: 1, more: true });
    expect(await orphans?.step(100)).toEqual({ deleted: 0, more: false });
    // Each run starts over after the last app.
    for (const more of [true, true, false]) expect(await orphans?.step(100)).toEqual({ deleted: 0, more });
    await deleteApp("app 0");
    expect(await orphans?.step(100)).toEqual({ deleted: 1, more: true });
  });
});

test("a sweep that fails does not stop the others, and is retried in the next run", async () => {
  let fails = true;
  const faults: string[] = [];
  const broken: Sweep = {
    name: "broken",
    async step() {
      if (fails) throw new Error("disk full");
      return { deleted: 2, more: false };
    },
  };
  const sound: Sweep = { name: "sound", step: async () => ({ deleted: 1, more: false }) };
  const maintenance = createMaintenance({
    limits: SQLITE_LIMITS,
    sweeps: [broken, sound],
    clock,
    onFault: (sweep, cause) => faults.push(`${sweep}: ${cause}`),
  });
  await maintenance.run();
  expect(faults).toEqual(["broken: Error: disk full"]);
  expect(maintenance.stats()).toMatchObject({
    faults: 1,
    deletedRows: { broken: 0, sound: 1 },
    behind: ["broken"],
  });
  fails = false;
  await maintenance.run();
  expect(maintenance.stats()).toMatchObject({
    runs: 2,
    faults: 1,
    deletedRows: { broken: 2, sound: 2 },
    behind: [],
  });
});

test("a node is not behind with what another one sweeps now", async () => {
  let isHeld = true;
  const endless: Sweep = { name: "endless", step: async () => ({ deleted: 1, more: true }) };
  const maintenance = createMaintenance({
    limits: { ...SQLITE_LIMITS, maxStepsPerSweep: 1 },
    sweeps: [endless],
    clock,
    lease: { hold: async () => isHeld },
    onFault: () => {},
  });
  await maintenance.run();
  expect(maintenance.stats().behind).toEqual(["endless"]);
  isHeld = false;
  await maintenance.run();
  expect(maintenance.stats()).toMatchObject({ runs: 1, behind: [] });
});

test("the schedule runs at once and at its intervals, and not after it was stopped", async () => {
  let runs = 0;
  const thirdRun = Promise.withResolvers<void>();
  const counting: Sweep = {
    name: "counting",
    async step() {
      runs += 1;
      if (runs === 3) thirdRun.resolve();
      return { deleted: 0, more: false };
    },
  };
  const end = scheduleMaintenance(maintain([counting]), 20);
  expect(runs).toBe(1);
  await thirdRun.promise;
  await end();
  expect(runs).toBe(3);
});

test("stopping the schedule ends a run after its current step, and runs do not overlap", async () => {
  const inStep = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let steps = 0;
  const slow: Sweep = {
    name: "slow",
    async step() {
      steps += 1;
      inStep.resolve();
      await goOn.promise;
      return { deleted: 1, more: true };
    },
  };
  const end = scheduleMaintenance(maintain([slow]), 20);
  await inStep.promise;
  const ended = end();
  goOn.resolve();
  await ended;
  expect(steps).toBe(1);
});

test("metrics report the stats at the first scrape", async () => {
  const registry = new Registry();
  const maintenance = maintain([{ name: "nonces", step: async () => ({ deleted: 7, more: false }) }]);
  await maintenance.run();
  registerFigures({ registry, prefix: "svc_" }, maintenanceFigures, () => ({
    ...maintenance.stats(),
    backup: null,
    history: null,
  }));
  expect((await registry.metrics()).split("\n")).toContain("svc_maintenance_faults_total 0");
});
