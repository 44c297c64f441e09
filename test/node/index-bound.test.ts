import { afterAll, beforeAll, expect, test } from "bun:test";
import { getInsecureHubRpcClient, Message as TheirMessage } from "@farcaster/hub-nodejs";
import { openState, statePath } from "../../src/db/state/database.ts";
import { Message } from "../../src/protocol/wire/generated/message.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { allDelivered, castNow, deliveryArgs, prepareDeliveries } from "../support/delivery-network.ts";
import { type DeliveryReceiver, startDeliveryReceiver } from "../support/delivery-receiver.ts";
import { until } from "../support/manual-time.ts";
import { makeWallet } from "../support/messages.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { allServed, type PushClient, startPushClient } from "../support/push-client.ts";
import { APP_ID, insertTokens, notification, SECRET, testApp } from "../support/send.ts";
import { signedHeaders } from "../support/signing.ts";
import { localStores } from "../support/state-stores.ts";

/** A node whose index reaches `index.max_bytes` under load, and the same node with a higher bound. */

const FID = 3;
const SENDERS = 8;
const dir = tempDir();
let node: RunningNode;
let receiver: DeliveryReceiver;
let client: PushClient;

const start = (maxBytes: number) =>
  startNode({
    command: compiledProgram,
    dataDir: dir.path,
    args: [...deliveryArgs, "--set", `index.max_bytes=${maxBytes}`],
  });

beforeAll(async () => {
  receiver = await startDeliveryReceiver();
  client = startPushClient(allServed);
  const webhook = receiver.webhook("/all", { subscription: { "cast.created": {} } });
  await prepareDeliveries(dir.path, { fids: [FID], webhooks: [webhook] });
  using state = openState(statePath(dir.path));
  await localStores(state).apps.create(testApp(), 10);
  insertTokens(state, [{ fid: 10, url: `http://127.0.0.1:${client.port}/notify`, token: "t" }]);
  node = await start(3_000_000);
}, 180_000);

afterAll(async () => {
  await node.stop();
  await receiver[Symbol.asyncDispose]();
  await client[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

const status = async (path: string, init?: RequestInit) => (await fetch(`${node.url}${path}`, init)).status;

const signedList = async () => {
  const call = { method: "GET", path: "/frame/app/list", fid: FID } as const;
  const signedAt = Math.floor(Date.now() / 1000);
  const headers = await signedHeaders({ ...call, signedAt, wallet: makeWallet(`custody ${FID}`) });
  return status(`/v2/svc${call.path}`, { headers });
};

const send = () =>
  status(`/v2/svc/frame/notifications/${APP_ID}`, {
    method: "POST",
    headers: { "x-api-key": SECRET },
    body: JSON.stringify({ notification: { ...notification, uuid: crypto.randomUUID() } }),
  });

const submitOverHttp = (bytes: Uint8Array) =>
  fetch(`${node.url}/v1/submitMessage`, {
    method: "POST",
    headers: { "content-type": "application/octet-stream" },
    body: bytes,
  });

async function readyIs(pattern: RegExp): Promise<void> {
  await until(async () => {
    const response = await fetch(`${node.url}/ready`);
    return pattern.test(`${response.status} ${await response.text()}`);
  });
}

/** Submits casts from several connections until each is refused. Returns those that were acknowledged. */
async function submitUntilFull(): Promise<Uint8Array[]> {
  const acknowledged: Uint8Array[] = [];
  const submitting = Array.from({ length: SENDERS }, async (_, sender) => {
    const hub = getInsecureHubRpcClient(node.hubAddress);
    for (let n = 0; ; n++) {
      const bytes = castNow(FID, `cast ${n} of sender ${sender} ${"and so on ".repeat(25)}`);
      const result = await hub.submitMessage(TheirMessage.decode(bytes));
      if (result.isOk()) {
        acknowledged.push(bytes);
        continue;
      }
      expect(result.error.message).toBe("the index has reached index.max_bytes");
      break;
    }
    hub.$.close();
  });
  await Promise.all(submitting);
  return acknowledged;
}

/** The acknowledged messages that the node does not have. */
async function lost(messages: readonly Uint8Array[]): Promise<number> {
  const hub = getInsecureHubRpcClient(node.hubAddress);
  const found = await Promise.all(
    messages.map((bytes) => hub.getCast({ fid: FID, hash: Message.decode(bytes).hash })),
  );
  hub.$.close();
  return found.filter((result) => result.isErr()).length;
}

test("at index.max_bytes submits are refused, nothing acknowledged is lost, and everything else continues", async () => {
  await readyIs(/^200/);
  const acknowledged: Uint8Array[] = [];
  let refused: Response;
  let index: { bytes: number; max_bytes: number; full: boolean };
  // A checkpoint of the write-ahead log gives the index room again, at any time.
  do {
    acknowledged.push(...(await submitUntilFull()));
    await readyIs(/^503 .*"index at index\.max_bytes"/);
    const last = castNow(FID, `over HTTP ${acknowledged.length}`);
    refused = await submitOverHttp(last);
    if (refused.ok) acknowledged.push(last);
    ({ index } = (await (await fetch(`${node.url}/status`)).json()) as { index: typeof index });
  } while (refused.ok || !index.full);
  expect(acknowledged.length).toBeGreaterThan(20);
  expect(index.max_bytes).toBe(3_000_000);
  expect(index.bytes).toBeLessThan(3_300_000);
  expect(await lost(acknowledged)).toBe(0);

  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
  expect(await refused.json()).toMatchObject({ errCode: "resource_exhausted", code: 8 });
  expect(await status("/v1/validateMessage", { method: "POST", body: castNow(FID, "only asked") })).toBe(200);
  expect(await status(`/v2/svc/feed/user/casts?fid=${FID}`)).toBe(200);
  expect(await signedList()).toBe(200);
  expect(await send()).toBe(200);
  await allDelivered(node.url);
  expect(receiver.accepted.length).toBe(acknowledged.length);
  expect(receiver.violations).toEqual([]);

  expect(node.logs()).toContain("comes close to index.max_bytes");
  expect(node.logs()).toContain("has reached index.max_bytes: nothing more is merged");
  expect(await node.stop()).toBe(0);

  // The write-ahead log is removed, so there is room below the same bound; a higher one has more.
  node = await start(30_000_000);
  await readyIs(/^200/);
  expect(await lost(acknowledged)).toBe(0);
  expect((await submitOverHttp(castNow(FID, "with a higher bound"))).status).toBe(200);
}, 180_000);
