import { describe, expect, test } from "bun:test";
import { createApiKeys } from "../../src/api-keys/api-key-store.ts";
import { NodeSignals } from "../../src/cluster/node-signals.ts";
import { createPauses } from "../../src/cluster/pauses.ts";
import { type Membership, startMembership } from "../../src/cluster/postgres/membership.ts";
import { readTime } from "../../src/cluster/postgres/node-rows.ts";
import { verifyState } from "../../src/cluster/postgres/verify-state.ts";
import {
  createResealLease,
  createWorkLease,
  nodesWithoutMasterKey,
} from "../../src/cluster/postgres/work-lease.ts";
import { comparedSettings } from "../../src/cluster/shared-settings.ts";
import { createSwitches } from "../../src/cluster/switch-store.ts";
import { StateUnavailable } from "../../src/db/state/unavailable.ts";
import { RetryableError, UserError } from "../../src/lib/failure.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import { readMasterKey } from "../../src/vault/master-key.ts";
import { apiKeyItems } from "../api-keys/api-key-items.ts";
import { configWith } from "../runtime/config.ts";
import { logTo } from "../support/log.ts";
import { until } from "../support/manual-time.ts";
import { createDatabase, type PostgresDatabase } from "../support/postgres/database.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import { stateDbOf } from "../support/postgres/state-db.ts";

/** Short enough for a test, long enough for a loaded machine. */
const TIMES = { beatIntervalMs: 50, retryIntervalMs: 20, fenceMs: 1_500, leaseMs: 2_000 };

interface Started {
  readonly membership: Membership;
  readonly signals: NodeSignals;
  readonly lost: { reason: string; exitCode: number }[];
  readonly logs: Record<string, unknown>[];
  readonly pauses: ReturnType<typeof createPauses>;
}

interface JoinOptions {
  readonly settings?: readonly string[];
  readonly followed?: ReadonlySet<number>;
  readonly isSolo?: boolean;
  readonly schemaVersion?: number;
  readonly beatIntervalMs?: number;
  readonly clock?: Clock;
}

/** Nodes of one state, which leave it with the object. */
function clusterOn(database: PostgresDatabase) {
  const members: Membership[] = [];
  return {
    async join(nodeId: string, options: JoinOptions = {}): Promise<Started> {
      const { settings = [], followed, isSolo = false, schemaVersion = 5, beatIntervalMs } = options;
      const logs: Record<string, unknown>[] = [];
      const log = logTo((line: string) => logs.push(JSON.parse(line)));
      const signals = new NodeSignals();
      const pauses = createPauses({ signals, log });
      const lost: { reason: string; exitCode: number }[] = [];
      const membership = await startMembership({
        pool: database.pools({ main: 1 }).main,
        nodeId,
        version: "1.0.0",
        schemaVersion,
        isSolo,
        settings: comparedSettings(configWith(...settings), followed),
        clock: options.clock ?? systemClock,
        signals,
        pauses,
        log,
        report: () => ({ liveSince: 7, positions: '{"1":10}' }),
        onLost: (reason, exitCode) => lost.push({ reason, exitCode }),
        times: { ...TIMES, beatIntervalMs: beatIntervalMs ?? TIMES.beatIntervalMs },
      });
      members.push(membership);
      return { membership, signals, lost, logs, pauses };
    },
    async [Symbol.asyncDispose]() {
      for (const member of members) await member.leave();
    },
  };
}

async function faultOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (cause) {
    if (cause instanceof Error) return cause;
  }
  throw new Error("it did not fail");
}

const floorOf = async (database: PostgresDatabase) =>
  Number((await database.query("SELECT nonce_floor FROM svc.state_clock"))[0]?.nonce_floor);

describe.skipIf(!HAS_POSTGRES)("membership", () => {
  test("each node has a slot of its own, keeps it over a restart, and counts the live ones", async () => {
    await using database = await createDatabase();
    await using cluster = clusterOn(database);
    const [a, b, c] = await Promise.all(["a", "b", "c"].map((id) => cluster.join(id)));
    if (!a || !b || !c) return expect.unreachable();
    const slots = [a, b, c].map(({ membership }) => membership.node.slot);
    expect(slots.toSorted()).toEqual([0, 1, 2]);
    await until(() => [a, b, c].every(({ membership }) => membership.stats().nodes === 3));
    await b.membership.leave();
    await until(() => a.membership.stats().nodes === 2);
    // The slot of a node that is away stays free for it.
    const d = await cluster.join("d");
    expect(d.membership.node.slot).toBe(3);
    const again = await cluster.join("b");
    expect(again.membership.node.slot).toBe(b.membership.node.slot);
    expect(again.membership.node.bootId).not.toBe(b.membership.node.bootId);
    const [row] = await database.query("SELECT live_since, positions FROM svc.nodes WHERE node_id = 'a'");
    expect(row).toMatchObject({ live_since: 7n, positions: '{"1":10}' });
  });

  test("a change of API keys reaches each node with its next beat; a node without a lease is not waited for", async () => {
    await using database = await createDatabase();
    await using cluster = clusterOn(database);
    const a = await cluster.join("a");
    const b = await cluster.join("b");
    // It beats once, and is taken for alive until its lease ends.
    await cluster.join("killed", { beatIntervalMs: 60_000 });
    const apiKeys = createApiKeys(stateDbOf(database.pools({ main: 1 })), a.membership.node.bootId);
    const key = apiKeyItems.makeItem(2, { ownerFid: 7, secrets: [], createdAt: 1, updatedAt: 1 });
    await apiKeys.create(key, 10);
    const before = b.signals.keyEpoch;
    expect(await apiKeys.nodesBehind(await apiKeys.keyEpoch())).toBe(0);
    await apiKeys.delete({ id: key.apiKeyId, ownerFid: key.ownerFid, nowSecs: 1 });
    const epoch = await apiKeys.keyEpoch();
    expect(await apiKeys.nodesBehind(epoch)).toBeGreaterThan(0);
    await until(async () => (await apiKeys.nodesBehind(epoch)) === 1);
    expect(b.signals.keyEpoch).toBeGreaterThan(before);
    await until(async () => (await apiKeys.nodesBehind(epoch)) === 0);
    // A node that lost its lease may have missed a change: it begins the next one with an empty memory.
    const forgotten = b.signals.keyEpoch;
    await database.query("UPDATE svc.nodes SET ends_at_ms = 0 WHERE node_id = 'b'");
    await until(() => b.signals.leaseNumber === 1);
    expect(b.signals.keyEpoch).toBeGreaterThan(forgotten);
  });

  test("a new connection decides nothing on a state that is older than the last beat, until a beat has noticed", async () => {
    await using database = await createDatabase();
    await using cluster = clusterOn(database);
    const a = await cluster.join("a", { beatIntervalMs: 60_000 });
    const verify = verifyState(a.membership.node, a.signals);
    const { main } = database.pools({ main: 2, verify, name: "svc/a/http" });
    const ask = async () => (await main.get(readTime)) !== undefined;
    expect(await ask()).toBe(true);
    const away = async (change: string) => {
      await database.query(change);
      await database.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'svc/a/http'",
      );
      return faultOf(ask());
    };
    // As a copy of before the last beat, or of before the start of the node.
    for (const change of [
      "UPDATE svc.nodes SET beat = beat - 1",
      "UPDATE svc.nodes SET beat = beat + 1, boot = gen_random_uuid()",
    ]) {
      const fault = await away(change);
      expect(fault).toBeInstanceOf(StateUnavailable);
      expect(fault.message).toContain("may have gone back");
      // Also in a transaction, and at the next try.
      expect(await faultOf(main.transaction(async (tx) => tx.get(readTime)))).toBeInstanceOf(
        StateUnavailable,
      );
    }
    await database.query(`UPDATE svc.nodes SET boot = '${a.membership.node.bootId}'`);
    // As another server, or one that has been promoted.
    const mark = a.signals.stateMark ?? expect.unreachable();
    for (const other of [{ systemIdentifier: "1" }, { timeline: "0000FFFF" }]) {
      a.signals.markState({ ...mark, ...other });
      expect((await away("SELECT 1")).message).toContain("may have gone back");
    }
    a.signals.markState(mark);
    // What a beat does when it has refused earlier requests.
    await database.query(`UPDATE svc.nodes SET boot = '${a.membership.node.bootId}', beat = 1`);
    a.signals.markState({ ...(a.signals.stateMark ?? expect.unreachable()), beat: 1 });
    expect(await ask()).toBe(true);
    expect(await main.transaction(async (tx) => (await tx.get(readTime)) !== undefined)).toBe(true);
  });

  test("a second process with the id of a live one is refused, and takes over when that one has ended", async () => {
    await using database = await createDatabase();
    await using cluster = clusterOn(database);
    await cluster.join("a");
    const fault = await faultOf(cluster.join("a"));
    expect(fault).toBeInstanceOf(RetryableError);
    expect(fault.message).toContain("node.id a is in use");
    // One that was killed: it never beats again.
    const killed = await cluster.join("k", { beatIntervalMs: 60_000 });
    const successor = await cluster.join("k");
    expect(successor.membership.node.slot).toBe(killed.membership.node.slot);
    await until(async () => successor.membership.stats().nodes === 2);
    expect(successor.lost).toEqual([]);
  });

  test("hard settings that differ refuse the start and are named; soft ones are a warning", async () => {
    await using database = await createDatabase();
    await using cluster = clusterOn(database);
    const followed = new Set([3, 2]);
    const a = await cluster.join("a", { followed });
    const hard = ["protocol.network=testnet", "service.name=other", "auth.signed_at_window_secs=60"];
    const fault = await faultOf(cluster.join("b", { followed: new Set([2]), settings: hard }));
    expect(fault).toBeInstanceOf(UserError);
    expect(fault.message).toEndWith(
      ": protocol.network, service.name, upstream.fids, auth.signed_at_window_secs",
    );
    const soft = await cluster.join("b", {
      followed: new Set([2, 3]),
      settings: ["apps.max_apps_per_owner=7", "http.port=1", "webhooks.delivery_concurrency=3"],
    });
    expect(soft.logs).toContainEqual(
      expect.objectContaining({ level: "warn", other: "a", settings: ["apps.max_apps_per_owner"] }),
    );
    // Alone, a node decides; the network stays.
    await Promise.all([a.membership.leave(), soft.membership.leave()]);
    const alone = await faultOf(cluster.join("c", { followed, settings: hard }));
    expect(alone.message).toEndWith(": protocol.network");
    await cluster.join("c", { followed, settings: ["send.dedupe_ttl_secs=60"] });
    expect((await faultOf(cluster.join("a", { followed }))).message).toEndWith(": send.dedupe_ttl_secs");
  });

  test("a node without an upstream shares no state", async () => {
    await using database = await createDatabase();
    await using cluster = clusterOn(database);
    const solo = await cluster.join("solo", { isSolo: true });
    const fault = await faultOf(cluster.join("b"));
    expect(fault).toBeInstanceOf(RetryableError);
    expect(fault.message).toContain("node solo has no upstream.url");
    await solo.membership.leave();
    await cluster.join("b");
    expect((await faultOf(cluster.join("solo", { isSolo: true }))).message).toContain(
      "node b uses this state",
    );
  });

  test("pauses of the state are obeyed and ended with a beat", async () => {
    await using database = await createDatabase();
    await using cluster = clusterOn(database);
    const { signals, pauses } = await cluster.join("a");
    const switches = createSwitches(stateDbOf(database.pools()));
    await database.query("INSERT INTO svc.switches VALUES ('something of a newer release', 'r', 'p', 1)");
    await switches.pause(["deliveries"], { reason: 'a "reason"', pausedBy: "ann@host", pausedAt: 5 });
    await until(() => signals.isPaused("deliveries"));
    expect(pauses.latest()).toEqual([
      { name: "deliveries", reason: 'a "reason"', pausedBy: "ann@host", pausedAt: 5 },
    ]);
    await switches.resume(["deliveries"]);
    await until(() => !signals.isPaused("deliveries"));
  });

  test("a node whose lease has ended takes it again with its boot and slot, and is not a rollback", async () => {
    await using database = await createDatabase();
    await using cluster = clusterOn(database);
    const { membership, lost, logs } = await cluster.join("a");
    await database.query("UPDATE svc.nodes SET ends_at_ms = 0");
    await until(() => logs.some(({ msg }) => msg === "The lease of the node had ended: it has a new one"));
    const [row] = await database.query("SELECT boot::text AS boot, slot FROM svc.nodes");
    expect(row).toEqual({ boot: membership.node.bootId, slot: membership.node.slot });
    expect([lost, membership.stats().rollbacks, await floorOf(database)]).toEqual([[], 0, 0]);
  });

  test("a node ends with 75 when another process has its id or slot, and with 1 when the state is not for it", async () => {
    const cases: [string, RegExp, number][] = [
      ["UPDATE svc.nodes SET boot = gen_random_uuid() WHERE node_id = 'a'", /in use/, 75],
      [
        "WITH x AS (UPDATE svc.nodes SET ends_at_ms = 0 WHERE node_id = 'a' RETURNING slot) UPDATE svc.nodes SET slot = (SELECT slot FROM x) WHERE node_id = 'b'",
        /in use/,
        75,
      ],
      ["UPDATE svc.cluster SET min_reader = 6", /newer release/, 1],
      ["UPDATE svc.cluster SET moved_to = 'state.db of host'", /moved to state.db of host/, 1],
    ];
    await using database = await createDatabase();
    for (const [change, reason, exitCode] of cases) {
      await database.query("DELETE FROM svc.nodes");
      await database.query("UPDATE svc.cluster SET min_reader = 0, moved_to = NULL");
      await using cluster = clusterOn(database);
      const a = await cluster.join("a");
      await cluster.join("b", { schemaVersion: 6 });
      await database.query(change);
      await until(() => a.lost.length > 0);
      expect(a.lost).toEqual([{ reason: expect.stringMatching(reason), exitCode }]);
    }
  });

  test("a state that went back to an earlier time is reported once, refuses earlier requests and ends sessions", async () => {
    await using database = await createDatabase();
    await using cluster = clusterOn(database);
    const { membership, signals, lost, logs } = await cluster.join("a");
    const errors = () => logs.filter(({ level }) => level === "error");
    // What threads took for the current state before its earlier requests were refused.
    const early: number[] = [];
    const last = { beat: 0, errors: 0 };
    const markState = signals.markState.bind(signals);
    signals.markState = (mark) => {
      if (mark.beat <= last.beat && errors().length === last.errors) early.push(mark.beat);
      Object.assign(last, { beat: mark.beat, errors: errors().length });
      markState(mark);
    };
    for (const [n, change] of ["UPDATE svc.nodes SET beat = 0", "DELETE FROM svc.nodes"].entries()) {
      await until(async () => Number((await database.query("SELECT beat FROM svc.nodes"))[0]?.beat ?? 0) > 3);
      await database.query("UPDATE svc.state_clock SET nonce_floor = 0");
      await database.query(
        `INSERT INTO svc.sessions (session_id, owner_fid, public_key, custody, access, label, origin, created_at, expires_at)
         VALUES ('s', 1, 'k', 'c', 'read', 'l', 'https://a.example', 1, 9999999999)`,
      );
      const changedSecs = Math.floor(Date.now() / 1000);
      await database.query(change);
      await until(async () => (await floorOf(database)) > 0);
      // Those that an owner had ended are back, and no one knows which they are.
      expect(await database.query("SELECT 1 FROM svc.sessions")).toHaveLength(0);
      const windowSecs = 300;
      const floor = await floorOf(database);
      expect(floor).toBeGreaterThanOrEqual(changedSecs + windowSecs);
      expect(floor).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000) + windowSecs);
      await until(() => membership.stats().rollbacks === n + 1);
    }
    await Bun.sleep(5 * TIMES.beatIntervalMs);
    expect([errors().length, membership.stats().rollbacks, lost, early]).toEqual([2, 2, [], []]);
    // A start on another server than that of the last beat.
    await membership.leave();
    await database.query("UPDATE svc.state_clock SET nonce_floor = 0");
    await database.query("UPDATE svc.cluster SET timeline = '00000009'");
    const again = await cluster.join("a");
    expect(again.membership.stats().rollbacks).toBe(1);
    expect(await floorOf(database)).toBeGreaterThan(0);
  });

  test("a node is fenced before its lease ends when it does not reach the state, and not after it does again", async () => {
    await using database = await createDatabase();
    await using cluster = clusterOn(database);
    const { signals, logs } = await cluster.join("a");
    expect(signals.isFenced()).toBe(false);
    await database.query("ALTER TABLE svc.nodes RENAME TO gone");
    await until(() => signals.isFenced());
    const [row] = await database.query(
      "SELECT ends_at_ms > extract(epoch FROM clock_timestamp()) * 1000 AS live FROM svc.gone",
    );
    expect(row).toEqual({ live: true });
    await until(() => logs.some(({ msg }) => String(msg).startsWith("The node has not reached PostgreSQL")));
    await database.query("ALTER TABLE svc.gone RENAME TO nodes");
    await until(() => !signals.isFenced());
  });

  test("the work of one node stays with it while it lives, and another takes it over after its end", async () => {
    await using database = await createDatabase();
    await using cluster = clusterOn(database);
    const [a, b] = await Promise.all([cluster.join("a"), cluster.join("b")]);
    const { main } = database.pools();
    const [ofA, ofB] = [a, b].map(({ membership }) => createWorkLease(main, membership.node, "maintenance"));
    expect(await ofA?.hold()).toBe(true);
    expect([await ofB?.hold(), await ofA?.hold()]).toEqual([false, true]);
    await until(() => b.membership.stats().maintenance === "a");
    const endOf = async () => (await database.query("SELECT ends_at_ms FROM svc.leases"))[0]?.ends_at_ms;
    const before = await endOf();
    await until(async () => (await endOf()) !== before);
    await a.membership.leave();
    expect([await ofB?.hold(), await ofA?.hold()]).toEqual([true, false]);
  });

  test("keys of users are sealed again by one node, once every live node has the new master key", async () => {
    await using database = await createDatabase();
    await using cluster = clusterOn(database);
    const [former, current] = ["11".repeat(32), "22".repeat(32)];
    const rotated = [`signers.encryption_key=${current}`, `signers.previous_encryption_keys=${former}`];
    const a = await cluster.join("a", { settings: rotated });
    const b = await cluster.join("b", { settings: [`signers.encryption_key=${former}`] });
    const c = await cluster.join("c", { settings: ["signers.enabled=false"] });
    const { main } = database.pools();
    const { keyId } = readMasterKey(current);
    const leaseOf = ({ membership }: Started) => createResealLease(main, membership.node, keyId);
    expect(await leaseOf(a).hold()).toBe(false);
    expect(await nodesWithoutMasterKey(main, keyId)).toEqual(["b"]);
    await b.membership.leave();
    const again = await cluster.join("b", { settings: rotated });
    expect([await leaseOf(a).hold(), await leaseOf(again).hold(), await leaseOf(c).hold()]).toEqual([
      true,
      false,
      false,
    ]);
    await a.membership.leave();
    expect(await leaseOf(again).hold()).toBe(true);
  });

  test("the clock of the state is that of the server", async () => {
    await using database = await createDatabase();
    await using cluster = clusterOn(database);
    const { signals } = await cluster.join("a");
    expect(Math.abs(signals.clockOffsetMs)).toBeLessThan(20_000);
  });

  test("a jump of the machine's clock is measured with the next beat", async () => {
    await using database = await createDatabase();
    await using cluster = clusterOn(database);
    let jumpMs = 0;
    const { signals, logs } = await cluster.join("a", { clock: { nowMs: () => Date.now() + jumpMs } });
    jumpMs = 3_600_000;
    await until(() => Math.abs(signals.clockOffsetMs + jumpMs) < 1_000);
    const message = "The clocks of this machine and of PostgreSQL differ";
    expect(logs).toContainEqual(expect.objectContaining({ msg: message }));
  });
});
