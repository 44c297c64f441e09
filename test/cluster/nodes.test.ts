import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { SettingsReport } from "../../src/console/operator/reports.ts";
import { run } from "../cli/run.ts";
import { startBalancer } from "../support/balancer.ts";
import { callSigned, signedRequest, startCluster, type TestCluster, until } from "../support/cluster.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { type OperatorPage, openOperatorPage } from "../support/operator-page.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import type { RunningNode } from "../support/program.ts";
import { newSessionKey, sessionHeaders } from "../support/sessions.ts";
import { DOMAIN, newNonce, post, signInMessage, signText } from "../support/sign-in.ts";
import { MASTER_KEY } from "../support/signers.ts";
import type { Method } from "../support/signing.ts";

/** Two real nodes over one PostgreSQL, as their clients and their operator see them. */

const FID = 3;
const SETTINGS = [
  "http.drain_delay_secs=1",
  "service.shutdown_deadline_secs=20",
  `signers.encryption_key=${MASTER_KEY}`,
  // The nodes of a balancer have its URL, which tokens name.
  "service.public_url=https://node.example",
];

describe.skipIf(!HAS_POSTGRES)("two nodes of one state", () => {
  let cluster: TestCluster;
  let a: RunningNode;
  let b: RunningNode;

  beforeAll(async () => {
    cluster = await startCluster({ seed: "two nodes of one state", command: compiledProgram });
    // Both at once: the first makes the schema.
    [a, b] = await Promise.all([cluster.start("a", ...SETTINGS), cluster.start("b", ...SETTINGS)]);
  }, 180_000);
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  const command = (...args: string[]) => run([...cluster.argsOf("command"), ...args]);
  // biome-ignore lint/suspicious/noExplicitAny: responses of every shape
  const statusOf = async (node: RunningNode): Promise<any> => (await fetch(`${node.url}/status`)).json();

  test("an app that one creates is read, changed, rotated and deleted on the other at once", async () => {
    const created = await callSigned(a, FID, "POST", "/frame/app", {
      name: "Bread",
      app_url: "https://127.0.0.1",
    });
    expect([created.status, created.headers.get("x-svc-node")]).toEqual([200, "a"]);
    const { app_id: appId } = created.body.app as { app_id: string };
    const path = `/frame/app?app_id=${appId}`;
    const read = await callSigned(b, FID, "GET", path);
    expect([read.status, read.headers.get("x-svc-node")]).toEqual([200, "b"]);
    expect((await callSigned(b, FID, "PUT", "/frame/app", { app_id: appId, name: "Rye" })).status).toBe(200);
    expect((await callSigned(a, FID, "GET", path)).body.app).toMatchObject({ name: "Rye" });
    expect((await callSigned(b, FID, "POST", `/frame/app/secret/rotate?app_id=${appId}`)).status).toBe(200);
    const secrets = (await callSigned(a, FID, "GET", path)).body.app as { send_secrets: unknown[] };
    expect(secrets.send_secrets).toHaveLength(2);
    expect((await callSigned(b, FID, "DELETE", path)).status).toBe(200);
    expect((await callSigned(a, FID, "GET", path)).status).toBe(404);
  });

  test("of one signed request that is sent to both again and again, exactly one succeeds", async () => {
    const send = await signedRequest(FID, "GET", "/frame/app/list");
    const responses = await Promise.all(Array.from({ length: 20 }, (_, n) => send(n % 2 === 0 ? a : b)));
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array<number>(19).fill(401)]);
  });

  test("checks 2, 9: of 50 copies of a sign-in on both nodes one gets a token, which both verify by the same key", async () => {
    const message = signInMessage(await newNonce(a));
    const body = { message, signature: signText(message), domain: DOMAIN };
    const copies = Array.from({ length: 50 }, (_, n) =>
      post(n % 2 === 0 ? a : b, "/quick-auth/verify-siwf", body),
    );
    const all = (await Promise.all(copies)).map((response) => response.body);
    expect(all.filter(({ reason }) => reason === "invalid_nonce")).toHaveLength(49);
    const token = String(all.find(({ valid }) => valid === true)?.token);
    const verify = (node: RunningNode) =>
      fetch(`${node.url}/quick-auth/verify-jwt?${new URLSearchParams({ token, domain: DOMAIN })}`);
    expect([(await verify(a)).status, (await verify(b)).status]).toEqual([200, 200]);
    const keysOf = async (node: RunningNode) =>
      (await fetch(`${node.url}/quick-auth/.well-known/jwks.json`)).text();
    expect(await keysOf(a)).toBe(await keysOf(b));
    // Keys that are deleted on one node end on the other with its next beat, also for tokens that it has verified before.
    const rotated = await run([...cluster.argsOf("a"), "quick-auth", "rotate", "--now", a.url]);
    expect({ exitCode: rotated.exitCode, errors: rotated.errors }).toMatchObject({ exitCode: 0 });
    expect((await verify(a)).status).toBe(400);
    await until(async () => (await verify(b)).status === 400, "b refuses tokens of deleted keys", 5000);
    expect(await keysOf(b)).toBe(await keysOf(a));
  });

  test("a session that one creates signs on the other, an operation once in all, and ends on both at once", async () => {
    const { privateKey, body } = newSessionKey();
    const created = await callSigned(a, FID, "POST", "/session", body);
    const { session_id: sessionId } = created.body.session as { session_id: string };
    const bySession = (method: Method, path: string, sent?: object) => {
      const signedAt = Math.floor(Date.now() / 1000);
      const text = sent && { body: JSON.stringify(sent) };
      const headers = sessionHeaders(
        { sessionId, fid: FID, privateKey },
        { method, path, signedAt, ...text },
      );
      return (node: RunningNode) =>
        fetch(`${node.url}/v2/svc${path}`, { method, headers, keepalive: false, ...text });
    };
    const read = bySession("GET", "/frame/app/list");
    expect([(await read(b)).status, (await read(a)).status]).toEqual([200, 200]);
    const hook = { name: "Hook", url: "https://127.0.0.1/hook", subscription: { "cast.created": {} } };
    const made = await callSigned(a, FID, "POST", `/webhook?owner_fid=${FID}`, hook);
    const { webhook_id: id } = made.body.webhook as { webhook_id: string };
    const operate = bySession("PATCH", "/webhook", { webhook_id: id, active: false });
    const responses = await Promise.all(Array.from({ length: 10 }, (_, n) => operate(n % 2 === 0 ? a : b)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(401)]);
    expect((await callSigned(a, FID, "DELETE", "/session?all=true")).status).toBe(200);
    expect([(await read(b)).status, (await read(a)).status]).toEqual([401, 401]);
  });

  test("an API key that one deletes reads nothing at the other from the response on", async () => {
    const made = await callSigned(a, FID, "POST", "/api_key", { name: "Key", scopes: ["read"] });
    const { api_key, secret } = made.body as { api_key: { api_key_id: string }; secret: string };
    const read = async (node: RunningNode) =>
      (await fetch(`${node.url}/v2/farcaster/user/bulk/?fids=${FID}`, { headers: { "x-api-key": secret } }))
        .status;
    let isDeleted = false;
    const statuses: number[] = [];
    // The other node reads all the while, so that it remembers the key.
    const reading = (async () => {
      while (!isDeleted) {
        statuses.push(await read(b));
        // Refused keys have a limit of their own.
        await Bun.sleep(300);
      }
    })();
    await until(() => statuses.length > 0, "b has used the key");
    const { api_key_id } = api_key;
    const deleted = await callSigned(a, FID, "DELETE", "/api_key", { api_key_id });
    const after = [await read(b), await read(a)];
    isDeleted = true;
    await reading;
    expect([deleted.body, after]).toEqual([{ deleted: true }, [401, 401]]);
    expect(statuses).toContain(200);
  });

  test("the same question has the same body and ETag, which one issues and the other confirms", async () => {
    const paths = [`/user/bulk?fids=${FID},2`, "/feed/trending?limit=5", `/feed/user/casts?fid=${FID}`];
    for (const path of paths) {
      const url = `/v2/svc${path}`;
      const ofA = await fetch(a.url + url);
      const etag = ofA.headers.get("etag") ?? "";
      const body = await ofA.text();
      const ofB = await fetch(b.url + url, { headers: { "if-none-match": etag } });
      expect([path, ofB.status]).toEqual([path, 304]);
      expect(await (await fetch(b.url + url)).text()).toBe(body);
    }
  });

  test("a list whose pages are read from both in turns is that of one", async () => {
    const walk = async (path: string, key: string, nodes: readonly RunningNode[]) => {
      const found: unknown[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < 100; page++) {
        const node = nodes[page % nodes.length] ?? a;
        const next: string = cursor === null ? "" : `&cursor=${cursor}`;
        const response = await fetch(`${node.url}/v2/svc${path}&limit=2${next}`);
        const body = (await response.json()) as Record<string, unknown[]> & {
          next: { cursor: string | null };
        };
        expect([path, response.status]).toEqual([path, 200]);
        found.push(...(body[key] ?? []));
        cursor = body.next.cursor;
        if (cursor === null) return found;
      }
      throw new Error(`${path} has no end`);
    };
    let listed = 0;
    const ofFids = Array.from({ length: 12 }, (_, fid) => [
      [`/feed/user/casts?fid=${fid}`, "casts"] as const,
      [`/followers?fid=${fid}`, "users"] as const,
    ]).flat();
    for (const [path, key] of [
      ["/feed/trending?x=", "casts"],
      ["/channel/trending?x=", "channels"],
      ...ofFids,
    ] as const) {
      const ofA = await walk(path, key, [a]);
      listed += ofA.length;
      expect(await walk(path, key, [a, b])).toEqual(ofA);
      expect(await walk(path, key, [b, a, b])).toEqual(ofA);
    }
    expect(listed).toBeGreaterThan(5);
  });

  test("status, metrics and `svc nodes` show both, one of which runs maintenance", async () => {
    await until(async () => (await statusOf(a)).nodes.alive === 2, "a knows of b");
    await until(async () => (await statusOf(a)).nodes.maintenance !== null, "one runs maintenance");
    const [ofA, ofB] = await Promise.all([statusOf(a), statusOf(b)]);
    expect(ofA.state).toMatchObject({ kind: "postgres", reachable: true, reason: null, fenced: false });
    expect([ofA.nodes.slot, ofB.nodes.slot].sort()).toEqual([0, 1]);
    expect(["a", "b"]).toContain(ofA.nodes.maintenance);
    expect(ofA.unavailable).toEqual([]);
    const metrics = await (await fetch(`${b.url}/metrics`)).text();
    expect(metrics).toContain("\nsvc_nodes_alive 2\n");
    expect(metrics).toContain("\nsvc_state_up 1\n");
    expect(metrics).toMatch(/\nsvc_state_queries_total\{outcome="done"\} [1-9]/);
    const listed = await command("nodes", "--json");
    expect([listed.exitCode, listed.errors]).toEqual([0, ""]);
    const { nodes, differing_settings } = JSON.parse(listed.out);
    expect(nodes).toMatchObject([
      { node: "a", alive: true, solo: false, positions: { 0: expect.any(Number) } },
      { node: "b", alive: true, solo: false },
    ]);
    expect(differing_settings).toEqual([]);
    const refused = await command("nodes", "remove", "a");
    expect([refused.exitCode, refused.errors]).toEqual([1, expect.stringContaining("it is alive")]);
  }, 180_000);

  test("a pause is obeyed by both within 3 seconds", async () => {
    const paused = await command("state", "pause", "signed", "--reason", "a test");
    expect([paused.exitCode, paused.out]).toEqual([0, "paused: signed\n"]);
    const statuses = async () =>
      Promise.all([a, b].map(async (node) => (await callSigned(node, FID, "GET", "/frame/app/list")).status));
    await until(async () => (await statuses()).every((status) => status === 503), "both refuse");
    expect((await statusOf(b)).switches).toMatchObject([{ name: "signed", reason: "a test" }]);
    expect((await command("state", "resume", "all")).out).toBe("resumed: signed\n");
    await until(async () => (await statuses()).every((status) => status === 200), "both accept");
  }, 180_000);

  test("check 39: a page of settings changes only its node, and refuses what all nodes must have alike", async () => {
    const pages = await Promise.all(
      [a, b].map(async ({ url }, at) => {
        const link = await run([...cluster.argsOf(at === 0 ? "a" : "b"), "console", url]);
        return openOperatorPage(link.out);
      }),
    );
    const [pageA, pageB] = pages as [OperatorPage, OperatorPage];
    const settingOf = async (page: OperatorPage, key: string) => {
      const report = await page.read<SettingsReport>("config");
      expect(report.is_shared).toBe(true);
      return report.settings.find((setting) => setting.key === key);
    };
    const alike = { "send.dedupe_ttl_secs": 60, "upstream.fids": [FID], "upstream.fid_file": "/fids" };
    for (const [key, value] of Object.entries(alike)) {
      const { status, body } = await pageA.post<{ message: string }>("setting", { values: { [key]: value } });
      expect([key, status, body.message]).toEqual([
        key,
        409,
        `${key} must be the same on all nodes of the state: change the settings file of each`,
      ]);
      expect(await settingOf(pageA, key)).toMatchObject({ apply: "file" });
    }
    const readOf = async ({ url }: RunningNode) => (await fetch(`${url}/v2/svc/user?fid=${FID}`)).status;
    const limitOf = async (node: RunningNode) => (await statusOf(node)).stream.max_connections;
    expect(await pageA.post("setting", { values: { "http.anonymous": false } })).toMatchObject({
      status: 200,
      body: { applied: ["http.anonymous"], late: [] },
    });
    expect(await pageB.post("setting", { values: { "stream.max_connections": 7 } })).toMatchObject({
      status: 200,
    });
    expect([await readOf(a), await readOf(b)]).toEqual([401, 200]);
    expect([await limitOf(a), await limitOf(b)]).toEqual([1_000, 7]);
    expect(await settingOf(pageA, "http.anonymous")).toMatchObject({ value: false, source: "console" });
    expect(await settingOf(pageB, "http.anonymous")).toMatchObject({ value: true, source: "default" });
    await pageA.post("setting", { values: { "http.anonymous": null } });
    await pageB.post("setting", { values: { "stream.max_connections": null } });
    expect([await readOf(a), await limitOf(b)]).toEqual([200, 1_000]);
  }, 180_000);

  test("a start is refused with its reason: an id in use, settings that differ, a node by itself", async () => {
    const start = async (...settings: string[]) =>
      run([...cluster.argsOf("c", ...SETTINGS, "http.port=0", "hub.port=0", ...settings), "serve"]);
    const [inUse, differing, solo] = await Promise.all([
      start("node.id=a", "data.dir=other-a"),
      start(
        ...["node.id=c", "data.dir=c", "protocol.network=testnet"],
        ...["send.dedupe_ttl_secs=60", "auth.signed_at_window_secs=10"],
      ),
      start("node.id=d", "data.dir=d", "upstream.url="),
    ]);
    expect([inUse.exitCode, inUse.errors]).toEqual([75, expect.stringContaining("node.id a is in use")]);
    expect([differing.exitCode, differing.errors]).toEqual([
      1,
      expect.stringMatching(/protocol\.network.*auth\.signed_at_window_secs, send\.dedupe_ttl_secs/),
    ]);
    expect([solo.exitCode, solo.errors]).toEqual([75, expect.stringContaining("can only be alone")]);
    for (const { errors } of [inUse, differing, solo]) expect(errors).not.toContain("only-for-tests");
  }, 180_000);

  test("a rolling restart behind a balancer loses no request", async () => {
    const nodes = [a, b];
    await using balancer = startBalancer(() => nodes, {
      path: `/v2/svc/user/bulk?fids=${FID}`,
      everyMs: 200,
    });
    await until(() => balancer.ready === 2, "the balancer knows both");
    for (const [at, name] of ["a"].entries()) {
      const stoppedAtMs = performance.now();
      expect(await (nodes[at % 2] as RunningNode).stop()).toBe(0);
      expect(performance.now() - stoppedAtMs).toBeGreaterThan(1_000);
      nodes[at % 2] = await cluster.start(name, ...SETTINGS);
      await until(() => balancer.ready === 2, "the balancer knows both again");
    }
    expect(await balancer.stop()).toEqual([]);
    expect(balancer.asked).toBeGreaterThan(50);
    [a, b] = nodes as [RunningNode, RunningNode];
  }, 180_000);

  test("a node that stops gives up its lease at once, and its row can be removed", async () => {
    await until(async () => (await statusOf(b)).nodes.alive === 2, "b knows of a");
    expect(await a.stop()).toBe(0);
    await until(async () => (await statusOf(b)).nodes.alive === 1, "b is alone");
    await until(async () => (await statusOf(b)).nodes.maintenance !== "a", "a runs no maintenance");
    const removed = await command("nodes", "remove", "a");
    expect([removed.exitCode, removed.out]).toEqual([0, "removed: a\n"]);
    const listed = await command("nodes");
    expect(listed.out.split("\n")).toHaveLength(3);
  }, 180_000);

  test("nodes serve while a newer release adds to the schema, join it, and end when it no longer reads theirs", async () => {
    // What the next release may do: new tables and columns that may be missing.
    const tables = ["apps", "nodes", "cluster", "webhooks", "secrets", "nonces", "campaigns", "deliveries"];
    for (const table of tables)
      await cluster.database.query(`ALTER TABLE svc.${table} ADD COLUMN later text`);
    await cluster.database.query("CREATE TABLE svc.later (id bigint PRIMARY KEY)");
    await cluster.database.query(
      `INSERT INTO svc."__drizzle_migrations" (hash, created_at) VALUES ('later', 99999999999999)`,
    );
    expect((await callSigned(b, FID, "GET", "/frame/app/list")).status).toBe(200);
    a = await cluster.start("a", ...SETTINGS);
    const created = await callSigned(a, FID, "POST", "/frame/app", {
      name: "N",
      app_url: "https://127.0.0.1",
    });
    expect(created.status).toBe(200);
    await until(async () => (await statusOf(a)).nodes.alive === 2, "both are there");
    await cluster.database.query("UPDATE svc.cluster SET min_reader = 99999999999999");
    expect(await Promise.all([a.exited, b.exited])).toEqual([1, 1]);
    expect(a.logs()).toContain("the state needs a newer release of this program");
    const refused = await run([...cluster.argsOf("a", ...SETTINGS, "http.port=0", "hub.port=0"), "serve"]);
    expect([refused.exitCode, refused.errors]).toEqual([1, expect.stringContaining("newer release")]);
  }, 180_000);
});
