import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { callSigned, signedRequest, startCluster, type TestCluster, until } from "../support/cluster.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { IS_LONG } from "../support/long.ts";
import { type PostgresProxy, startProxy } from "../support/postgres/proxy.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import type { RunningNode } from "../support/program.ts";

/** What clients see while a node does not reach PostgreSQL, and afterwards. */

const FID = 3;
/** A caller waits for seven fifths of it. */
const TIMEOUT_MS = 1_500;

describe.skipIf(!HAS_POSTGRES || !IS_LONG)("a node that does not reach PostgreSQL", () => {
  let cluster: TestCluster;
  let proxy: PostgresProxy;
  let node: RunningNode;

  beforeAll(async () => {
    cluster = await startCluster({ seed: "a node that does not reach PostgreSQL", command: compiledProgram });
    const url = new URL(cluster.database.url);
    proxy = startProxy(Number(url.port));
    url.port = String(proxy.port);
    node = await cluster.start("a", `state.url=${url.href}`, `state.timeout_ms=${TIMEOUT_MS}`);
  }, 180_000);
  afterAll(async () => {
    proxy?.heal();
    await cluster?.[Symbol.asyncDispose]();
    await proxy?.[Symbol.asyncDispose]();
  });

  const statusOf = async (path: string) => (await fetch(node.url + path, { keepalive: false })).status;
  const list = () => callSigned(node, FID, "GET", "/frame/app/list");
  const createApp = (name: string) =>
    callSigned(node, FID, "POST", "/frame/app", { name, app_url: "https://127.0.0.1" });
  const namesOf = async () => {
    const { body } = await list();
    return (body.apps as { name: string }[]).map(({ name }) => name).sort();
  };

  test.each([
    ["cut off", () => proxy.cut()],
    ["frozen", () => proxy.freeze()],
  ])(
    "serves reads, refuses what needs the state at once, and works by itself when it is no longer %s",
    async (how, fail) => {
      const acknowledged = await createApp(`before it is ${how}`);
      expect(acknowledged.status).toBe(200);
      const before = await namesOf();
      let isOver = false;
      const reads: number[] = [];
      const reading = (async () => {
        while (!isOver) {
          reads.push(await statusOf(`/v2/svc/user/bulk?fids=${FID}`));
          await Bun.sleep(20);
        }
      })();

      fail();
      const [first, created] = await Promise.all([list(), createApp(`while it is ${how}`)]);
      expect([first.status, created.status]).toEqual([503, 503]);
      expect(Number(first.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await statusOf("/ready")).toBe(200);
      await until(async () => (await statusOf("/ready?for=state")) === 503, "/ready?for=state is 503");
      const refused = await list();
      expect([refused.status, refused.body.message]).toEqual([
        503,
        "the state store does not respond; try again",
      ]);
      const status = await (await fetch(`${node.url}/status`)).json();
      expect(status).toMatchObject({
        state: { reachable: false, reason: expect.any(String) },
        // All parts respond; what the state would tell is null.
        unavailable: [],
        send: { campaigns_running: 0, campaigns_queued: null },
        webhooks: { deliveries: null, calls_in_flight: 0 },
      });
      const metrics = await (await fetch(`${node.url}/metrics`)).text();
      expect(metrics).toContain("\nsvc_state_up 0\n");
      expect(metrics).toContain('svc_node_part_up{part="delivery"} 1');
      expect(metrics).not.toMatch(/\bnan\b|^svc_(notification_tokens|webhook_deliveries)\b/im);
      const token = await fetch(`${node.url}/v2/svc/frame/webhook/${crypto.randomUUID()}`, {
        method: "POST",
        body: "{}",
      });
      expect([token.status, await token.json()]).toEqual([
        503,
        { success: false, message: expect.any(String) },
      ]);

      proxy.heal();
      await until(async () => (await list()).status === 200, "a signed operation succeeds");
      await until(async () => (await statusOf("/ready?for=state")) === 200, "/ready?for=state is 200");
      isOver = true;
      await reading;
      expect(new Set(reads)).toEqual(new Set([200]));
      // Everything acknowledged is there; what was refused may or may not have happened, and not twice.
      const after = await namesOf();
      expect(after.filter((name) => name !== `while it is ${how}`)).toEqual(before);
      expect(after.length - before.length).toBeLessThanOrEqual(1);
    },
    120_000,
  );

  test("is fenced before another node may take its work, and continues with its lease afterwards", async () => {
    const fenced = async () => {
      const { state } = (await (await fetch(`${node.url}/status`)).json()) as { state: { fenced: boolean } };
      return state.fenced;
    };
    const lease = async () => {
      const [row] = await cluster.database.query(
        "SELECT ends_at_ms - (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS left_ms FROM svc.nodes",
      );
      return Number(row?.left_ms);
    };
    const made = await callSigned(node, FID, "POST", "/api_key", { name: "Key", scopes: ["read"] });
    const readWithKey = async () => {
      const headers = { "x-api-key": String(made.body.secret) };
      return (await fetch(`${node.url}/v2/farcaster/user/bulk/?fids=${FID}`, { headers })).status;
    };
    expect(await readWithKey()).toBe(200);
    await until(async () => (await lease()) > 7_000, "its lease is new", 5_000);
    proxy.cut();
    // While its lease holds, it would have learned of a deletion.
    expect(await readWithKey()).toBe(200);
    await until(fenced, "the node is fenced", 10_000);
    await until(async () => (await readWithKey()) === 503, "a read with a key is refused", 1_000);
    expect(await statusOf(`/v2/svc/user/bulk?fids=${FID}`)).toBe(200);
    expect(await lease()).toBeGreaterThan(0);
    await until(async () => (await lease()) < 0, "its lease ends", 5_000);
    proxy.heal();
    await until(async () => !(await fenced()), "the node may act again", 5_000);
    await until(async () => (await lease()) > 5_000, "its lease is renewed", 5_000);
    expect(node.logs()).toContain("The lease of the node had ended: it has a new one");
    expect([(await list()).status, await readWithKey()]).toEqual([200, 200]);
  }, 180_000);

  test("refuses the requests of before when the state went back to an earlier time, and serves new ones", async () => {
    const send = await signedRequest(FID, "GET", "/frame/app/list");
    expect((await send(node)).status).toBe(200);
    // As after a restore of a copy that was made before the request.
    await cluster.database.query("DELETE FROM svc.nonces");
    await cluster.database.query("UPDATE svc.nodes SET beat = 1");
    await until(() => node.logs().includes("may have gone back to an earlier time"), "it is noticed", 5_000);
    expect((await send(node)).status).toBe(401);
    await until(async () => (await list()).status === 200, "a new request succeeds", 5_000);
    expect((await send(node)).status).toBe(401);
    const metrics = await (await fetch(`${node.url}/metrics`)).text();
    expect(metrics).toContain("\nsvc_state_rollbacks_total 1\n");
  }, 180_000);
});
