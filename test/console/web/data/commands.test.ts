import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProgram } from "../../../../src/cli/program.ts";
import type { Route } from "../../../../src/console/web/data/call.ts";
import { commandOf, operationsWithCommand } from "../../../../src/console/web/data/commands.ts";

interface Sent {
  readonly route: string;
  /** Of query and body; text of what is in a query. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const UUID = "3f0e7c1a-52f4-4d4e-8a5b-1d2c3b4a5e6f";

/** What the commands sent. */
const sent: Sent[] = [];
let tried: Route | undefined;
const isTried = (route: Route) => tried === route;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    const text = await request.text();
    const fields = { ...Object.fromEntries(searchParams), ...(text === "" ? {} : JSON.parse(text)) };
    sent.push({ route: `${request.method} ${pathname.replace("/v2/svc", "")}`, fields });
    // `signer delete` looks its signer up first.
    if (sent.at(-1)?.route === "GET /managed_signer")
      return Response.json({ signer: { signer_uuid: UUID, status: "generated", fid: null } });
    // `app send` looks whether the app has sent before.
    if (sent.at(-1)?.route === "GET /frame/app/campaigns" && !isTried("GET /frame/app/campaigns"))
      return Response.json({ campaigns: [{}] });
    // The command prints no record then.
    return Response.json({ message: "seen" }, { status: 400 });
  },
});
const folder = mkdtempSync(join(tmpdir(), "commands-"));
const keyFile = join(folder, "custody.key");
writeFileSync(keyFile, `0x${"11".repeat(32)}\n`, { mode: 0o600 });
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop(true);
});

/** The words of a command as a shell has them. */
function wordsOf(command: string): string[] {
  const { stdout } = Bun.spawnSync(["sh", "-c", `printf '%s\\0' ${command}`]);
  return stdout.toString().split("\0").slice(0, -1);
}

/** Runs the command of an operation with this program, and returns what it sends. */
async function requestOf(route: Route, fields: Readonly<Record<string, unknown>>): Promise<Sent | undefined> {
  const { cli = "", cliInput } = commandOf(route, fields);
  const words = wordsOf(cli);
  if (cliInput !== undefined) {
    const file = join(folder, "input.json");
    writeFileSync(file, JSON.stringify(cliInput));
    words[words.indexOf("-")] = file;
  }
  sent.length = 0;
  tried = route;
  const signer = ["--url", server.url.origin, "--fid", "3", "--key-file", keyFile];
  const { program } = createProgram();
  await program.parseAsync([...words, ...signer], { from: "user" }).catch((cause: unknown) => {
    if (!String(cause).includes("seen")) throw cause;
  });
  return sent.at(-1);
}

const notification = {
  title: "-5 % today",
  body: "It's “hot”\nnow",
  target_url: "https://a.example/?a=1&b=$2",
};

const CASES: readonly (readonly [Route, Readonly<Record<string, unknown>>])[] = [
  ["POST /frame/app", { name: "Bread", app_url: "https://a.example", signer_fid_allowlist: [3, 5] }],
  ["GET /frame/app", { app_id: "abc" }],
  ["GET /frame/app/list", {}],
  ["PUT /frame/app", { app_id: "abc", name: "--name", description: null, signer_fid_allowlist: [] }],
  ["DELETE /frame/app", { app_id: "abc" }],
  ["POST /frame/app/secret/rotate", { app_id: "abc" }],
  ["GET /frame/app/campaigns", { app_id: "abc", limit: 25 }],
  ["GET /frame/app/campaign", { campaign_id: UUID }],
  ["GET /frame/app/audience", { app_id: "abc", days: 30 }],
  [
    "POST /frame/app/campaign",
    { app_id: "abc", notification, target_fids: [3], exclude_fids: [4, 5], following_fid: 6 },
  ],
  ["POST /frame/app/campaign", { app_id: "abc", notification: { ...notification, uuid: UUID } }],
  [
    "POST /frame/app/campaign",
    {
      app_id: "abc",
      notification,
      segment_id: "s1",
      send_at: 1_900_000_000,
      time_zone: "Europe/Berlin",
      quiet_hours: { from: "22:00", to: "08:00" },
      late_ok_secs: 600,
      track_opens: true,
    },
  ],
  ["POST /frame/app/campaign", { app_id: "abc", notification, local_time: "2026-12-01T07:00" }],
  ["GET /frame/app/campaign/results", { schedule_id: UUID }],
  ["GET /frame/app/retention", { app_id: "abc" }],
  ["GET /frame/app/campaigns", { app_id: "abc", grouped: true, limit: 25 }],
  ["GET /frame/app/schedule", { app_id: "abc", limit: 25 }],
  ["DELETE /frame/app/schedule", { schedule_id: UUID }],
  ["GET /frame/app/draft", { app_id: "abc" }],
  ["DELETE /frame/app/draft", { draft_id: "d1" }],
  [
    "POST /frame/app/segment",
    { app_id: "abc", name: "S", filter: { added_after: 1_700_000_000, fids: [1, 2], channel_id: "bread" } },
  ],
  ["GET /frame/app/segment", { app_id: "abc" }],
  ["DELETE /frame/app/segment", { segment_id: "s1" }],
  ["POST /frame/app/campaign/estimate", { app_id: "abc", exclude_fids: [4] }],
  ["POST /api_key", { name: "bot", scopes: ["read", "push"], app_id: "abc", units_per_minute: 5 }],
  ["GET /api_key", { api_key_id: "k1" }],
  ["GET /api_key/list", {}],
  ["GET /api_key/usage", { api_key_id: "k1", from: "2026-11-01", to: "2026-11-22" }],
  ["PUT /api_key", { api_key_id: "k1", active: true }],
  ["PUT /api_key", { api_key_id: "k1", app_id: null, expires_at: null, writes_per_minute: 7 }],
  ["DELETE /api_key", { api_key_id: "k1" }],
  ["POST /api_key/secret/rotate", { api_key_id: "k1", grace_secs: 0 }],
  [
    "POST /webhook",
    { owner_fid: 3, name: "b", url: "https://a.example", subscription: { "cast.created": {} } },
  ],
  ["GET /webhook", { webhook_id: "w1" }],
  ["GET /webhook/list", {}],
  ["PUT /webhook", { webhook_id: "w1", active: false }],
  ["PUT /webhook", { webhook_id: "w1", url: "https://b.example", description: null }],
  ["DELETE /webhook", { webhook_id: "w1" }],
  [
    "GET /webhook/deliveries",
    { webhook_id: "w1", state: "failed", type: "cast.created", test: false, limit: 25 },
  ],
  ["GET /webhook/delivery", { webhook_id: "w1", message_id: "msg_1" }],
  ["GET /webhook/stats", { webhook_id: "w1", hours: 24 }],
  ["POST /webhook/preview", { subscription: { "cast.created": { text: "a" } }, events: 1000 }],
  ["POST /webhook/deliveries/replay", { webhook_id: "w1", from: 1_700_000_000 }],
  ["POST /webhook/deliveries/replay", { webhook_id: "w1", message_id: "msg_1" }],
  ["POST /webhook/deliveries/replay", { webhook_id: "w1", from: 1, only: "missing", dry_run: true }],
  ["GET /webhook/deliveries/replay", { replay_id: UUID }],
  ["DELETE /webhook/deliveries/replay", { replay_id: UUID }],
  ["POST /webhook/test", { webhook_id: "w1" }],
  ["POST /webhook/secret/rotate", { webhook_id: "w1" }],
  ["GET /managed_signer", { signer_uuid: UUID }],
  ["GET /managed_signer/list", { limit: 100 }],
  ["GET /managed_signer/list", { fid: 7, limit: 100 }],
  ["POST /managed_signer", { permissions: ["PUBLISH_CAST"], fid: 7 }],
  ["POST /managed_signer/cast", { signer_uuid: UUID, text: "gm" }],
  ["POST /managed_signer/export", { signer_uuid: UUID }],
  ["DELETE /managed_signer", { signer_uuid: UUID }],
  [
    "POST /login_client",
    { name: "b", origins: ["https://a.example"], permissions: "write", client_id: UUID },
  ],
  ["GET /login_client", { client_id: UUID }],
  ["GET /login_client/list", {}],
  ["PUT /login_client", { client_id: UUID, permissions: "read" }],
  ["DELETE /login_client", { client_id: UUID }],
  ["POST /notice_channel", { label: "p", hook: { url: "https://a.example", preset: "ntfy" } }],
  ["GET /notice_channel/list", {}],
  ["PUT /notice_channel", { channel_id: "abc", label: "p", quiet_hours: "22:00-07:00" }],
  ["DELETE /notice_channel", { channel_id: "abc" }],
  ["POST /notice_channel/test", { channel_id: "abc" }],
  ["GET /notice_channel/incidents", {}],
  ["POST /notice_channel/incidents/acknowledge", { incident_id: "abc" }],
  ["POST /moderation/bans", { fids: [4, 60] }],
  ["DELETE /moderation/bans", { fids: [60] }],
  ["GET /moderation/bans", { limit: 25 }],
  ["PUT /user/channel/follow", { channel_id: "books", following: true }],
  ["PUT /user/channel/follow", { channel_id: "books", following: false }],
  ["POST /user/address/verify", { address: "0xabc", block_hash: "0x01", eth_signature: "0x02" }],
  ["DELETE /session", { session_id: "abc" }],
  ["DELETE /session", { all: true }],
  ["GET /session/list", {}],
  ["GET /audit", { of: "records", limit: 25 }],
];

/** A query has texts. */
const asTexts = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === "number" || typeof value === "boolean" ? String(value) : value,
    ]),
  );

test.each(CASES)("the command of %s sends %p", async (route, fields) => {
  const request = await requestOf(route, fields);
  expect(request?.route).toBe(route);
  expect(asTexts(request?.fields ?? {})).toEqual(asTexts(fields));
});

test("every operation with a command is tried", () => {
  expect([...new Set(CASES.map(([route]) => route))].toSorted()).toEqual(operationsWithCommand.toSorted());
});

test("an operation without a command has none", () => {
  expect(commandOf("POST /session", {})).toEqual({});
});
