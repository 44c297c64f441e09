import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { indexPath } from "../../src/db/index/database.ts";
import { openState, statePath } from "../../src/db/state/database.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import {
  allDelivered,
  castNow,
  deliveryArgs,
  hubClient,
  prepareDeliveries,
} from "../support/delivery-network.ts";
import { type DeliveryReceiver, startDeliveryReceiver } from "../support/delivery-receiver.ts";
import { makeWallet } from "../support/messages.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { allServed, type PushClient, startPushClient } from "../support/push-client.ts";
import { APP_ID, insertTokens, notification, SECRET, testApp } from "../support/send.ts";
import { signedHeaders } from "../support/signing.ts";
import { hashOf } from "../support/social.ts";
import { localStores } from "../support/state-stores.ts";

/** While another process locks a database, reads are served and no accepted write is lost. */

const FID = 1;
const TOKENS = 150;
const CASTS = 12;

const dir = tempDir();
const dataDir = `${dir.path}/data`;
const isLocked = Promise.withResolvers<void>();
let node: RunningNode;
let receiver: DeliveryReceiver;
let client: PushClient;

beforeAll(async () => {
  receiver = await startDeliveryReceiver();
  // The client has received the first notification when the lock is taken.
  client = startPushClient(async (request, nth) => {
    await isLocked.promise;
    return allServed(request, nth);
  });
  await prepareDeliveries(dataDir, { fids: [FID], webhooks: [receiver.webhook("/in")] });
  {
    using state = openState(statePath(dataDir));
    await localStores(state).apps.create(testApp(), 10);
    const url = `http://127.0.0.1:${client.port}/notify`;
    insertTokens(
      state,
      Array.from({ length: TOKENS }, (_, at) => ({ fid: 10 + at, url, token: `${10 + at}` })),
    );
  }
  node = await startNode({
    command: compiledProgram,
    dataDir,
    args: [...deliveryArgs, "--set", "http.workers=2"],
  });
}, 180_000);

afterAll(async () => {
  await node.stop();
  await client[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

/** Holds the write lock of a database, like a tool of the operator. */
function holdLock(path: string): Disposable {
  const db = new Database(path);
  db.exec("PRAGMA busy_timeout = 10000");
  db.exec("BEGIN IMMEDIATE");
  return { [Symbol.dispose]: () => db.close() };
}

const get = (path: string) => fetch(`${node.url}${path}`, { keepalive: false });

async function signedList(): Promise<Response> {
  const call = { method: "GET", path: "/frame/app/list", fid: FID } as const;
  const signedAt = Math.floor(Date.now() / 1000);
  const headers = await signedHeaders({ ...call, signedAt, wallet: makeWallet(`custody ${FID}`) });
  return fetch(`${node.url}/v2/svc${call.path}`, { headers });
}

const send = (headers: Record<string, string> = {}) =>
  fetch(`${node.url}/v2/svc/frame/notifications/${APP_ID}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": SECRET, ...headers },
    body: JSON.stringify({ notification }),
  });

const READS = [
  "/health",
  "/ready",
  "/status",
  "/metrics",
  "/v2/svc/user?fid=1",
  `/v2/svc/feed/user/casts?fid=${FID}`,
];

/**
 * Sends a request of every kind that needs no write while one that needs a write waits for the lock. Each has its response before that one
 * is refused; on a busy machine, not every time.
 */
async function readWhileWritesWait(): Promise<void> {
  for (let left = READS; left.length > 0; ) {
    let isRefused = false;
    const refused = signedList().then(() => {
      isRefused = true;
    });
    const early: string[] = [];
    for (const path of left) {
      const response = await get(path);
      await response.arrayBuffer();
      expect([path, response.status]).toEqual([path, 200]);
      if (!isRefused) early.push(path);
    }
    left = left.filter((path) => !early.includes(path));
    await refused;
  }
}

test("while another process locks the state, reads succeed, writes return 503, and nothing is lost", async () => {
  using hub = hubClient(node.hubAddress);
  const firstSend = send();
  while (client.requests.length === 0) await Bun.sleep(5);
  const casts = Array.from({ length: CASTS }, (_, at) => castNow(FID, `cast ${at}`));
  {
    using _lock = holdLock(statePath(dataDir));
    isLocked.resolve();
    const refused = signedList();
    // The index is written meanwhile: events that are acknowledged here must be delivered later.
    expect(await hub.submit(casts)).toEqual(Array(CASTS).fill(true));
    await readWhileWritesWait();
    const response = await refused;
    expect([response.status, Number(response.headers.get("retry-after"))]).toEqual([503, expect.any(Number)]);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await response.json()).toEqual({ message: expect.stringContaining("in time") });
    let ready = await get("/ready?for=state");
    while (ready.status === 200) {
      await Bun.sleep(50);
      ready = await get("/ready?for=state");
    }
    expect((await ready.json()) as object).toEqual({ message: expect.stringMatching(/locked .* for \d+s/) });
    expect(receiver.accepted).toEqual([]);
  }
  expect((await signedList()).status).toBe(200);
  expect(await (await firstSend).json()).toMatchObject({ success_count: TOKENS, failure_count: 0 });
  expect(client.shown.size).toBe(TOKENS);
  expect(client.requests.flatMap(({ tokens }) => tokens)).toHaveLength(TOKENS);
  await allDelivered(node.url);
  const events = receiver.accepted.map(({ event }) => event).toSorted();
  expect(events).toEqual(casts.map((bytes) => `cast.created ${hashOf(bytes)}`).toSorted());
  const second = (await (await send()).json()) as object;
  expect(second).toMatchObject({ success_count: TOKENS });
  while ((await get("/ready?for=state")).status !== 200) await Bun.sleep(50);
}, 180_000);

test("while another process locks the index, reads and writes of the state succeed", async () => {
  using hub = hubClient(node.hubAddress);
  let submitted: Promise<boolean[] | undefined>;
  {
    using _lock = holdLock(indexPath(dataDir));
    submitted = hub.submit([castNow(FID, "late")]);
    for (const path of ["/health", "/v2/svc/user?fid=1", `/v2/svc/feed/user/casts?fid=${FID}`]) {
      expect((await get(path)).status).toBe(200);
    }
    expect((await signedList()).status).toBe(200);
    expect((await send()).status).toBe(200);
  }
  expect(await submitted).toEqual([true]);
}, 180_000);
