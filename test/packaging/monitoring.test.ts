import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { grafanaDashboard, metricsIn } from "../../packaging/monitoring/dashboard.ts";
import { panelTable } from "../../packaging/monitoring/panel-table.ts";
import { rows } from "../../packaging/monitoring/panels.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { importSignerOfPerson, postAsPerson } from "../support/demo-calls.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { documentExample, documentText, ROOT } from "../support/documents.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";

const rules = await Bun.file(join(ROOT, "packaging/monitoring/rules.yml")).text();
interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}
const alerts = (Bun.YAML.parse(rules) as Rules).groups.flatMap((group) => group.rules);

/** Metrics of a node whose state is in PostgreSQL; test/node/postgres has that node. */
const OF_POSTGRES = ["svc_state_up", "svc_state_rollbacks_total", "svc_state_clock_offset_seconds"];
/** Has a sample only while the network does not take a write. */
const WHILE_QUEUED = ["svc_writes_oldest_queued_timestamp_seconds"];
const OF_FOLLOWER = /^svc_upstream_/;

const dir = tempDir();
let node: RunningNode;
let follower: RunningNode;

beforeAll(async () => {
  node = await startDemoNode({ dataDir: join(dir.path, "demo") });
  follower = await startNode({
    command: compiledProgram,
    dataDir: join(dir.path, "follower"),
    args: ["--set", `upstream.url=http://${node.hubAddress}`],
  });
  await Promise.all([makeBusy(), untilMetric(follower, "svc_upstream_lag_seconds")]);
}, 60_000);
afterAll(async () => {
  await Promise.all([node.stop(), follower.stop()]);
  dir[Symbol.dispose]();
});

/** A bit of everything: reads, an app with a push, a webhook with deliveries, a write by a managed signer. */
async function makeBusy(): Promise<void> {
  const post = async (path: string, value: unknown, headers: Record<string, string> = {}) => {
    const body = JSON.stringify(value);
    const response = await fetch(`${node.url}${path}`, { method: "POST", headers, body });
    return (await response.json()) as Record<string, never>;
  };
  await fetch(`${node.url}/v2/svc/user?fid=3`);
  const { app } = (await postAsPerson(node, 3, "/frame/app", {
    name: "Bread club",
    app_url: "https://bread.demo.example/",
  })) as { app: { app_id: string; send_secrets: { value: string }[] } };
  await post("/console/demo/add-app", { app_id: app.app_id, people: 5 });
  const notification = { title: "Fresh bread", body: "It is hot", target_url: "https://bread.demo.example/" };
  const secret = { "x-api-key": app.send_secrets[0]?.value ?? "" };
  await post(`/v2/svc/frame/notifications/${app.app_id}`, { notification, target_fids: [] }, secret);

  const receiver = (await post("/console/demo/receiver", { fid: 4 })) as unknown as { url: string };
  const hook = {
    name: "all",
    url: receiver.url,
    subscription: { "cast.created": {}, "reaction.created": {} },
  };
  await postAsPerson(node, 4, "/webhook?owner_fid=4", hook);

  const signer_uuid = await importSignerOfPerson(node, { user: 7, owner: 3 });
  const { secret: key } = await postAsPerson(node, 3, "/api_key", { name: "bot", scopes: ["write"] });
  const headers = { "x-api-key": `${key}`, "content-type": "application/json" };
  await post("/v2/farcaster/cast", { signer_uuid, text: "busy" }, headers);
  await untilMetric(node, "svc_webhook_attempts_total");
}

const metricsOf = async (of: RunningNode) => await (await fetch(`${of.url}/metrics`)).text();
const hasSample = (page: string, metric: string) => new RegExp(`^${metric}(\\{|_bucket| )`, "m").test(page);

async function untilMetric(of: RunningNode, metric: string): Promise<void> {
  while (!hasSample(await metricsOf(of), metric)) await Bun.sleep(50);
}

test("every metric of the dashboard and the alerts has samples on a busy node", async () => {
  const pages = { busy: await metricsOf(node), following: await metricsOf(follower) };
  const exprs = [...rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries)), ...alerts];
  const named = new Set(exprs.flatMap(({ expr }) => metricsIn(expr)));
  expect(named.size).toBeGreaterThan(30);
  const missing = [...named]
    .map((name) => name.replace(/_bucket$/, ""))
    .filter((name) => ![...OF_POSTGRES, ...WHILE_QUEUED].includes(name))
    .filter((name) => !hasSample(OF_FOLLOWER.test(name) ? pages.following : pages.busy, name));
  expect(missing).toEqual([]);
});

test("alerts select labels that the node gives", async () => {
  const page = await metricsOf(node);
  for (const { expr } of alerts)
    for (const [, label = ""] of expr.matchAll(/\{(\w+)=/g))
      if (label !== "job") expect(page).toContain(`${label}="`);
});

describe("what is made from the panels is current", () => {
  test("the dashboard", async () => {
    const file = await Bun.file(join(ROOT, "packaging/monitoring/grafana-dashboard.json")).json();
    expect(file).toEqual(grafanaDashboard());
  });

  test("the table of panels and the rules in docs/operate.md", () => {
    expect(documentText("docs/operate.md")).toContain(`<!-- panels -->\n\n${panelTable()}\n<!-- /panels -->`);
    expect(`${documentExample("alerts")}\n`).toBe(rules);
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

test.skipIf(Bun.which("promtool") === null)("Prometheus accepts its files", () => {
  const check = ["promtool", "check", "rules", "packaging/monitoring/rules.yml"];
  expect(Bun.spawnSync(check, { cwd: ROOT }).exitCode).toBe(0);
});

test("the composition mounts files that exist, and gives the node settings that it knows", async () => {
  const text = await Bun.file(join(ROOT, "compose.yaml")).text();
  const { services, volumes } = Bun.YAML.parse(text) as {
    services: Record<string, { volumes?: string[]; environment?: Record<string, string> }>;
    volumes: Record<string, unknown>;
  };
  for (const { volumes: mounts = [] } of Object.values(services))
    for (const [source = ""] of mounts.map((mount) => mount.split(":"))) {
      if (source === "./snapchain") continue;
      if (source.startsWith("./")) expect(await Bun.file(join(ROOT, source)).exists()).toBe(true);
      else expect(Object.keys(volumes)).toContain(source);
    }
  const { SVC_UPSTREAM_URL: _, ...environment } = services.svc?.environment ?? {};
  const checked = Bun.spawnSync([...compiledProgram, "config", "check"], { env: environment, cwd: dir.path });
  expect(checked.exitCode).toBe(0);
});
