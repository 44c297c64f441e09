import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { indexPath } from "../../src/db/index/database.ts";
import { openState, statePath } from "../../src/db/state/database.ts";
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
}, 60_000);

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
