import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { IncidentsReport, OperatorIncident } from "../../../../src/checks/incident-report.ts";
import { createIncidents } from "../../../../src/checks/incident-store.ts";
import { createSwitches } from "../../../../src/cluster/switch-store.ts";
import type { BackupsReport, SettingInForce } from "../../../../src/console/operator/reports.ts";
import { openState, statePath } from "../../../../src/db/state/database.ts";
import { taskStateDb } from "../../../../src/db/state/sqlite-state-db.ts";
import type { RecentLine } from "../../../../src/runtime/log/recent-lines.ts";
import { compiledProgram } from "../../../support/compiled-program.ts";
import { createPageKey, operatorHeaders, type PageRequest } from "../../../support/operator-page.ts";
import { type RunningNode, startNode, tempDir } from "../../../support/program.ts";

const PASSWORD = "hidden-upstream-password";
const dir = tempDir();
const dataDir = join(dir.path, "data");
const key = createPageKey();
let node: RunningNode;

beforeAll(async () => {
  mkdirSync(join(dir.path, "backups"));
  node = await startNode({
    command: compiledProgram,
    dataDir,
    args: [
      "--set",
      `backup.dir=${join(dir.path, "backups")}`,
      "--set",
      "http.workers=2",
      "--log-level",
      "trace",
    ],
    env: { SVC_CHAIN_L1_RPC_URL: `http://user:${PASSWORD}@rpc.example/path` },
  });
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

const svc = async (...args: string[]) => {
  const child = Bun.spawn([...compiledProgram, "--data-dir", dataDir, ...args], {
    stdout: "pipe",
    stderr: "pipe",
    env: { PATH: process.env.PATH ?? "", HOME: dir.path },
  });
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, errors };
};
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${node.url}/console/op${path}`, { method: "POST", body: JSON.stringify(body), headers });
const openWith = (code: string) =>
  post("/session", { code, public_key: `0x${Buffer.from(key.publicKey).toString("hex")}` });

/** The session of all tests here, and the code that opened it. */
let session = "";
let usedCode = "";
async function call<T>(request: PageRequest, headers: Record<string, string> = {}): Promise<T> {
  const response = await fetch(`${node.url}${request.path}`, {
    method: request.method ?? "GET",
    headers: { ...operatorHeaders(key, session, request), ...headers },
    ...(request.body === undefined ? {} : { body: request.body }),
  });
  const answer = (await response.json()) as T;
  if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(answer)}`);
  return answer;
}
const read = <T>(what: string) => call<T>({ path: `/console/op/${what}`, op: "console.read" });
const change = (what: string, body: unknown = {}) =>
  call({ method: "POST", path: `/console/op/${what}`, op: `console.${what}`, body: JSON.stringify(body) });

describe("check 34: the operator's page", () => {
  test("is locked without a session, also from 127.0.0.1 and behind a proxy that adds no header", async () => {
    for (const path of ["workers", "series", "config", "log", "backups", "incidents"]) {
      const response = await fetch(`${node.url}/console/op/${path}`);
      expect(response.status).toBe(401);
      expect(response.headers.get("x-error-code")).toBe("operator_locked");
    }
    for (const path of ["backup", "pause", "resume"]) expect((await post(`/${path}`, {})).status).toBe(401);
    // What a proxy on this machine sends is what a visitor on this machine sends.
    using proxy = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => fetch(`${node.url}${new URL(request.url).pathname}`, { method: request.method }),
    });
    expect((await fetch(`${proxy.url.origin}/console/op/config`)).status).toBe(401);
  });

  test("opens by the link of `svc console`, once", async () => {
    const { code, out, errors } = await svc("console", node.url);
    expect(errors).toContain("once, within 60 seconds");
    expect(code).toBe(0);
    // The node is empty, so the link leads to its set-up first.
    const [, origin, secret = ""] = /^(\S+)\/console\/setup#code=(\w+)\n$/.exec(out) ?? [];
    expect(origin).toBe(node.url);
    usedCode = secret;
    const opened = await openWith(secret);
    expect(opened.status).toBe(200);
    session = ((await opened.json()) as { session: { session_id: string } }).session.session_id;
    expect((await openWith(secret)).status).toBe(401);
    expect(await read("workers")).toMatchObject({
      threads: expect.arrayContaining([
        {
          name: "main",
          state: "ok",
          loop_p99_ms: expect.any(Number),
          loop_max_ms: expect.any(Number),
          heap_bytes: expect.any(Number),
          last_fault: null,
        },
        expect.objectContaining({ name: "http_2", state: "ok" }),
        expect.objectContaining({ name: "ingest", state: "ok" }),
      ]),
      disk: { index_bytes: expect.any(Number), state_bytes: expect.any(Number) },
    });
    expect(Object.keys((await read<{ series: object }>("series?step=60&since=3")).series)).toContain(
      "loop_main_ms",
    );
  });

  test("refuses a wrong token, and after ten of them every wrong one for a minute, but not the operator", async () => {
    const statuses: number[] = [];
    for (let at = 0; at < 11; at++)
      statuses.push((await post("/code", {}, { authorization: "Bearer wrong" })).status);
    expect(statuses.slice(0, 9)).toEqual(new Array(9).fill(401));
    expect(statuses.at(-1)).toBe(429);
    // The same address, as behind a proxy.
    expect((await svc("console", node.url)).code).toBe(0);
    // An open session continues.
    await read("workers");
  });

  test("shows no secret of the settings, of the log and of the node, and the source of each setting", async () => {
    const token = readFileSync(join(dataDir, "operator.token"), "utf8").trim();
    const { settings } = await read<{ settings: SettingInForce[] }>("config");
    expect(settings.find(({ key }) => key === "chain.l1_rpc_url")).toMatchObject({
      key: "chain.l1_rpc_url",
      value: "http://***@rpc.example/***",
      source: "SVC_CHAIN_L1_RPC_URL",
    });
    expect(settings.find(({ key }) => key === "console.operator_token")).toMatchObject({
      key: "console.operator_token",
      value: "***",
      source: "file operator.token",
    });
    const { lines } = await read<{ lines: RecentLine[] }>("log?after=0");
    for (const text of [JSON.stringify(settings), JSON.stringify(lines), node.logs()])
      for (const secret of [PASSWORD, token, usedCode]) expect(text).not.toContain(secret);
    expect(statSync(join(dataDir, "operator.token")).mode & 0o777).toBe(0o600);
  });

  test("refuses a foreign Host and a foreign Origin, also with a session", async () => {
    const request = { path: "/console/op/config", op: "console.read" };
    for (const headers of [{ host: "rebound.example" }, { origin: "http://rebound.example" }] as Record<
      string,
      string
    >[])
      await expect(call(request, headers)).rejects.toThrow(/^403/);
    for (const headers of [{ host: "rebound.example" }, { origin: "http://rebound.example" }] as Record<
      string,
      string
    >[])
      expect((await post("/code", {}, { ...headers, authorization: "Bearer x" })).status).toBe(403);
  });

  test("pauses and resumes, which owners see, and counts a signed change once", async () => {
    await change("pause", { what: "deliveries", reason: "the receiver is moving" });
    const paused = {
      name: "deliveries",
      reason: "the receiver is moving",
      paused_by: expect.stringMatching(/^the console of /),
    };
    const switches = async () =>
      ((await (await fetch(`${node.url}/status`)).json()) as { switches: object[] }).switches;
    const deadline = performance.now() + 5_000;
    while ((await switches()).length === 0 && performance.now() < deadline) await Bun.sleep(20);
    expect(await switches()).toEqual([expect.objectContaining(paused)]);
    await expect(change("pause", { what: "signed", reason: "x" })).rejects.toThrow(/^400/);

    const request = {
      method: "POST",
      path: "/console/op/resume",
      op: "console.resume",
      body: '{"what":"sends"}',
    };
    const headers = operatorHeaders(key, session, request);
    const send = () => fetch(`${node.url}${request.path}`, { method: "POST", headers, body: request.body });
    expect((await send()).status).toBe(200);
    expect((await send()).status).toBe(401);
  });

  test("shows incidents, which the operator acknowledges, explains and mutes; strangers see public ones", async () => {
    using db = openState(statePath(dataDir), { mayCreate: false });
    const store = createIncidents(taskStateDb(db));
    const nowSecs = Math.floor(Date.now() / 1000);
    const opening = { nodeId: "another-node", severity: "warning", sentence: "It is so." } as const;
    await store.open({ ...opening, incidentId: "PubXic", checkId: "slow" }, nowSecs);
    await store.open({ ...opening, incidentId: "Private", checkId: "disk_fills_up" }, nowSecs);

    await change("incident", { id: "PubXic", action: "note", note: "The index is on its way." });
    await change("incident", { id: "Private", action: "mute", hours: 72 });
    expect(await svc("incidents", "ack", "PubXic")).toMatchObject({ code: 0, out: "done: PubXic\n" });
    for (const wrong of [
      { id: "PubXic", action: "close" },
      { id: "PubXic", action: "mute", hours: 721 },
      { id: "PubXic", action: "note", note: "a\u0007" },
    ])
      await expect(change("incident", wrong)).rejects.toThrow(/^400/);
    await expect(change("incident", { id: "Qnknown", action: "ack" })).rejects.toThrow(/^404/);
    expect(await svc("incidents", "note", "Qnknown", "x")).toMatchObject({ code: 1 });

    const { incidents } = await read<IncidentsReport<OperatorIncident>>("incidents");
    const found = (id: string) => incidents.find((incident) => incident.id === id);
    expect(found("Private")).toMatchObject({
      muted_until: expect.any(Number),
      state: "open",
      is_public: false,
    });
    expect(found("PubXic")).toMatchObject({
      state: "acknowledged",
      acked_by: expect.stringContaining("@"),
      note: "The index is on its way.",
    });
    const open = (await (await fetch(`${node.url}/status/incidents`)).json()) as IncidentsReport;
    expect(open.incidents.map(({ id }) => id)).toEqual(["PubXic"]);
    expect(Object.keys(open.incidents[0] ?? {})).not.toContain("acked_by");
    const feed = await fetch(`${node.url}/console/status.atom`);
    expect(feed.headers.get("content-type")).toBe("application/atom+xml; charset=utf-8");
    expect(await feed.text()).toContain("<title>Slow responses: acknowledged</title>");
    const actions = db.sqlite
      .query("SELECT action, record_id FROM audit_entries WHERE owner_fid = 0 ORDER BY seq")
      .all();
    expect(actions).toEqual([
      { action: "incident.note", record_id: "PubXic" },
      { action: "incident.mute", record_id: "Private" },
      { action: "incident.ack", record_id: "PubXic" },
    ]);
  });

  test("makes a backup of the state, without the token, that restores", async () => {
    await change("backup");
    let report = await read<BackupsReport>("backups");
    const deadline = performance.now() + 20_000;
    while ((report.under_way || report.backups.length === 0) && performance.now() < deadline) {
      await Bun.sleep(50);
      report = await read<BackupsReport>("backups");
    }
    expect(report).toMatchObject({ unavailable: null, backups: [{ kind: "state", ok: true, reason: null }] });
    const backup = join(dir.path, "backups", report.backups[0]?.file ?? "");
    expect(readdirSync(backup).toSorted()).toEqual(["manifest.json", "state.db.zst"]);
    const restored = join(dir.path, "restored");
    const { code, errors } = await svc("--data-dir", restored, "restore", "--from", backup);
    expect({ code, errors: code === 0 ? "" : errors }).toEqual({ code: 0, errors: "" });
    using db = openState(statePath(restored), { mayCreate: false });
    expect(await createSwitches(taskStateDb(db)).list()).toEqual([
      expect.objectContaining({ name: "deliveries" }),
    ]);
  });

  test("console-next 7: reads a backup back, and lets the session download it once", async () => {
    const [backup] = (await read<BackupsReport>("backups")).backups;
    const file = backup?.file ?? "";
    const about = (action: string, name = file) =>
      call<{ path: string }>({
        method: "POST",
        path: "/console/op/backup",
        op: "console.backup",
        body: JSON.stringify({ action, file: name }),
      });
    for (const name of ["20200101T000000Z", "../../../../etc/passwd", "..", ""])
      await expect(about("download", name)).rejects.toThrow(/^(400|404)/);
    expect((await post("/backup", { action: "download", file })).status).toBe(401);
    const { path } = await about("download");
    // As many characters as the secret has, and more bytes.
    for (const ticket of ["0", "0".repeat(64), encodeURIComponent("é".repeat(64))])
      expect((await fetch(`${node.url}/console/op/backup/${ticket}`)).status).toBe(404);
    const taken = await fetch(node.url + path);
    expect(taken.headers.get("content-disposition")).toBe(`attachment; filename="${file}.tar"`);
    await Bun.write(join(dir.path, "backup.tar"), taken);
    expect((await fetch(node.url + path)).status).toBe(404);
    const unpacked = Bun.spawnSync(["tar", "xf", join(dir.path, "backup.tar"), "-C", dir.path]);
    expect(unpacked.exitCode).toBe(0);
    const bytesOf = (name: string) => readFileSync(join(name, "state.db.zst"));
    const stored = join(dir.path, "backups", file);
    expect(bytesOf(join(dir.path, file)).equals(bytesOf(stored))).toBe(true);

    const checked = async () => {
      await about("check");
      for (;;) {
        const report = await read<BackupsReport>("backups");
        if (report.checking === null) return report.backups[0];
        await Bun.sleep(50);
      }
    };
    expect(await checked()).toMatchObject({ check_fault: null, checked_at: expect.any(Number) });
    const damaged = bytesOf(stored);
    damaged[damaged.length - 9] = (damaged[damaged.length - 9] ?? 0) ^ 1;
    writeFileSync(join(stored, "state.db.zst"), damaged);
    expect((await checked())?.check_fault).toContain("is not the file that was written");
  });

  test("ends a session", async () => {
    await call({ method: "DELETE", path: "/console/op/session", op: "console.end" });
    await expect(read("workers")).rejects.toThrow(/^401/);
  });
});
