import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { applyOf } from "../../../../src/config/settings/changeable.ts";
import { settings } from "../../../../src/config/settings/settings.ts";
import type {
  BackupsReport,
  SettingsChanged,
  SettingsReport,
} from "../../../../src/console/operator/reports.ts";
import { CREDENTIALS, startBucketServer } from "../../../support/bucket-server.ts";
import { until as untilWithin } from "../../../support/cluster.ts";
import { compiledProgram } from "../../../support/compiled-program.ts";
import { until } from "../../../support/manual-time.ts";
import { createPageKey, operatorHeaders, type PageRequest } from "../../../support/operator-page.ts";
import { type RunningNode, startNode, tempDir } from "../../../support/program.ts";
import { freePort } from "../../../support/tls-proxies.ts";
import { type Bucket, nowSettings, type Observation, SEEN_IN_PARTS } from "./now-settings.ts";

/** A store of backups that remembers who asked. */
function startBucket(): Bucket & Disposable {
  const server = startBucketServer();
  let authorization = "";
  server.fault = (request) => {
    authorization = request.headers.get("authorization") ?? "";
    return undefined;
  };
  return {
    url: server.url,
    requests: server.requests,
    authorization: () => authorization,
    [Symbol.dispose]: () => server[Symbol.dispose](),
  };
}

const buckets = [startBucket(), startBucket()] as const;
const dir = tempDir();
const dataDir = join(dir.path, "data");
const file = join(dataDir, "settings.toml");
const settingsFile = join(dir.path, "svc.toml");
const key = createPageKey();
let node: RunningNode;
let session = "";

const command = (args: readonly string[]) =>
  Bun.spawnSync([...compiledProgram, "--data-dir", dataDir, ...args], {
    env: { PATH: process.env.PATH ?? "", HOME: dir.path },
  });
const send = (request: PageRequest) =>
  fetch(`${node.url}${request.path}`, {
    method: request.method ?? "GET",
    headers: operatorHeaders(key, session, request),
    ...(request.body === undefined ? {} : { body: request.body }),
  });
const post = (what: string, body: object) =>
  send({ method: "POST", path: `/console/op/${what}`, op: `console.${what}`, body: JSON.stringify(body) });
const read = async <T>(what: string) =>
  (await (await send({ path: `/console/op/${what}`, op: "console.read" })).json()) as T;
const change = async (values: object) => {
  const response = await post("setting", { values });
  return { status: response.status, body: (await response.json()) as SettingsChanged & { message?: string } };
};
const settingOf = async (name: string) =>
  (await read<SettingsReport>("config")).settings.find((setting) => setting.key === name);
/** Responses by new connections, so that both workers take some. */
const responses = (path: string, headers: Record<string, string> = {}) =>
  Promise.all(
    Array.from({ length: 24 }, () =>
      fetch(`${node.url}${path}`, { headers: { ...headers, connection: "close" } }),
    ),
  );
const open = async () => {
  const link = command(["console", node.url]).stdout.toString();
  const code = /#code=(\w+)/.exec(link)?.[1];
  const opened = await fetch(`${node.url}/console/op/session`, {
    method: "POST",
    body: JSON.stringify({ code, public_key: `0x${Buffer.from(key.publicKey).toString("hex")}` }),
  });
  session = ((await opened.json()) as { session: { session_id: string } }).session.session_id;
};

beforeAll(async () => {
  mkdirSync(join(dir.path, "backups"));
  writeFileSync(
    settingsFile,
    `[backup]\naccess_key_id = "${CREDENTIALS.accessKeyId}"\nsecret_access_key = "${CREDENTIALS.secretAccessKey}"\n` +
      '[stream]\nmax_connections = 500\n[net]\nallow_http = false\nallow_cidrs = ["127.0.0.0/8"]\n',
  );
  node = await startNode({
    command: compiledProgram,
    dataDir,
    demo: true,
    // A port that stays the same over a restart.
    args: [
      ...["--config", settingsFile, "--port", String(await freePort())],
      ...["--set", "http.workers=2", "--set", "trending.window_hours=24"],
    ],
  });
  await open();
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
  for (const bucket of buckets) bucket[Symbol.dispose]();
  dir[Symbol.dispose]();
});

const USER = "/v2/svc/user?fid=3";

test("check 39: changed settings are in force on every worker at once, in a private file, and can be reverted", async () => {
  expect((await change({ "http.anonymous": false })).body).toEqual({
    applied: ["http.anonymous"],
    at_start: [],
    late: [],
  });
  for (const { status } of await responses(USER)) expect(status).toBe(401);
  expect(readFileSync(file, "utf8")).toContain("[http]\nanonymous = false\n");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await settingOf("http.anonymous")).toMatchObject({ value: false, source: "console", set: false });
  await change({ "http.anonymous": null });
  for (const { status } of await responses(USER)) expect(status).toBe(200);
  expect(await settingOf("http.anonymous")).toMatchObject({ value: true, source: "default" });
  expect(readFileSync(file, "utf8")).not.toContain("anonymous");

  await change({ "http.anonymous_units_per_minute": 5_000, "http.cors_origins": ["https://app.example"] });
  for (const { headers } of await responses(USER, { origin: "https://other.example" })) {
    expect(headers.get("ratelimit-policy")).toBe('"anonymous";q=5000;w=60');
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect(headers.get("vary")).toContain("origin");
  }
  for (const { headers } of await responses(USER, { origin: "https://app.example" }))
    expect(headers.get("access-control-allow-origin")).toBe("https://app.example");

  await change({ "console.images": "off", "log.level": "trace" });
  for (const response of await responses("/console", { accept: "text/html" }))
    expect(await response.text()).toContain("&quot;images&quot;:&quot;off&quot;");
  await fetch(`${node.url}/v2/svc/user?fid=4`);
  await until(() => node.logs().includes('"msg":"Request handled"'));
});

test("check 39: threads other than HTTP workers take theirs: streams, backups, checks, notices, history", async () => {
  const backups = join(dir.path, "backups");
  await change({
    "stream.max_connections": 7,
    "backup.dir": backups,
    "backup.at": "03:15",
    "notify.push_hosts": [],
    "checks.off": ["disk_fills_up"],
    "history.max_bytes": 9_000_000,
  });
  const status = (await (await fetch(`${node.url}/status`)).json()) as {
    stream: { max_connections: number };
    history: { max_bytes: number };
  };
  expect(status).toMatchObject({ stream: { max_connections: 7 }, history: { max_bytes: 9_000_000 } });
  expect(await settingOf("stream.max_connections")).toMatchObject({ source: "console", set: 7 });
  expect(await read<BackupsReport>("backups")).toMatchObject({
    unavailable: null,
    downloads: true,
    next_at: expect.any(Number),
  });
  expect(await read<{ push: boolean }>("notices")).toMatchObject({ push: false });
  const metrics = await (await fetch(`${node.url}/metrics`)).text();
  expect(metrics).not.toContain('svc_check_open{check="disk_fills_up"}');
  // Back to the settings file.
  await change({ "stream.max_connections": null, "backup.dir": null, "backup.at": null });
  const source = `${settingsFile}, line 5`;
  expect(await settingOf("stream.max_connections")).toMatchObject({ value: 500, source });
  expect(await read<BackupsReport>("backups")).toMatchObject({ next_at: null });
});

test("check 39: what may not be changed here, is not valid, or is set by a flag, is refused and not written", async () => {
  const before = readFileSync(file, "utf8");
  const refused: readonly (readonly [values: object, status: number, message: string])[] = [
    [{ "net.allow_http": true }, 400, "net.allow_http is not changed here: set it in the settings file"],
    [{ "console.operator_token": "x".repeat(40) }, 400, "is not changed here"],
    [{ "upstream.password": "secret" }, 400, "is not changed here"],
    [{ "upstream.fid_file": "/etc/passwd" }, 400, "line 1 has something that is not an fid"],
    [{ "data.dir": "/tmp" }, 400, "is not changed here"],
    [{ "http.nothing": 1 }, 400, "http.nothing is not a setting"],
    [{ "http.anonymous": "no" }, 400, "http.anonymous must be true or false"],
    [{ "http.cors_origins": [null] }, 400, "http.cors_origins must be"],
    [{ "backup.at": "04:00" }, 400, "backup.at must not be set without backup.dir or backup.url"],
    // One that is refused takes the others with it.
    [{ "apps.max_apps_per_owner": 3, "protocol.network": "testnet" }, 400, "protocol.network"],
    [{ "trending.window_hours": 48 }, 409, "trending.window_hours is set by --set, which counts more"],
    [{}, 400, ""],
  ];
  for (const [values, status, message] of refused) {
    const { status: got, body } = await change(values);
    expect([values, got]).toEqual([values, status]);
    expect(body.message).toContain(message);
  }
  expect(readFileSync(file, "utf8")).toBe(before);
  expect(await settingOf("trending.window_hours")).toMatchObject({ apply: "locked" });
  expect(await settingOf("net.allow_http")).toMatchObject({ apply: "file" });
  const unsigned = { method: "POST", body: JSON.stringify({ values: { "http.anonymous": false } }) };
  expect((await fetch(`${node.url}/console/op/setting`, unsigned)).status).toBe(401);
  expect((await fetch(`${node.url}/console/op/restart`, { ...unsigned, body: "{}" })).status).toBe(401);
});

test("check 39: each setting that takes effect at once is seen to be in force on the node, or in the part that has it", async () => {
  const keys = settings.filter((setting) => applyOf(setting) === "now").map(({ key }) => key);
  const set = (await read<SettingsReport>("config")).settings.filter((setting) => setting.set !== undefined);
  await change(Object.fromEntries(set.map((setting) => [setting.key, null])));
  const table = nowSettings({
    url: node.url,
    read,
    backups: join(dir.path, "backups"),
    buckets,
    logs: () => node.logs(),
  });
  expect([...Object.keys(table), ...SEEN_IN_PARTS].toSorted()).toEqual(keys.toSorted());
  const isSeen = async ({ sees, is }: Observation) => Bun.deepEquals(await sees(), is);
  for (const [key, one] of Object.entries(table)) {
    const { value, among = {} } = one;
    if (Object.keys(among).length > 0) await change(among);
    const before = await one.sees();
    if ("was" in one) expect([key, before]).toEqual([key, one.was]);
    else expect([key, before]).not.toEqual([key, one.is]);
    expect([key, await change({ [key]: value })]).toMatchObject([
      key,
      { body: { applied: [key], late: [] } },
    ]);
    await untilWithin(() => isSeen(one), `${key} is in force`, 40_000);
    await change({ [key]: null, ...Object.fromEntries(Object.keys(among).map((other) => [other, null])) });
  }
}, 180_000);

test("check 39: changes are in the audit log, and what waits for a start is in force after a restart from the page", async () => {
  const { body } = await change({ "index.max_bytes": 50_000_000_000, "send.send_timeout_secs": 7 });
  expect(body).toEqual({ applied: ["send.send_timeout_secs"], at_start: ["index.max_bytes"], late: [] });
  expect(await settingOf("index.max_bytes")).toMatchObject({ value: 0, next: 50_000_000_000 });
  expect((await post("restart", {})).status).toBe(200);
  const starts = () => node.logs().split('"msg":"Read the settings"').length;
  const before = starts();
  await until(() => starts() > before);
  await until(async () => (await fetch(`${node.url}/ready`).catch(() => undefined))?.status === 200);
  // The sessions of the page ended with the run.
  expect((await post("setting", { values: { "http.anonymous": null } })).status).toBe(401);
  await open();
  expect(await settingOf("index.max_bytes")).toMatchObject({ value: 50_000_000_000, source: "console" });
  expect((await settingOf("index.max_bytes"))?.next).toBeUndefined();
  using state = new Database(join(dataDir, "state.db"), { readonly: true });
  const done = state
    .query<{ action: string; record_id: string }, []>(
      "SELECT action, record_id FROM audit_entries ORDER BY seq",
    )
    .all();
  expect(done.slice(0, 2)).toEqual([
    { action: "setting.change", record_id: "http.anonymous" },
    { action: "setting.change", record_id: "http.anonymous" },
  ]);
  expect(done.at(-1)).toMatchObject({ action: "node.restart" });
});

test("what prevents a start from the page is reverted at that start: the log and the page say so, what was in force stays", async () => {
  const started = () => node.logs().split('"msg":"Read the settings"').length;
  await change({ "http.anonymous_units_per_minute": 4_000, "index.max_bytes": 60_000_000_000 });
  // An address of documentation, which no machine has.
  await change({ "http.host": "203.0.113.5" });
  const before = started();
  expect((await post("restart", {})).status).toBe(200);
  await until(() => started() >= before + 2);
  await until(async () => (await fetch(`${node.url}/ready`).catch(() => undefined))?.status === 200);
  await open();
  const report = await read<SettingsReport>("config");
  expect(report.refused).toEqual({
    keys: ["http.host", "index.max_bytes"],
    reason: expect.stringContaining("cannot listen on 203.0.113.5"),
    file: join(dataDir, "settings.refused.toml"),
  });
  expect(await settingOf("http.host")).toMatchObject({ source: "default" });
  expect(await settingOf("http.anonymous_units_per_minute")).toMatchObject({
    value: 4_000,
    source: "console",
  });
  // That of the last start.
  expect(await settingOf("index.max_bytes")).toMatchObject({ value: 50_000_000_000, source: "console" });
  expect(readFileSync(report.refused?.file ?? "", "utf8")).toContain("203.0.113.5");
  expect(readFileSync(file, "utf8")).not.toContain("203.0.113.5");
  expect(node.logs()).toContain("The node runs without the last changes of the operator's page");
  // The next start knows nothing of it.
  await change({ "index.max_bytes": 55_000_000_000 });
  expect((await post("restart", {})).status).toBe(200);
  await until(() => started() >= before + 3);
  await until(async () => (await fetch(`${node.url}/ready`).catch(() => undefined))?.status === 200);
  await open();
  expect(await read<SettingsReport>("config")).toMatchObject({ refused: null });
  expect(await settingOf("index.max_bytes")).toMatchObject({ value: 55_000_000_000 });
});

test("a file of the page that is not valid does not prevent a start: it is moved, the log and the page say so, and what is valid stays", async () => {
  const started = () => node.logs().split('"msg":"Read the settings"').length;
  await change({ "http.anonymous_units_per_minute": 4_000 });
  const edited = `${readFileSync(file, "utf8")}\n[future]\na = 1\n`;
  writeFileSync(file, edited);
  const before = started();
  expect((await post("restart", {})).status).toBe(200);
  await until(() => started() > before);
  await until(async () => (await fetch(`${node.url}/ready`).catch(() => undefined))?.status === 200);
  await open();
  const { refused } = await read<SettingsReport>("config");
  expect(refused).toMatchObject({
    keys: ["future.a"],
    reason: expect.stringContaining("future: is not a section"),
  });
  expect(readFileSync(refused?.file ?? "", "utf8")).toBe(edited);
  expect(node.logs()).toContain("The node runs without the last changes of the operator's page");
  const kept = await settingOf("http.anonymous_units_per_minute");
  expect(kept).toMatchObject({ value: 4_000, source: "console" });
});

test("a start that fails with the settings of the last one, too, ends with its own reason, and nothing is moved", () => {
  const other = join(dir.path, "other");
  mkdirSync(other, { mode: 0o700 });
  writeFileSync(join(other, "settings.toml"), "[index]\nmax_bytes = 70000000000\n", { mode: 0o600 });
  const { exitCode, stderr } = Bun.spawnSync(
    [
      ...compiledProgram,
      "--data-dir",
      other,
      "--set",
      "hub.port=0",
      "--set",
      "http.host=203.0.113.5",
      "serve",
    ],
    { env: { PATH: process.env.PATH ?? "", HOME: dir.path } },
  );
  expect(exitCode).not.toBe(0);
  expect(stderr.toString()).toContain("cannot listen on 203.0.113.5");
  expect(readFileSync(join(other, "settings.toml"), "utf8")).toContain("70000000000");
});
