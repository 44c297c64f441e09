import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openState, openStateWriter, type StateDatabase, statePath } from "../../../src/db/state/database.ts";
import type { StateCall } from "../../../src/db/state/sqlite-state-db.ts";
import { StateUnavailable } from "../../../src/db/state/unavailable.ts";
import { connectRpc } from "../../../src/lib/port-rpc.ts";
import { openWriterOf } from "../../../src/node/state/open-writer.ts";
import type { StateWriter } from "../../../src/node/state/state-writer.ts";
import {
  createStateWriterClient,
  type StateRpcClient,
  type StateWriterRpc,
  serveStateWriter,
} from "../../../src/node/state/writer-client.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { until } from "../../support/manual-time.ts";
import { tempDir } from "../../support/program.ts";
import { sqliteError } from "../../support/storage-faults.ts";

let dir: ReturnType<typeof tempDir>;
let db: StateDatabase;
/** Another process that uses the same file. */
let other: StateDatabase;
let writer: StateWriter;

beforeEach(() => {
  dir = tempDir();
  db = openStateWriter(statePath(dir.path));
  other = openState(statePath(dir.path));
  writer = openWriterOf(db, { limits: { maxQueued: 100 }, clock: systemClock });
});
afterEach(() => {
  other[Symbol.dispose]();
  db[Symbol.dispose]();
  dir[Symbol.dispose]();
});

const NOW = Math.floor(Date.now() / 1000);
const spend = (n: number): StateCall => ({
  store: "nonces",
  method: "spend",
  args: [
    { fid: n, nonce: new Uint8Array(32) },
    { nowSecs: NOW, validUntil: NOW + 300, expiresAt: NOW + 600 },
  ],
});
/** Creates an app that does not fit into its table. */
const broken: StateCall = { store: "apps", method: "create", args: [{ ownerFid: 3, secrets: [] }, 10] };
const nonces = () =>
  other.sqlite
    .query<{ fid: number }, []>("SELECT fid FROM nonces ORDER BY fid")
    .all()
    .map(({ fid }) => fid);
const lock = () => other.sqlite.exec("BEGIN IMMEDIATE");
const unlock = () => other.sqlite.exec("ROLLBACK");
/** `expect(…).rejects` would wait without letting messages between ports through. */
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
const statuses = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
  outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : outcome.reason.name));

describe("the writer", () => {
  test("runs waiting calls in order, in one transaction", async () => {
    const calls = [1, 2, 1, 3].map((n) => writer.call(spend(n)));
    expect(await Promise.all(calls)).toEqual([true, true, false, true]);
    expect(writer.stats()).toMatchObject({ waiting: 0, commits: 1, committedCalls: 4, failure: null });
  });

  test("fails only the call that fails", async () => {
    const outcomes = await Promise.allSettled([spend(1), broken, spend(2)].map((call) => writer.call(call)));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(nonces()).toEqual([1, 2]);
    expect(() => writer.call({ store: "nonces", method: "constructor", args: [] })).toThrow("no write");
    expect(() => writer.call({ store: "toString", method: "call", args: [] })).toThrow("no write");
  });

  test("waits for a lock without blocking its thread, and then runs every call", async () => {
    lock();
    const calls = [1, 2].map((n) => writer.call(spend(n)));
    // Turns of the event loop continue while the lock is held.
    await until(() => writer.stats().stalledMs > 30);
    expect(writer.stats()).toMatchObject({ waiting: 2, commits: 0 });
    unlock();
    expect(await Promise.all(calls)).toEqual([true, true]);
    expect(writer.stats()).toMatchObject({ waiting: 0, stalledMs: 0 });
  });

  test("does not run a call after its deadline", async () => {
    lock();
    const expired = writer.call(spend(1), performance.now() + 40);
    const current = writer.call(spend(2), performance.now() + 60_000);
    await expect(expired).rejects.toBeInstanceOf(StateUnavailable);
    unlock();
    expect(await current).toBe(true);
    expect(nonces()).toEqual([2]);
    expect(writer.stats().expiredCalls).toBe(1);
  });

  test("detects a lock and its end without calls", async () => {
    lock();
    await writer.probe();
    await until(() => writer.stats().stalledMs > 10);
    unlock();
    await writer.probe();
    expect(writer.stats().stalledMs).toBe(0);
  });

  test("names a damaged file and its recovery in the error, for the log", async () => {
    db.beforeStatement = (name) => {
      if (name === "COMMIT") throw sqliteError("corrupt");
    };
    const fault = await failure(writer.call(spend(1)));
    expect(fault).toBeInstanceOf(StateUnavailable);
    expect(String(fault)).toContain(`${db.file}: database disk image is malformed`);
    expect(String(fault)).toContain("cannot be rebuilt");
  });

  test("reports the state as unavailable on a full disk, until a write succeeds", async () => {
    expect(await writer.call(spend(1))).toBe(true);
    const pages = db.sqlite
      .query<{ n: number }, []>("SELECT page_count AS n FROM pragma_page_count")
      .get()?.n;
    db.sqlite.exec(`PRAGMA max_page_count = ${pages}`);
    const many = Array.from({ length: 2_000 }, (_, n) => writer.call(spend(10 + n)));
    const outcomes = statuses(await Promise.allSettled(many));
    expect(new Set(outcomes)).toContain("StateUnavailable");
    expect(outcomes.every((outcome) => outcome === true || outcome === "StateUnavailable")).toBe(true);
    expect(nonces()).toHaveLength(1 + outcomes.filter((outcome) => outcome === true).length);
    expect(writer.stats().failure).toContain("full");
    await writer.probe();
    expect(writer.stats().failure).not.toBeNull();
    db.sqlite.exec("PRAGMA max_page_count = 1073741823");
    // Without a call: a load balancer sends nothing to a node that is not ready.
    await writer.probe();
    expect(writer.stats().failure).toBeNull();
    expect(await writer.call(spend(5_000))).toBe(true);
  });
});

describe("the client of the writer on another thread", () => {
  let port: MessagePort;
  let client: StateRpcClient;
  beforeEach(() => {
    const { port1, port2 } = new MessageChannel();
    serveStateWriter(port1, writer);
    port = port2;
    client = connectRpc<StateWriterRpc>(port2);
  });
  afterEach(() => port.close());

  test("passes on calls, results and the messages of faults", async () => {
    const call = createStateWriterClient(client);
    expect(await Promise.all([call(spend(1)), call(spend(1)), call(spend(2))])).toEqual([true, false, true]);
    expect(await failure(call(broken))).toMatchObject({
      message: expect.stringMatching(/NOT NULL|constraint|bind/i),
    });
    expect(await failure(call({ store: "nonces", method: "forget", args: [] }))).toMatchObject({
      message: expect.stringMatching("no write"),
    });
    expect((await client.stats()).commits).toBeGreaterThan(0);
  });

  test("a call fails at its deadline, and does not run afterwards", async () => {
    const call = createStateWriterClient(client, { timeoutMs: 60 });
    // The first messages measure the difference between the clocks of the two threads.
    for (const n of [3, 4, 5]) await call(spend(n)).catch(() => undefined);
    const stored = nonces();
    lock();
    expect(await failure(call(spend(1)))).toBeInstanceOf(StateUnavailable);
    unlock();
    await until(() => writer.stats().expiredCalls === 1);
    expect(await call(spend(2))).toBe(true);
    expect(nonces()).toEqual([2, ...stored]);
  });

  test("waiting calls are bounded in number and in bytes, also after their callers timed out", async () => {
    const call = createStateWriterClient(client, {
      timeoutMs: 500,
      maxWaitingCalls: 3,
      maxWaitingBytes: 1_000,
    });
    lock();
    const waiting = [1, 2, 3].map((n) => call(spend(n)));
    const refused = call(spend(4));
    expect(await failure(refused)).toMatchObject({ message: expect.stringMatching("too many writes") });
    expect(statuses(await Promise.allSettled(waiting))).toEqual(Array(3).fill("StateUnavailable"));
    unlock();
    await until(async () => (await client.stats()).expiredCalls === 3);
    const large: StateCall = {
      store: "tokens",
      method: "deleteMatching",
      args: [[{ token: "x".repeat(2_000) }]],
    };
    expect(await failure(call(large))).toMatchObject({ message: expect.stringMatching("too many writes") });
    expect(await call(spend(5))).toBe(true);
  });
});
