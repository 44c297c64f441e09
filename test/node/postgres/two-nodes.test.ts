import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createDatabase, type PostgresDatabase } from "../../support/postgres/database.ts";
import { HAS_POSTGRES, type PostgresServer, startPostgres } from "../../support/postgres/server.ts";
import type { RunningNode } from "../../support/program.ts";
import {
  type ClusterResponse,
  call,
  request,
  type SignedRequest,
  sign,
  startTestCluster,
  type TestCluster,
} from "../../support/test-cluster.ts";

/** Two processes of the program over one PostgreSQL, as their clients see them. */

const CAP = 5;
const GRACE_SECS = 2;
/** Of a statement; a caller waits seven fifths of it. */
const TIMEOUT_MS = 1_000;
/** A request makes a few calls to the state; the first one that gets no answer ends it. What a busy machine adds is in here. */
const DEADLINE_MS = 4_000;
const AT_ONCE_MS = 400;
const RECOVERY_MS = 4_000;

const app = { name: "An app", app_url: "https://127.0.0.1" };
const notification = { title: "T", body: "B", target_url: "https://127.0.0.1/" };
const create = { method: "POST", path: "/frame/app", body: app } as const;
const list = { method: "GET", path: "/frame/app/list" } as const;

describe.skipIf(!HAS_POSTGRES)("two nodes over one PostgreSQL", () => {
  let server: PostgresServer;
  let database: PostgresDatabase;
  let cluster: TestCluster;
  let a: RunningNode;
  let b: RunningNode;

  beforeAll(async () => {
    server = await startPostgres();
    database = await createDatabase({ server, isEmpty: true });
    cluster = await startTestCluster();
    const settings = [
      `state.timeout_ms=${TIMEOUT_MS}`,
      "net.allow_cidrs=127.0.0.0/8",
      `apps.max_apps_per_owner=${CAP}`,
      `apps.secret_grace_period_secs=${GRACE_SECS}`,
    ];
    // Both find an empty database.
    [a, b] = await Promise.all([
      cluster.start("a", database.url, settings),
      cluster.start("b", database.url, settings),
    ]);
  }, 60_000);
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const statuses = (responses: readonly ClusterResponse[]) => {
    const counts: Record<number, number> = {};
    for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };
  /** A send without recipients: it fails where its key is not one of the app. */
  const send = (node: RunningNode, appId: string, key: string) =>
    request(node, `/frame/notifications/${appId}`, {
      method: "POST",
      headers: { "x-api-key": key },
      body: JSON.stringify({ notification, target_fids: [] }),
    });
  async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
    const startedMs = performance.now();
    const result = await work();
    return { result, ms: performance.now() - startedMs };
  }
  const readiness = async (node: RunningNode, query = "") =>
    (await fetch(`${node.url}/ready${query}`)).status;
  async function untilReady(node: RunningNode): Promise<number> {
    const { ms } = await timed(async () => {
      while ((await readiness(node, "?for=state")) !== 200 || (await call(node, list)).status !== 200)
        await Bun.sleep(20);
    });
    return ms;
  }

  test("an app that is made on one is read, changed, rotated and deleted on the other at once", async () => {
    const made = await call(a, create);
    expect(made.status).toBe(200);
    const { app_id, send_secrets } = made.body.app;
    const path = `/frame/app?app_id=${app_id}`;
    expect((await call(b, { method: "GET", path })).body.app).toEqual(made.body.app);
    const changed = await call(b, {
      method: "PUT",
      path: "/frame/app",
      body: { app_id, ...app, name: "Other" },
    });
    expect(changed.status).toBe(200);
    expect((await call(a, { method: "GET", path })).body.app.name).toBe("Other");

    const rotated = await call(b, { method: "POST", path: `/frame/app/secret/rotate?app_id=${app_id}` });
    const keys: string[] = rotated.body.app.send_secrets.map(({ value }: { value: string }) => value);
    const [former = ""] = send_secrets.map(({ value }: { value: string }) => value);
    const current = keys.find((key) => key !== former) ?? "";
    const accepted = async (key: string) =>
      Promise.all([a, b].map(async (node) => (await send(node, app_id, key)).status));
    expect(await accepted(former)).toEqual([200, 200]);
    expect(await accepted(current)).toEqual([200, 200]);
    while ((await accepted(former))[0] === 200) await Bun.sleep(100);
    expect(await accepted(former)).toEqual([401, 401]);
    expect(await accepted(current)).toEqual([200, 200]);

    expect((await call(b, { method: "DELETE", path })).status).toBe(200);
    expect((await call(a, { method: "GET", path })).status).toBe(404);
    expect((await accepted(current)).every((status) => status === 401 || status === 404)).toBe(true);
  }, 30_000);

  test("of one signed request that both get many times, exactly one is accepted", async () => {
    const copies = await sign(list);
    const responses = await Promise.all(Array.from({ length: 28 }, (_, n) => copies(n % 2 === 0 ? a : b)));
    expect(statuses(responses)).toEqual({ 200: 1, 401: 27 });
  });

  test("a cap counts what is created on both", async () => {
    const creations = await Promise.all(Array.from({ length: 4 * CAP }, () => sign({ ...create, fid: 4 })));
    const responses = await Promise.all(creations.map((send, n) => send(n % 2 === 0 ? a : b)));
    expect(statuses(responses)).toEqual({ 200: CAP, 429: 3 * CAP });
  });

  test("without PostgreSQL reads go on, and what needs the state is refused in time; it works again by itself", async () => {
    const made = await call(a, { ...create, fid: 5 });
    expect(made.status).toBe(200);
    const reads = { served: 0, failed: 0 };
    let isAway = true;
    const reading = (async () => {
      while (isAway) {
        const { status } = await request(a, "/user?fid=3");
        reads[status === 200 ? "served" : "failed"] += 1;
      }
    })();
    await server.kill();
    const first = await timed(() => call(a, list));
    expect([first.result.status, first.result.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(first.ms).toBeLessThan(DEADLINE_MS);
    for (const refused of [() => call(a, list), () => send(a, made.body.app.app_id, "0".repeat(64))]) {
      const { result, ms } = await timed(refused);
      expect(result).toMatchObject({
        status: 503,
        body: { message: "the state store does not answer; try again" },
      });
      expect(ms).toBeLessThan(AT_ONCE_MS);
    }
    expect(await readiness(a)).toBe(200);
    while ((await readiness(a, "?for=state")) !== 503) await Bun.sleep(50);
    const { message } = (await (await fetch(`${a.url}/ready?for=state`)).json()) as { message: string };
    expect(message.match(/PostgreSQL does not answer/g)).toHaveLength(1);
    await server.restart();
    expect(await untilReady(a)).toBeLessThan(RECOVERY_MS);
    isAway = false;
    await reading;
    expect(reads.failed).toBe(0);
    expect(reads.served).toBeGreaterThan(10);
    await untilReady(b);
    const path = `/frame/app?app_id=${made.body.app.app_id}`;
    expect((await call(b, { method: "GET", path, fid: 5 })).body.app).toEqual(made.body.app);
  }, 60_000);

  test("a frozen PostgreSQL holds no request for long, and what is sent again is done at most once", async () => {
    const creations = await Promise.all(Array.from({ length: CAP }, () => sign({ ...create, fid: 6 })));
    server.freeze();
    const refused = await Promise.all(creations.map((send, n) => timed(() => send(n % 2 === 0 ? a : b))));
    expect(statuses(refused.map(({ result }) => result))).toEqual({ 503: CAP });
    for (const { ms } of refused) expect(ms).toBeLessThan(DEADLINE_MS);
    server.thaw();
    await Promise.all([untilReady(a), untilReady(b)]);
    const again = await Promise.all(creations.map((send: SignedRequest) => send(a)));
    const { 200: done = 0, 401: spent = 0 } = statuses(again);
    expect(done + spent).toBe(CAP);
    const apps = (await call(b, { ...list, fid: 6 })).body.apps;
    expect(apps.length).toBeLessThanOrEqual(CAP);
    expect(apps.length).toBeGreaterThanOrEqual(done);
  }, 60_000);

  test("after PostgreSQL came back from an older copy, former requests are refused and both say why", async () => {
    await server.kill();
    const putBack = server.copyFiles();
    await server.restart();
    await Promise.all([untilReady(a), untilReady(b)]);
    const copies = await sign(list);
    expect((await copies(a)).status).toBe(200);
    // What came after the copy includes a heartbeat of each.
    const beats = () => database.query("SELECT node_id, beat::text FROM svc.nodes ORDER BY node_id");
    const before = await beats();
    while ((await beats()).some(({ beat }, at) => beat === before[at]?.beat)) await Bun.sleep(100);
    await server.kill();
    putBack();
    await server.restart();
    const says = (node: RunningNode) => node.logs().includes("The state may have gone back");
    while (!says(a) || !says(b)) await Bun.sleep(50);
    expect([(await copies(a)).status, (await copies(b)).status]).toEqual([401, 401]);
    // A request that was signed in the second of the return is refused, too.
    while ((await call(b, list)).status !== 200) await Bun.sleep(100);
    expect((await call(a, list)).status).toBe(200);
  }, 60_000);
});
