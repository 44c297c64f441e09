import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { indexPath } from "../../src/db/index/database.ts";
import { openState, statePath } from "../../src/db/state/database.ts";
import { sdkClient, sdkError } from "../api/compat/sdk.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { violationsOf } from "../support/exposition.ts";
import { accountRecords, startTestNode } from "../support/node.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { allServed, type PushClient, startPushClient } from "../support/push-client.ts";
import { APP_ID, insertTokens, notification, SECRET, testApp } from "../support/send.ts";
import { type SignedCall, signedHeaders } from "../support/signing.ts";
import { localStores } from "../support/state-stores.ts";

/** Several HTTP workers on one port behave as one node. */

const WORKERS = 4;
const FID = 3;
const CAP = 5;
const TOKENS = 300;

const dir = tempDir();
let node: RunningNode;
let client: PushClient;

const options = [
  ...["--set", `http.workers=${WORKERS}`],
  ...["--set", `apps.max_apps_per_owner=${CAP}`],
  ...["--set", "net.allow_http=true", "--set", "net.allow_cidrs=127.0.0.0/8,::1/128"],
];

beforeAll(async () => {
  {
    using made = startTestNode();
    made.ingestAll(accountRecords(FID));
    made.db.checkpoint();
    cpSync(indexPath(made.dir), indexPath(dir.path));
  }
  client = startPushClient(allServed);
  {
    using state = openState(statePath(dir.path));
    await localStores(state).apps.create(testApp(), 10);
    insertTokens(
      state,
      Array.from({ length: TOKENS }, (_, at) => ({
        fid: 10 + at,
        url: `http://127.0.0.1:${client.port}/notify`,
        token: `${10 + at}`,
      })),
    );
  }
  node = await startNode({ command: compiledProgram, dataDir: dir.path, args: options });
}, 180_000);

afterAll(async () => {
  await node.stop();
  await client[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

/** Sends each request on a separate connection, so that the kernel distributes them over the workers. */
const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${node.url}${path}`, { ...init, keepalive: false });

const signed = async (call: Omit<SignedCall, "fid" | "signedAt">) => {
  const { method, path, body } = call;
  const headers = await signedHeaders({ ...call, fid: FID, signedAt: Math.floor(Date.now() / 1000) });
  return () => ask(`/v2/svc${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
};

async function createKey(fields: object) {
  const body = JSON.stringify({ name: "k", scopes: ["read"], ...fields });
  const create = await signed({ method: "POST", path: "/api_key", body });
  return (await (await create()).json()) as { api_key: { api_key_id: string }; secret: string };
}

async function statusesOf(requests: readonly Promise<Response>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(requests)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe(`${WORKERS} HTTP workers`, () => {
  test("accept exactly one of many copies of a signed request", async () => {
    const send = await signed({ method: "GET", path: "/frame/app/list" });
    expect(await statusesOf(Array.from({ length: 24 }, send))).toEqual({ 200: 1, 401: 23 });
  });

  test("a cap counts the records that all of them create", async () => {
    // One record exists at the start.
    const body = JSON.stringify({ name: "An app", app_url: "https://127.0.0.1" });
    const creates = await Promise.all(
      Array.from({ length: 4 * CAP }, () => signed({ method: "POST", path: "/frame/app", body })),
    );
    expect(await statusesOf(creates.map((create) => create()))).toEqual({ 200: CAP - 1, 429: 3 * CAP + 1 });
  });

  test("concurrent sends of one notification through different workers reach each user once", async () => {
    const uuid = crypto.randomUUID();
    const responses = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const response = await ask(`/v2/svc/frame/notifications/${APP_ID}`, {
          method: "POST",
          headers: { "x-api-key": SECRET },
          body: JSON.stringify({ notification: { ...notification, uuid } }),
        });
        expect(response.status).toBe(200);
        return (await response.json()) as { success_count: number; not_attempted_count: number };
      }),
    );
    const sum = (key: "success_count" | "not_attempted_count") =>
      responses.reduce((total, response) => total + response[key], 0);
    expect([sum("success_count"), sum("not_attempted_count")]).toEqual([TOKENS, 7 * TOKENS]);
    expect(client.requests.flatMap(({ tokens }) => tokens)).toHaveLength(TOKENS);
  });

  test("refuse a key that one of them has deleted, each from its next request on", async () => {
    for (let round = 0; round < 3; round += 1) {
      const { api_key, secret } = await createKey({});
      const read = () => ask(`/v2/farcaster/user/bulk/?fids=${FID}`, { headers: { "x-api-key": secret } });
      expect(await statusesOf(Array.from({ length: 8 }, read))).toEqual({ 200: 8 });
      const remove = await signed({ method: "DELETE", path: `/api_key?api_key_id=${api_key.api_key_id}` });
      expect((await remove()).status).toBe(200);
      expect(await statusesOf(Array.from({ length: 5 }, read))).toEqual({ 401: 5 });
      const sdk = sdkClient(node.url, { apiKey: secret });
      expect((await sdkError(sdk.fetchBulkUsers({ fids: [FID] }))).status).toBe(401);
    }
  });

  test("admit what the bucket of a key holds, and store what it was used for", async () => {
    const { api_key, secret } = await createKey({ units_per_minute: 120 });
    const startedMs = performance.now();
    const counts = await statusesOf(
      Array.from({ length: 1_000 }, () =>
        ask(`/v2/farcaster/storage/usage?fid=${FID}`, { headers: { "x-api-key": secret } }),
      ),
    );
    const refilled = Math.ceil(((performance.now() - startedMs) / 60_000) * 120);
    expect(counts[200]).toBeGreaterThanOrEqual(119);
    expect(counts[200]).toBeLessThanOrEqual(121 + refilled);
    expect((counts[200] ?? 0) + (counts[429] ?? 0)).toBe(1_000);
    await node.stop();
    node = await startNode({ command: compiledProgram, dataDir: dir.path, args: options });
    const from = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const usage = await signed({
      method: "GET",
      path: `/api_key/usage?api_key_id=${api_key.api_key_id}&from=${from}`,
    });
    expect(((await (await usage()).json()) as { totals: unknown }).totals).toEqual({
      requests: 1_000,
      units: counts[200],
      writes: 0,
      errors: 0,
      limited: counts[429],
    });
  });

  test("/metrics sums the counters of all workers, and shows shared values once", async () => {
    for (let n = 0; n < 40; n++) expect((await ask(`/v2/svc/user?fid=${FID}`)).status).toBe(200);
    const text = await (await ask("/metrics")).text();
    expect(text).toContain('svc_http_requests_total{method="GET",route="/v2/svc/user",status="200"} 40\n');
    expect(text).toContain("svc_notification_tokens{");
    expect(violationsOf(text)).toEqual([]);
  });

  test("a second node cannot share the port", async () => {
    using other = tempDir();
    const port = new URL(node.url).port;
    const command = [...compiledProgram, "--data-dir", other.path, "--port", port, "--set", "http.workers=2"];
    const second = Bun.spawn([...command, "--set", "hub.port=0", "serve"], {
      cwd: other.path,
      env: { PATH: process.env.PATH ?? "", HOME: other.path },
      stdout: "pipe",
      stderr: "pipe",
    });
    expect(await second.exited).toBe(75);
    expect(await new Response(second.stderr).text()).toContain(`port ${port} is in use`);
  });
});
