import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { run } from "../cli/run.ts";
import { startBalancer } from "../support/balancer.ts";
import { callSigned, signedRequest, startCluster, type TestCluster, until } from "../support/cluster.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { IS_LONG } from "../support/long.ts";
import { signedCast } from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { HAS_POSTGRES, type PostgresServer, startPostgres } from "../support/postgres/server.ts";
import type { RunningNode } from "../support/program.ts";
import { startReceiver } from "../support/receiver.ts";
import { AUTHORS, addPeople } from "./mixed-faults/run.ts";

/** Three nodes over one PostgreSQL, with the figures that operators are promised. `nodes.test.ts` has shorter forms with two. */

const NAMES = ["a", "b", "c"];
const CAP = 25;
const GRACE_SECS = 3;
const FROZEN_MS = 20_000;
/** What a caller waits for PostgreSQL: 7 seconds, and what a busy machine adds. */
const DEADLINE_MS = 8_000;
const SETTINGS = [
  `apps.max_apps_per_owner=${CAP}`,
  `apps.secret_grace_period_secs=${GRACE_SECS}`,
  "http.drain_delay_secs=5",
  "service.shutdown_deadline_secs=20",
];
const APP = { name: "An app", app_url: "https://127.0.0.1" };

describe.skipIf(!HAS_POSTGRES || !IS_LONG)("three nodes of one state", () => {
  let server: PostgresServer;
  let cluster: TestCluster;
  let nodes: RunningNode[];
  beforeAll(async () => {
    server = await startPostgres();
    cluster = await startCluster({ seed: "three nodes of one state", command: compiledProgram, server });
    addPeople(cluster);
    nodes = await Promise.all(NAMES.map((name) => cluster.start(name, ...SETTINGS)));
  }, 180_000);
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const nodeAt = (n: number) => nodes[n % nodes.length] as RunningNode;
  const statuses = (responses: readonly { readonly status: number }[]) => {
    const counts: Record<number, number> = {};
    for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };
  const command = (...args: string[]) => run([...cluster.argsOf("command"), ...args]);

  test("all three serve, after the first of them made the schema once", async () => {
    const [made] = await cluster.database.query(
      `SELECT count(*)::int AS n, count(DISTINCT hash)::int AS different FROM svc."__drizzle_migrations"`,
    );
    expect(made?.n).toBe(made?.different);
    for (const node of nodes) expect((await fetch(`${node.url}/ready`)).status).toBe(200);
  });

  test("an app is made, read, changed, rotated and deleted on different nodes, each at once; old secrets end on all", async () => {
    const made = (await callSigned(nodeAt(0), 3, "POST", "/frame/app", APP)).body.app as {
      app_id: string;
      send_secrets: { value: string }[];
    };
    const path = `/frame/app?app_id=${made.app_id}`;
    const [former = ""] = made.send_secrets.map(({ value }) => value);
    for (const node of nodes) expect((await callSigned(node, 3, "GET", path)).body.app).toEqual(made);
    const change = { app_id: made.app_id, name: "Other" };
    expect((await callSigned(nodeAt(1), 3, "PUT", "/frame/app", change)).status).toBe(200);
    for (const node of nodes)
      expect((await callSigned(node, 3, "GET", path)).body.app).toMatchObject({ name: "Other" });
    const rotate = `/frame/app/secret/rotate?app_id=${made.app_id}`;
    const rotated = (await callSigned(nodeAt(2), 3, "POST", rotate)).body.app as typeof made;
    const current = rotated.send_secrets.map(({ value }) => value).find((key) => key !== former) ?? "";
    const accepted = (key: string) =>
      Promise.all(
        nodes.map(async (node) => {
          const response = await fetch(`${node.url}/v2/svc/frame/notifications/${made.app_id}`, {
            method: "POST",
            headers: { "x-api-key": key },
            body: JSON.stringify({
              notification: { title: "T", body: "B", target_url: "https://127.0.0.1/" },
              target_fids: [],
            }),
          });
          return response.status;
        }),
      );
    expect(await accepted(former)).toEqual([200, 200, 200]);
    expect(await accepted(current)).toEqual([200, 200, 200]);
    await until(async () => (await accepted(former))[0] === 401, "the former secret ends");
    expect(await accepted(former)).toEqual([401, 401, 401]);
    expect(await accepted(current)).toEqual([200, 200, 200]);
    expect((await callSigned(nodeAt(1), 3, "DELETE", path)).status).toBe(200);
    for (const node of nodes) expect((await callSigned(node, 3, "GET", path)).status).toBe(404);
    expect(await accepted(current)).not.toContain(200);
  }, 180_000);

  test("of one signed request that each gets 14 times at once, exactly one is accepted", async () => {
    for (let round = 0; round < 40; round++) {
      const send = await signedRequest(3, "GET", "/frame/app/list");
      const responses = await Promise.all(Array.from({ length: 42 }, (_, n) => send(nodeAt(n))));
      expect(statuses(responses)).toEqual({ 200: 1, 401: 41 });
    }
  }, 180_000);

  test("of 60 creations with a cap of 25, 25 succeed", async () => {
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, n) => callSigned(nodeAt(n), 4, "POST", "/frame/app", APP)),
    );
    expect(statuses(responses)).toEqual({ 200: CAP, 429: 60 - CAP });
  });

  test("while PostgreSQL is frozen for 20 seconds no request waits longer than 8, and nothing is done twice", async () => {
    const waits: number[] = [];
    const wrong: string[] = [];
    let isFrozen = true;
    const asking = Array.from({ length: 12 }, async (_, n) => {
      const fid = 210 + (n % 3);
      for (let at = 0; isFrozen; at++) {
        const name = `app ${n} ${at}`;
        const send = await signedRequest(fid, "POST", "/frame/app", { ...APP, name });
        const startedMs = performance.now();
        const first = await send(nodeAt(n));
        waits.push(performance.now() - startedMs);
        if (first.status !== 503) {
          if (isFrozen) wrong.push(`${name}: ${first.status}`);
          continue;
        }
        // Sent again after the server is back, as it is.
        again.push({ name, send });
        await Bun.sleep(50);
      }
    });
    const again: { readonly name: string; readonly send: Awaited<ReturnType<typeof signedRequest>> }[] = [];
    server.freeze();
    await Bun.sleep(FROZEN_MS);
    isFrozen = false;
    await Promise.all(asking);
    server.thaw();
    await until(async () => {
      const responses = await Promise.all(nodes.map((node) => fetch(`${node.url}/ready?for=state`)));
      return responses.every(({ ok }) => ok);
    }, "all nodes reach PostgreSQL");
    expect(wrong).toEqual([]);
    expect(Math.max(...waits)).toBeLessThan(DEADLINE_MS);
    expect(again.length).toBeGreaterThan(100);
    const done = new Set<string>();
    for (const [n, { name, send }] of again.slice(0, 60).entries()) {
      const { status } = await send(nodeAt(n));
      if (status === 200) done.add(name);
      else expect([401, 429]).toContain(status);
    }
    const names: string[] = [];
    for (const fid of [210, 211, 212]) {
      const { body } = await callSigned(nodeAt(1), fid, "GET", "/frame/app/list");
      names.push(...(body.apps as { name: string }[]).map(({ name }) => name));
    }
    expect(new Set(names).size).toBe(names.length);
    expect([...done].filter((name) => !names.includes(name))).toEqual([]);
  }, 180_000);

  test("a pause of deliveries stops all calls within 3 seconds, and none is lost when it ends", async () => {
    const texts: string[] = [];
    await using receiver = startReceiver({
      respond({ body }) {
        texts.push(JSON.parse(body).data.text);
        return new Response("ok");
      },
    });
    const [author = 0] = AUTHORS;
    const { status } = await callSigned(nodeAt(0), author, "POST", `/webhook?owner_fid=${author}`, {
      name: "hook",
      url: `http://127.0.0.1:${receiver.port}/`,
      subscription: { "cast.created": { author_fids: [author] } },
    });
    expect(status).toBe(200);
    let sent = 0;
    const cast = () => {
      const timestamp = toFarcasterSecs(Math.floor(Date.now() / 1000));
      const bytes = signedCast(author, `cast ${sent++}`, accountSigner(author), { timestamp });
      cluster.act([{ fid: author, record: { kind: "message", bytes } }]);
    };
    const casting = setInterval(cast, 100);
    await until(() => texts.length > 10, "casts are delivered");
    expect((await command("state", "pause", "deliveries", "--reason", "a test")).exitCode).toBe(0);
    await Bun.sleep(3_000);
    const before = texts.length;
    await Bun.sleep(4_000);
    expect(texts.length).toBe(before);
    expect((await command("state", "resume", "deliveries")).exitCode).toBe(0);
    clearInterval(casting);
    await until(() => new Set(texts).size === sent, "all casts are delivered");
    expect(texts).toHaveLength(sent);
  }, 180_000);

  test("a rolling restart of all three behind a balancer loses none of 40 requests a second", async () => {
    await using balancer = startBalancer(() => nodes, { path: "/v2/svc/user/bulk?fids=3", everyMs: 2_000 });
    await until(() => balancer.ready === 3, "the balancer knows all");
    for (const [at, name] of NAMES.entries()) {
      const stoppedAtMs = performance.now();
      expect(await nodeAt(at).stop()).toBe(0);
      expect(performance.now() - stoppedAtMs).toBeGreaterThan(5_000);
      nodes[at] = await cluster.start(name, ...SETTINGS);
      await until(() => balancer.ready === 3, "the balancer knows all again");
    }
    expect(await balancer.stop()).toEqual([]);
    expect(balancer.asked).toBeGreaterThan(500);
  }, 180_000);
});
