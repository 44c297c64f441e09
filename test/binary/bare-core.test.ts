import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { openState, statePath } from "../../src/db/state/database.ts";
import { OPTIONAL_PARTS } from "../../src/node/optional-parts.ts";
import { castNow, deliveryArgs, hubClient, prepareDeliveries } from "../support/delivery-network.ts";
import { startDeliveryReceiver } from "../support/delivery-receiver.ts";
import { until } from "../support/manual-time.ts";
import { makeWallet } from "../support/messages.ts";
import { compileInto, type RunningNode, startNode, tempDir } from "../support/program.ts";
import { startPushClient } from "../support/push-client.ts";
import { APP_ID, insertTokens, notification, SECRET, testApp } from "../support/send.ts";
import { signedHeaders } from "../support/signing.ts";
import { hashOf } from "../support/social.ts";
import { localStores } from "../support/state-stores.ts";

const PARTS = Object.keys(OPTIONAL_PARTS);
const FID = 1;
const dir = tempDir();
let program: string;
let node: RunningNode;
let receiver: Awaited<ReturnType<typeof startDeliveryReceiver>>;
let client: ReturnType<typeof startPushClient>;

/** The core is built without any other part, and has a user, a webhook, and an app with a token. */
beforeAll(async () => {
  mkdirSync(`${dir.path}/bin`);
  program = await compileInto(`${dir.path}/bin`, ["--without", PARTS.join(",")]);
  receiver = await startDeliveryReceiver();
  client = startPushClient();
  const dataDir = `${dir.path}/data`;
  await prepareDeliveries(dataDir, { fids: [FID], webhooks: [receiver.webhook("/casts")] });
  {
    using state = openState(statePath(dataDir));
    await localStores(state).apps.create(testApp({ ownerFid: FID }), 10);
    insertTokens(state, [{ fid: FID, url: `http://127.0.0.1:${client.port}/notify`, token: "one" }]);
  }
  node = await startNode({ command: [program], dataDir, args: deliveryArgs });
}, 180_000);

afterAll(async () => {
  expect(await node.stop()).toBe(0);
  await receiver[Symbol.asyncDispose]();
  await client[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

test("the bare core serves what a client submitted, and delivers it to a webhook", async () => {
  using hub = hubClient(node.hubAddress);
  const cast = castNow(FID, "hello from the core");
  expect(await hub.submit([cast])).toEqual([true]);
  const response = await fetch(`${node.url}/v2/svc/cast?identifier=${hashOf(cast)}&type=hash`);
  expect([response.status, await response.json()]).toMatchObject([
    200,
    { cast: { text: "hello from the core" } },
  ]);
  await until(() => receiver.accepted.length === 1);
  expect([receiver.accepted[0]?.event, receiver.violations]).toEqual([`cast.created ${hashOf(cast)}`, []]);
});

test("the bare core accepts a signed operation", async () => {
  const body = JSON.stringify({
    name: "core",
    url: `http://127.0.0.1:${receiver.port}/other`,
    subscription: { cast_deleted: {} },
  });
  const path = `/webhook?owner_fid=${FID}`;
  const call = { method: "POST", path, body, fid: FID } as const;
  const signedAt = Math.floor(Date.now() / 1000);
  const headers = await signedHeaders({ ...call, signedAt, wallet: makeWallet(`custody ${FID}`) });
  const response = await fetch(`${node.url}/v2/svc${path}`, { method: "POST", headers, body });
  expect([response.status, await response.json()]).toMatchObject([
    200,
    { webhook: { owner_fid: FID, active: true } },
  ]);
});

test("the bare core sends a notification", async () => {
  const response = await fetch(`${node.url}/v2/svc/frame/notifications/${APP_ID}`, {
    method: "POST",
    headers: { "x-api-key": SECRET },
    body: JSON.stringify({ notification }),
  });
  expect([response.status, await response.json()]).toMatchObject([200, { success_count: 1 }]);
  expect([client.requests.map(({ tokens }) => tokens), client.violations]).toEqual([[["one"]], []]);
});

test("the bare core has no thread, route, document or metric of the parts", async () => {
  const paths = [
    "/console",
    "/v1/info",
    "/v2/svc/stream",
    "/v2/farcaster/user/bulk?fids=1",
    "/v2/svc/message",
  ];
  const statuses = await Promise.all(paths.map(async (path) => (await fetch(`${node.url}${path}`)).status));
  expect(statuses).toEqual(paths.map(() => 404));
  const status = (await (await fetch(`${node.url}/status`)).json()) as {
    readonly threads: readonly { readonly name: string }[];
  };
  expect(status.threads.map(({ name }) => name)).not.toContain("writes");
  expect(status).toMatchObject({ writes: null, signers: null, stream: null, hub_log: null });
  const document = (await (await fetch(`${node.url}/openapi.json`)).json()) as { readonly paths: object };
  const documented = Object.keys(document.paths);
  expect(documented).toContain("/v2/svc/user");
  expect(documented.filter((path) => /^\/(v1|v2\/farcaster)\/|managed_signer|\/stream/.test(path))).toEqual(
    [],
  );
});

test("the bare core refuses a state in PostgreSQL, whose records it could not reach", () => {
  const { exitCode, stderr } = Bun.spawnSync(
    [
      program,
      "--data-dir",
      `${dir.path}/other`,
      "--port",
      "0",
      "--set",
      "hub.port=0",
      "--set",
      "state.url=postgres://svc@127.0.0.1/svc",
      "serve",
    ],
    { env: { HOME: dir.path } },
  );
  expect(exitCode).not.toBe(0);
  expect(stderr.toString()).toContain("this program was built without PostgreSQL");
});
