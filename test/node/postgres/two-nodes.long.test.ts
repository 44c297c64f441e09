import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { seededRandom } from "../../../src/demo/random.ts";
import { type Fleet, type FleetNode, startFleet } from "../../cluster/mixed-faults/fleet.ts";
import { addPeople, runMixedFaults } from "../../cluster/mixed-faults/run.ts";
import { callSigned, signedRequest, startCluster, type TestCluster } from "../../support/cluster.ts";
import { compiledProgram } from "../../support/compiled-program.ts";
import { IS_LONG } from "../../support/long.ts";
import { until } from "../../support/manual-time.ts";
import { HAS_POSTGRES, type PostgresServer, startPostgres } from "../../support/postgres/server.ts";
import type { RunningNode } from "../../support/program.ts";

/** Two processes of the program over one PostgreSQL of their own, which fails, as their clients see them. */

const CAP = 5;
/** Long enough for a few requests on a busy machine. */
const GRACE_SECS = 5;
/** The timeout of a statement; a caller waits seven fifths of it. A server that is away never responds: the time limit of a test shows the deadline. */
const TIMEOUT_MS = 2_500;
/** The threads of a node that serve requests. */
const MAX_THREADS = 8;
const AWAY = "the state store does not respond; try again";

const app = { name: "An app", app_url: "https://127.0.0.1" };
const notification = { title: "T", body: "B", target_url: "https://127.0.0.1/" };

describe.skipIf(!HAS_POSTGRES)("two nodes over one PostgreSQL", () => {
  let server: PostgresServer;
  let cluster: TestCluster;
  let fleet: Fleet;
  const random = seededRandom(`${Date.now()}`);
  let a: RunningNode;
  let b: RunningNode;

  beforeAll(async () => {
    server = await startPostgres();
    cluster = await startCluster({ seed: "two nodes over one PostgreSQL", command: compiledProgram, server });
    addPeople(cluster);
    const settings = [
      `state.timeout_ms=${TIMEOUT_MS}`,
      `apps.max_apps_per_owner=${CAP}`,
      `apps.secret_grace_period_secs=${GRACE_SECS}`,
    ];
    // Both find an empty database.
    fleet = await startFleet(cluster, { names: ["a", "b"], settings, random });
    useNodes();
  }, 180_000);
  afterAll(async () => {
    await fleet?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  /** Those that run now. */
  function useNodes(): void {
    [a, b] = fleet.nodes.map(({ running }) => running as RunningNode) as [RunningNode, RunningNode];
  }
  const list = (node: RunningNode, fid = 3) => callSigned(node, fid, "GET", "/frame/app/list");
  const create = (node: RunningNode, fid = 3) => callSigned(node, fid, "POST", "/frame/app", app);
  const statuses = (responses: readonly { readonly status: number }[]) => {
    const counts: Record<number, number> = {};
    for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };
  /** A send without recipients: it fails where its key is not one of the app. */
  const send = (node: RunningNode, appId: string, key: string) =>
    fetch(`${node.url}/v2/svc/frame/notifications/${appId}`, {
      method: "POST",
      keepalive: false,
      headers: { "x-api-key": key },
      body: JSON.stringify({ notification, target_fids: [] }),
    });
  const readiness = async (node: RunningNode, query = "") =>
    (await fetch(`${node.url}/ready${query}`)).status;
  async function untilReady(node: RunningNode): Promise<void> {
    while ((await readiness(node, "?for=state")) !== 200 || (await list(node)).status !== 200)
      await Bun.sleep(20);
  }

  test("a rotated send secret is accepted by both until its grace period ends, and none of a deleted app", async () => {
    const made = (await create(a)).body.app as { app_id: string; send_secrets: { value: string }[] };
    const [former = ""] = made.send_secrets.map(({ value }) => value);
    const path = `/frame/app?app_id=${made.app_id}`;
    const rotated = await callSigned(b, 3, "POST", `/frame/app/secret/rotate?app_id=${made.app_id}`);
    const keys = (rotated.body.app as typeof made).send_secrets.map(({ value }) => value);
    const current = keys.find((key) => key !== former) ?? "";
    const accepted = async (key: string) =>
      Promise.all([a, b].map(async (node) => (await send(node, made.app_id, key)).status));
    expect(await accepted(former)).toEqual([200, 200]);
    expect(await accepted(current)).toEqual([200, 200]);
    while ((await accepted(former))[0] === 200) await Bun.sleep(100);
    expect(await accepted(former)).toEqual([401, 401]);
    expect(await accepted(current)).toEqual([200, 200]);
    expect((await callSigned(b, 3, "DELETE", path)).status).toBe(200);
    expect((await accepted(current)).every((status) => status === 401 || status === 404)).toBe(true);
  }, 180_000);

  test("a cap counts what is created on both", async () => {
    const responses = await Promise.all(
      Array.from({ length: 4 * CAP }, (_, n) => create(n % 2 === 0 ? a : b, 4)),
    );
    expect(statuses(responses)).toEqual({ 200: CAP, 429: 3 * CAP });
  });

  test("without PostgreSQL reads continue, and what needs the state is refused in time; it works again by itself", async () => {
    const made = await create(a, 5);
    expect(made.status).toBe(200);
    const reads = { served: 0, failed: 0 };
    let isAway = true;
    const reading = (async () => {
      while (isAway) {
        const { status } = await fetch(`${a.url}/v2/svc/user?fid=3`);
        reads[status === 200 ? "served" : "failed"] += 1;
      }
    })();
    await server.kill();
    const first = await list(a);
    expect([first.status, first.headers.get("retry-after")]).toEqual([503, "5"]);
    const { app_id: appId } = made.body.app as { app_id: string };
    const sent = async () => {
      const response = await send(a, appId, "0".repeat(64));
      return { status: response.status, body: (await response.json()) as { message?: unknown } };
    };
    // Each thread notices by a call of its own, of which no one knows the outcome. Then it refuses at once.
    for (const refused of [() => list(a), sent]) {
      const messages: unknown[] = [];
      do {
        const { status, body } = await refused();
        expect(status).toBe(503);
        messages.push(body.message);
      } while (messages.at(-1) !== AWAY && messages.length <= MAX_THREADS);
      expect(messages.at(-1)).toBe(AWAY);
    }
    expect(await readiness(a)).toBe(200);
    while ((await readiness(a, "?for=state")) !== 503) await Bun.sleep(50);
    const { message } = (await (await fetch(`${a.url}/ready?for=state`)).json()) as { message: string };
    expect(message.match(/PostgreSQL does not respond/g)).toHaveLength(1);
    await server.restart();
    await untilReady(a);
    isAway = false;
    await reading;
    expect(reads.failed).toBe(0);
    expect(reads.served).toBeGreaterThan(10);
    await untilReady(b);
    expect((await callSigned(b, 5, "GET", `/frame/app?app_id=${appId}`)).body.app).toEqual(made.body.app);
  }, 180_000);

  test("a frozen PostgreSQL holds no request for long, and what is sent again is done at most once", async () => {
    const creations = await Promise.all(
      Array.from({ length: CAP }, () => signedRequest(6, "POST", "/frame/app", app)),
    );
    server.freeze();
    const refused = await Promise.all(creations.map((send, n) => send(n % 2 === 0 ? a : b)));
    expect(statuses(refused)).toEqual({ 503: CAP });
    server.thaw();
    await Promise.all([untilReady(a), untilReady(b)]);
    // A thread whose own connections have not noticed yet refuses once more.
    const repeat = async (send: (typeof creations)[number]): Promise<Response> => {
      const response = await send(a);
      return response.status === 503 ? repeat(send) : response;
    };
    const again = await Promise.all(creations.map(repeat));
    const { 200: done = 0, 401: spent = 0 } = statuses(again);
    expect(done + spent).toBe(CAP);
    const apps = (await list(b, 6)).body.apps as unknown[];
    expect(apps.length).toBeLessThanOrEqual(CAP);
    expect(apps.length).toBeGreaterThanOrEqual(done);
  }, 180_000);

  test.skipIf(!IS_LONG)(
    "under random faults of both, their PostgreSQL and the network, everything acknowledged is there, exactly once",
    async () => {
      const { wrong } = await runMixedFaults({
        cluster,
        server,
        fleet,
        random,
        plan: {
          nodes: { kill: 1, stop: 1 },
          server: { kill: 1, restart: 0, freeze: 0, cut: 1, "lost answer": 2 },
          stoppedMs: 500,
          frozenMs: 500,
          cutMs: 500,
          pauseMs: 200,
          endsLeases: true,
        },
        tokens: 100,
        quietMs: 200,
      });
      expect(wrong).toEqual([]);
      useNodes();
    },
    180_000,
  );

  test("console-next check 7: each has the figures of all, also of one that was killed; what ends while PostgreSQL is away is dropped", async () => {
    const [one, two] = fleet.nodes as [FleetNode, FleetNode];
    const stop = async (node: FleetNode) => {
      const { running } = node;
      node.running = undefined;
      node.faults += 1;
      expect(await running?.stop()).toBe(0);
    };
    const figures = async (of: FleetNode, query = "") => {
      const now = Math.floor(Date.now() / 1000);
      const range = `from=${now - 3_600}&to=${now + 60}&series=requests_per_second`;
      const response = await fetch(`${of.running?.url}/v2/svc/history/figures?${range}${query}`);
      return (await response.json()) as { node: string; nodes: string[]; t: number[]; columns: object };
    };
    const rows = async () =>
      (await cluster.database.query("SELECT node_id, step, t FROM svc.node_figures ORDER BY 1, 2, 3")).length;
    // A node hands over its figures once a minute, and at its end.
    for (const node of [one, two]) {
      await stop(node);
      await fleet.start(node);
    }
    useNodes();
    await Promise.all([untilReady(a), untilReady(b)]);
    const ids = [(await figures(one)).node, (await figures(two)).node];
    const shown = async (at: FleetNode, of: string | undefined) => {
      const { nodes, t, columns } = await figures(at, `&node=${of}`);
      expect(nodes.toSorted()).toEqual(ids.toSorted());
      expect([t.length > 0, Object.keys(columns)]).toEqual([true, ["requests_per_second"]]);
    };
    for (const at of [one, two]) for (const of of ids) await shown(at, of);
    await fleet.kill(one);
    await shown(two, ids[0]);
    await fleet.start(one);

    const before = await rows();
    await server.kill();
    await stop(two);
    await server.restart();
    await fleet.start(two);
    useNodes();
    await Promise.all([untilReady(a), untilReady(b)]);
    expect(await rows()).toBe(before);
    await shown(one, ids[1]);
  }, 180_000);

  test("after PostgreSQL was restored from an older copy, earlier requests are refused and both say why", async () => {
    await server.kill();
    const putBack = server.copyFiles();
    await server.restart();
    await Promise.all([untilReady(a), untilReady(b)]);
    const copies = await signedRequest(3, "GET", "/frame/app/list");
    expect((await copies(a)).status).toBe(200);
    // What followed the copy includes a heartbeat of each that the node knows of: the kill may take the response to the last one,
    // and a node that knows of none since the copy cannot tell it from the state before the kill.
    const beats = () => cluster.database.query("SELECT node_id, beat::int FROM svc.nodes ORDER BY node_id");
    const before = await beats();
    const isKnown = ({ beat }: { beat?: unknown }, at: number) =>
      Number(beat) >= Number(before[at]?.beat) + 2;
    while (!(await beats()).every(isKnown)) await Bun.sleep(100);
    await server.kill();
    putBack();
    await server.restart();
    // From the first that reaches the copy on, before a heartbeat has noticed.
    const statuses = new Set<number>();
    for (const node of [a, b]) {
      let status = 0;
      while (status !== 401) {
        ({ status } = await copies(node));
        statuses.add(status);
        await Bun.sleep(20);
      }
      // Another thread logs it.
      await until(() => node.logs().includes("The state may have gone back"));
    }
    expect(statuses).not.toContain(200);
    // A request that was signed in the second of the return is refused, too.
    while ((await list(b)).status !== 200) await Bun.sleep(100);
    expect((await list(a)).status).toBe(200);
  }, 180_000);
});
