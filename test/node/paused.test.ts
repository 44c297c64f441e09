import { afterAll, beforeAll, expect, test } from "bun:test";
import { PAUSABLE } from "../../src/cluster/switch-store.ts";
import { openState, statePath } from "../../src/db/state/database.ts";
import { run } from "../cli/run.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import {
  allDelivered,
  castNow,
  deliveryArgs,
  hubClient,
  prepareDeliveries,
} from "../support/delivery-network.ts";
import { type DeliveryReceiver, startDeliveryReceiver } from "../support/delivery-receiver.ts";
import { until } from "../support/manual-time.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { allServed, type PushClient, startPushClient } from "../support/push-client.ts";
import { APP_ID, insertTokens, notification, SECRET, testApp } from "../support/send.ts";
import { signedHeaders } from "../support/signing.ts";
import { localStores } from "../support/state-stores.ts";

/** What `svc state pause` stops on a running node, and that `resume` continues it without a loss. */

const FID = 3;
const dir = tempDir();
let node: RunningNode;
let receiver: DeliveryReceiver;
let client: PushClient;

beforeAll(async () => {
  receiver = await startDeliveryReceiver();
  client = startPushClient(allServed);
  const webhook = receiver.webhook("/all", { subscription: { "cast.created": {} } });
  await prepareDeliveries(dir.path, { fids: [FID], webhooks: [webhook] });
  using state = openState(statePath(dir.path));
  await localStores(state).apps.create(testApp(), 10);
  insertTokens(state, [{ fid: 10, url: `http://127.0.0.1:${client.port}/notify`, token: "t" }]);
  const args = [...deliveryArgs, "--set", "http.workers=4"];
  node = await startNode({ command: compiledProgram, dataDir: dir.path, args });
}, 180_000);

afterAll(async () => {
  await node.stop();
  await receiver[Symbol.asyncDispose]();
  await client[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

const command = async (...args: string[]) => {
  const ended = await run(["--data-dir", dir.path, "state", ...args]);
  expect([ended.exitCode, ended.errors]).toEqual([0, ""]);
  return ended.out;
};

const signedList = async (init: RequestInit = {}) => {
  const call = {
    method: "GET" as const,
    path: "/frame/app/list",
    fid: FID,
    signedAt: Math.floor(Date.now() / 1000),
  };
  return fetch(`${node.url}/v2/svc${call.path}`, { ...init, headers: await signedHeaders(call) });
};

const reportToken = () => fetch(`${node.url}/v2/svc/frame/webhook/${APP_ID}`, { method: "POST", body: "{}" });

const send = (uuid: string, headers: Record<string, string> = {}) =>
  fetch(`${node.url}/v2/svc/frame/notifications/${APP_ID}`, {
    method: "POST",
    headers: { "x-api-key": SECRET, ...headers },
    body: JSON.stringify({ notification: { ...notification, uuid } }),
  });

test("a pause of everything is obeyed, is shown with its reason, and loses nothing", async () => {
  using hub = hubClient(node.hubAddress);
  expect((await signedList()).status).toBe(200);
  expect(await command("pause", "all", "--reason", "moving the database")).toBe(
    `paused: ${PAUSABLE.join(", ")}\n`,
  );
  await until(async () => (await signedList()).status === 503);
  const refused = await signedList();
  expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
    503,
    "60",
    { message: "signed operations are paused by the operator" },
  ]);
  const token = await reportToken();
  expect([token.status, token.headers.get("retry-after"), await token.json()]).toEqual([
    503,
    "60",
    { success: false, message: "token events are paused by the operator" },
  ]);
  const status = (await (await fetch(`${node.url}/status`)).json()) as {
    switches: { name: string; reason: string; paused_by: string; paused_at: number }[];
  };
  expect(status.switches.map(({ name, reason }) => [name, reason])).toEqual(
    PAUSABLE.toSorted().map((name) => [name, "moving the database"]),
  );
  expect(status.switches[0]?.paused_by).toMatch(/^.+@.+$/);
  expect(await (await fetch(`${node.url}/ready?for=state`)).json()).toEqual({ status: "ready" });

  expect((await send(crypto.randomUUID())).status).toBe(202);
  expect(await hub.submit(Array.from({ length: 20 }, (_, n) => castNow(FID, `cast ${n}`)))).not.toContain(
    false,
  );
  await until(async () => {
    const { webhooks } = (await (await fetch(`${node.url}/status`)).json()) as {
      webhooks: { deliveries: { queued: number } };
    };
    return webhooks.deliveries.queued === 20;
  });
  expect([receiver.received.length, client.requests.length]).toEqual([0, 0]);

  expect(await command("resume", "sends", "deliveries")).toBe("resumed: sends, deliveries\n");
  await allDelivered(node.url);
  await until(() => client.requests.length === 1);
  expect(new Set(receiver.accepted.map(({ event }) => event)).size).toBe(20);
  expect(receiver.accepted).toHaveLength(20);
  expect((await signedList()).status).toBe(503);
  expect(await command("resume", "all")).toBe("resumed: signed, tokens, writes\n");
  await until(async () => (await signedList()).status === 200);
  expect(await command("resume", "all")).toBe("nothing was paused\n");
}, 180_000);

test("all of four workers obey a pause and its end at the same moment; a campaign and deliveries wait, and then go once", async () => {
  using hub = hubClient(node.hubAddress);
  /** Statuses of requests on connections of their own, so that every worker gets some of them. */
  const burst = async () => {
    const all = Array.from({ length: 24 }, async () => (await signedList({ keepalive: false })).status);
    return new Set(await Promise.all(all));
  };
  /** Asks until the first response with this status; none that begins after it may have another one. */
  const changesTo = async (status: number) => {
    await until(async () => (await signedList({ keepalive: false })).status === status);
    expect([...(await burst())]).toEqual([status]);
  };
  const [requests, received] = [client.requests.length, receiver.received.length];
  await command("pause", "signed", "sends", "deliveries", "--reason", "moving");
  await changesTo(503);
  const uuids = Array.from({ length: 8 }, () => crypto.randomUUID());
  const sent = await Promise.all(uuids.map((uuid) => send(uuid, { connection: "close" })));
  expect(sent.map(({ status }) => status)).toEqual(uuids.map(() => 202));
  expect(await hub.submit([castNow(FID, "while four wait")])).toEqual([true]);
  expect([client.requests.length, receiver.received.length]).toEqual([requests, received]);
  await command("resume", "signed", "sends", "deliveries");
  await changesTo(200);
  await allDelivered(node.url);
  await until(() => client.requests.length === requests + uuids.length);
  expect(receiver.received).toHaveLength(received + 1);
  expect(new Set(client.requests.slice(requests).map(({ notificationId }) => notificationId))).toEqual(
    new Set(uuids),
  );
}, 180_000);

test("a pause lasts over a restart", async () => {
  await command("pause", "deliveries", "--reason", "night");
  await node.stop();
  node = await startNode({ command: compiledProgram, dataDir: dir.path, args: deliveryArgs });
  using hub = hubClient(node.hubAddress);
  const before = receiver.received.length;
  expect(await hub.submit([castNow(FID, "at night")])).toEqual([true]);
  await until(async () => {
    const { webhooks } = (await (await fetch(`${node.url}/status`)).json()) as {
      webhooks: { deliveries: { queued: number } };
    };
    return webhooks.deliveries.queued === 1;
  });
  expect(receiver.received).toHaveLength(before);
  await command("resume", "deliveries");
  await allDelivered(node.url);
  expect(receiver.received).toHaveLength(before + 1);
}, 180_000);

test("a reason with a control character and an unknown part are refused", async () => {
  const place = ["--data-dir", dir.path, "state", "pause"];
  const [odd, unknown, missing] = await Promise.all([
    run([...place, "sends", "--reason", "a\u001bb"]),
    run([...place, "reads", "--reason", "x"]),
    run([...place, "sends"]),
  ]);
  expect([odd.exitCode, unknown.exitCode, missing.exitCode]).toEqual([1, 1, 1]);
  expect(unknown.errors).toContain([...PAUSABLE, "all"].join(", "));
});
