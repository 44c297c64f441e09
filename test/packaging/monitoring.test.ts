import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { alerts } from "../../packaging/monitoring/alerts.ts";
import { grafanaDashboard, metricsIn } from "../../packaging/monitoring/dashboard.ts";
import { rows } from "../../packaging/monitoring/panels.ts";
import { alertName, rulesFile } from "../../packaging/monitoring/rules.ts";
import { alertTable, panelTable } from "../../packaging/monitoring/tables.ts";
import { createUpstreamClient } from "../../src/upstream/calls/client.ts";
import { connectUpstream } from "../../src/upstream/calls/connection.ts";
import { DEFAULT_TIMINGS } from "../../src/upstream/timings.ts";
import { type BusyNode, makeBusy, metricsOf, untilPositive, valuesOf } from "../support/busy-node.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { composedSettings } from "../support/compositions.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { documentText, ROOT } from "../support/documents.ts";
import { until } from "../support/manual-time.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { type RunningPrometheus, startPrometheus } from "../support/prometheus.ts";

/** Metrics of a node whose state is in PostgreSQL; test/node/postgres has that node. */
const OF_POSTGRES = [
  "svc_state_up",
  "svc_state_rollbacks_total",
  "svc_state_clock_offset_seconds",
  "svc_node_fenced",
];
/** Have samples only while the network does not take a write, and where validators sign the state that is followed. */
const NOT_HERE = ["svc_writes_oldest_queued_timestamp_seconds", "svc_trust_proof_lag_blocks"];
/** Panels that show a time since something that has not happened here. */
const OF_AN_OLDER_NODE = /^Age of the newest backup|svc_event_outbox_oldest/;
const OF_FOLLOWER = /^svc_(upstream|trust)_/;

const dir = tempDir();
let node: RunningNode;
let follower: RunningNode;
let busy: BusyNode;
/** The metrics of a node that has done nothing yet. */
let beforeWork: string;

beforeAll(async () => {
  node = await startDemoNode({
    dataDir: join(dir.path, "demo"),
    args: [
      "backup.at=03:15",
      `backup.dir=${join(dir.path, "backups")}`,
      "index.max_bytes=1000000000",
    ].flatMap((setting) => ["--set", setting]),
  });
  beforeWork = await metricsOf(node);
  const dataDir = join(dir.path, "follower");
  follower = await startNode({
    command: compiledProgram,
    dataDir,
    // What it follows makes no difference here, and a fill takes time.
    args: ["--set", "upstream.fids=3"],
    env: await composedSettings("compose.yaml", "svc", {
      "http://snapchain:3383": `http://${node.hubAddress}`,
      "/data": dataDir,
    }),
  });
  [busy] = await Promise.all([makeBusy(node), untilPositive(follower, "svc_upstream_lag_seconds")]);
}, 180_000);
afterAll(async () => {
  await Promise.all([node.stop(), follower.stop()]);
  dir[Symbol.dispose]();
});

async function callHub(): Promise<void> {
  const connection = connectUpstream(`http://${node.hubAddress}`);
  await createUpstreamClient(connection, DEFAULT_TIMINGS, new AbortController().signal).info();
  connection.close();
}

test("every metric of the dashboard and the alerts has samples on a busy node", async () => {
  const pages = { busy: await metricsOf(node), following: await metricsOf(follower) };
  const exprs = [...rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries)), ...alerts];
  const named = new Set(exprs.flatMap(({ expr }) => metricsIn(expr)));
  expect(named.size).toBeGreaterThan(30);
  const missing = [...named]
    .map((name) => name.replace(/_bucket$/, ""))
    .filter((name) => ![...OF_POSTGRES, ...NOT_HERE].includes(name))
    .filter((name) => valuesOf(OF_FOLLOWER.test(name) ? pages.following : pages.busy, name).length === 0);
  expect(missing).toEqual([]);
});

test("a counter that an alert watches for its first event exists before it, with 0", () => {
  const watched = alerts.flatMap(({ expr }) =>
    [...expr.matchAll(/increase\(((svc_\w+)(\{(.*?)\})?)\[/g)]
      // These count what a series begins with, too.
      .filter(([, series]) => !expr.includes(`${series} unless ${series} offset`)),
  );
  expect(watched.length).toBeGreaterThan(8);
  for (const [, series = "", metric = "", , labels = ""] of watched) {
    if (OF_POSTGRES.includes(metric)) continue;
    const samples = beforeWork.split("\n").filter((line) => line.startsWith(metric) && line.includes(labels));
    expect([series, samples.length > 0, samples.filter((line) => !line.endsWith(" 0"))]).toEqual([
      series,
      true,
      [],
    ]);
  }
});

test("the healthcheck of the image finds the node of the composition ready", async () => {
  await until(async () => (await fetch(`${follower.url}/ready`)).ok);
  const check = Bun.spawnSync([...compiledProgram, "healthcheck", follower.url], { cwd: dir.path });
  expect([check.exitCode, `${check.stdout}${check.stderr}`]).toEqual([0, '200 {"status":"ready"}\n']);
});

describe("what is made from the panels and alerts is current", () => {
  test("the dashboard", async () => {
    const file = await Bun.file(join(ROOT, "packaging/monitoring/grafana-dashboard.json")).json();
    expect(file).toEqual(grafanaDashboard());
  });

  test("the panels of the dashboard fill whole columns of its 24, side by side", () => {
    const { panels } = grafanaDashboard() as { panels: { gridPos: { x: number; y: number; w: number } }[] };
    const lines = Map.groupBy(panels, ({ gridPos }) => gridPos.y);
    for (const line of lines.values()) {
      let end = 0;
      for (const { gridPos } of line) {
        expect([gridPos.x, Number.isInteger(gridPos.w)]).toEqual([end, true]);
        end += gridPos.w;
      }
      expect(end).toBe(24);
    }
  });

  test("the rules, and the tables of panels and alerts in docs/operate/watch.md", async () => {
    expect(await Bun.file(join(ROOT, "packaging/monitoring/rules.yml")).text()).toBe(rulesFile());
    const operate = documentText("docs/operate/watch.md");
    expect(operate).toContain(`<!-- panels -->\n\n${panelTable()}\n<!-- /panels -->`);
    expect(operate).toContain(`<!-- alerts -->\n\n${alertTable()}\n<!-- /alerts -->`);
  });

  test("a dashboard for another name of the service asks for its metrics, and only of the chosen nodes", () => {
    const text = JSON.stringify(grafanaDashboard("bread"));
    expect(text).not.toContain("svc_");
    const { panels } = grafanaDashboard("bread") as { panels: { targets?: { expr: string }[] }[] };
    for (const { expr } of panels.flatMap(({ targets = [] }) => targets))
      for (const [, after = ""] of expr.matchAll(/bread_\w+(.{0,60})/g))
        expect(after).toContain("instance=~");
  });
});

describe.skipIf(Bun.which("prometheus") === null)(
  "Prometheus with its files, over a busy node and one that follows it",
  () => {
    let prometheus: RunningPrometheus;
    beforeAll(async () => {
      prometheus = await startPrometheus(dir.path, { busy: node, following: follower });
      // A rate needs two samples of a series, and a difference between them.
      await prometheus.scrapes(2);
      await Promise.all([busy.publish(), fetch(`${node.url}/v2/svc/user?fid=3`), callHub()]);
      await prometheus.scrapes(2);
    }, 180_000);
    afterAll(() => prometheus.stop());

    /** Those whose expression has no data after several scrapes: a scrape that a busy machine delays takes all series with it. */
    async function withoutData<T>(asked: readonly T[], exprOf: (one: T) => string): Promise<T[]> {
      let empty = [...asked];
      for (let attempts = 0; empty.length > 0 && attempts < 5; attempts += 1) {
        if (attempts > 0) await prometheus.scrapes(1);
        const found = await Promise.all(empty.map((one) => prometheus.hasData(exprOf(one))));
        empty = empty.filter((_, at) => !found[at]);
      }
      return empty;
    }

    test("has data for every panel of the dashboard", async () => {
      const { panels } = grafanaDashboard() as { panels: { title: string; targets?: { expr: string }[] }[] };
      const asked = panels.flatMap(({ title, targets = [] }) =>
        targets.map(({ expr }) => [title, expr] as const),
      );
      const filled = asked
        .map(([title, expr]) => ({
          title,
          expr: expr.replaceAll("$__rate_interval", "1m").replaceAll("$instance", ".*"),
        }))
        .filter(({ title, expr }) => !OF_AN_OLDER_NODE.test(`${title}: ${expr}`));
      expect(await withoutData(filled, ({ expr }) => expr)).toEqual([]);
    });

    test("has a query for each question of examples/dashboard-queries", async () => {
      const text = await Bun.file(join(ROOT, "examples/dashboard-queries/README.md")).text();
      const queries = [...text.matchAll(/^```promql\n([\s\S]*?)^```/gm)].map(([, query = ""]) =>
        query.trim(),
      );
      expect(queries.length).toBeGreaterThan(15);
      expect(await withoutData(queries, (query) => query)).toEqual([]);
    });

    test("evaluates every rule, and no alert fires", async () => {
      const rules = await prometheus.rules();
      expect(rules.map(({ name }) => name)).toEqual(alerts.map((alert) => alertName(alert)));
      expect(rules.filter(({ health, state }) => health !== "ok" || state === "firing")).toEqual([]);
    });
  },
);
