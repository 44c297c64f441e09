import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { signedOperations } from "../../src/api/operations.ts";
import { ethereumClaimSignature } from "../../src/demo/claims.ts";
import { createKeyring } from "../../src/demo/keys.ts";
import { isObject } from "../../src/http/openapi/document.ts";
import { randomBase58 } from "../../src/lib/base58.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { activateChannels, registers, walletOf } from "../support/channel-records.ts";
import { rentEvent, signerEvent, transferEvent } from "../support/events.ts";
import { IS_LONG } from "../support/long.ts";
import { makeSigner, makeWallet } from "../support/messages.ts";
import { type ApiResponse, type SignedApi, startSignedApi, type TestCall } from "../support/signed-api.ts";
import { custodyWallet, type Method, opByRequest } from "../support/signing.ts";
import { localStores } from "../support/state-stores.ts";

let signed: SignedApi;
beforeAll(async () => {
  const settings = [
    "apps.max_apps_per_owner=100",
    "webhooks.max_webhooks_per_owner=100",
    "api_keys.max_keys_per_owner=100",
    "notify.max_channels_per_owner=50",
    `signers.encryption_key=${"5a".repeat(32)}`,
    // Check 26: the contract is the same without sessions.
    `auth.sessions=${!IS_LONG}`,
  ];
  signed = await startSignedApi({ fids: [3, 4, 5, 6], settings });
  const { node } = signed.api;
  activateChannels(node.db);
  node.ingestAll([registers(CHANNEL, walletOf(3))]);
  node.ingestEvent(rentEvent(3, 1, { block: 900_000 }));
});
afterAll(() => signed[Symbol.asyncDispose]());

const requests = Object.entries(opByRequest)
  .filter(([request]) => !IS_LONG || !request.includes("/session"))
  .map(([request, op]) => {
    const [method, path = ""] = request.split(" ");
    return { method: method as Method, path, op };
  });

const app = { name: "App", app_url: "https://app.example/" };
const apiKey = { name: "Key", scopes: ["read"] };
const channel = { label: "pager", hook: { url: "https://hooks.example/page" } };
const loginClient = { name: "Login", origins: ["https://app.example"], permissions: "read" };
const session = {
  public_key: `0x${"11".repeat(32)}`,
  access: "read",
  label: "Test",
  origin: "https://node.example",
};
const CHANNEL = "books";
const webhook = { name: "Hook", url: "https://hook.example/", subscription: { cast_created: {} } };

/** Creates an app, a campaign of it, a webhook and an API key of the fid, by the operations under test. */
async function resources(fid: number): Promise<Ids> {
  const createdApp = await signed.call({ method: "POST", path: "/frame/app", body: app, fid });
  const path = `/webhook?owner_fid=${fid}`;
  const createdHook = await signed.call({ method: "POST", path, body: webhook, fid });
  const { app_id: appId, send_secrets } = createdApp.body.app;
  const campaignId = await send(appId, send_secrets[0].value);
  const imported = await signed.call({
    method: "POST",
    path: "/managed_signer/import",
    body: activeKey(fid),
    fid,
  });
  const webhookId = createdHook.body.webhook.webhook_id;
  const tested = await signed.call({
    method: "POST",
    path: "/webhook/test",
    body: { webhook_id: webhookId },
    fid,
  });
  const replayed = await signed.call({
    method: "POST",
    path: "/webhook/deliveries/replay",
    body: { webhook_id: webhookId, from: 0, only: "failed" },
    fid,
  });
  const createdKey = await signed.call({ method: "POST", path: "/api_key", body: apiKey, fid });
  const createdClient = await signed.call({ method: "POST", path: "/login_client", body: loginClient, fid });
  const createdChannel = await signed.call({ method: "POST", path: "/notice_channel", body: channel, fid });
  const post = async (route: string, body: object) =>
    (
      await signed.call({
        method: "POST",
        path: `/frame/app/${route}`,
        body: { app_id: appId, ...body },
        fid,
      })
    ).body;
  const send_at = signed.nowSecs() + 86_400;
  return {
    appId,
    scheduleId: (await post("campaign", { notification, send_at })).schedule.schedule_id,
    draftId: (await post("draft", { name: "D", send: {} })).draft.draft_id,
    segmentId: (await post("segment", { name: "S", filter: { fids: [3] } })).segment.segment_id,
    campaignId,
    webhookId,
    messageId: tested.body.deliveries[0].message_id,
    replayId: replayed.body.replay_id,
    apiKeyId: createdKey.body.api_key.api_key_id,
    signerUuid: imported.body.signer.signer_uuid,
    channelId: createdChannel.body.channel.channel_id,
    incidentId: await openIncident(fid),
    loginClientId: createdClient.body.login_client.client_id,
  };
}

let keys = 0;
let incidents = 0;

/** Opens an incident of a record of the fid; returns its id. */
async function openIncident(fid: number): Promise<string> {
  incidents += 1;
  const { incident } = await localStores(signed.api.state).incidents.open(
    {
      incidentId: randomBase58(12),
      checkId: "webhook_failing",
      nodeId: `hook-${incidents}`,
      ownerFid: fid,
      severity: "warning",
      sentence: "Deliveries fail.",
    },
    signed.nowSecs(),
  );
  return incident.incidentId;
}

/** The import of a new key that is active for the fid. */
function activeKey(fid: number) {
  keys += 1;
  const { publicKey, privateKey } = makeSigner(`key ${keys}`);
  signed.api.node.ingestEvent(signerEvent(fid, publicKey, { block: 1_000_000 + keys }));
  return { private_key: `0x${Buffer.from(privateKey).toString("hex")}`, fid };
}

/** The claim of an address of the fid, as its wallet signs it. */
function claim(fid: number) {
  const blockHash = new Uint8Array(32).fill(9);
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  const wallet = createKeyring().verifiedWallet(fid, 0);
  return {
    address: `0x${Buffer.from(wallet.address).toString("hex")}`,
    block_hash: `0x${blockHash.toHex()}`,
    eth_signature: `0x${Buffer.from(ethereumClaimSignature({ fid, blockHash, network }, wallet)).toString("hex")}`,
  };
}

interface Ids {
  readonly appId: string;
  readonly campaignId: string;
  readonly webhookId: string;
  readonly messageId: string;
  readonly replayId: string;
  readonly apiKeyId: string;
  readonly signerUuid: string;
  readonly channelId: string;
  readonly incidentId: string;
  readonly loginClientId: string;
  readonly scheduleId: string;
  readonly draftId: string;
  readonly segmentId: string;
}

const notification = { title: "T", body: "B", target_url: app.app_url };

/** Sends a notification without recipients; returns the campaign's id. */
async function send(appId: string, key: string): Promise<string> {
  const response = await fetch(`${signed.api.url}/v2/svc/frame/notifications/${appId}`, {
    method: "POST",
    headers: { "x-api-key": key },
    body: JSON.stringify({ notification }),
  });
  const { campaign_id } = (await response.json()) as { campaign_id: string };
  return campaign_id;
}

/** A request of this kind that succeeds if the fid signs it. */
function goodCall({ method, path }: { method: Method; path: string }, ids: Ids): TestCall {
  const [key, id, record] = path.startsWith("/frame")
    ? ["app_id", ids.appId, app]
    : path.startsWith("/api_key")
      ? ["api_key_id", ids.apiKeyId, apiKey]
      : path.startsWith("/login_client")
        ? ["client_id", ids.loginClientId, loginClient]
        : ["webhook_id", ids.webhookId, webhook];
  if (path === "/session")
    return method === "POST" ? { method, path, body: session } : { method, path: `${path}?all=true` };
  if (path.endsWith("/list") || path === "/audit") return { method, path };
  if (path.startsWith("/notice_channel")) return noticeCall({ method, path }, ids);
  if (path === "/user/channel/follow")
    return { method, path, body: { channel_id: CHANNEL, following: true } };
  if (path === "/user/address/verify") return { method, path, body: claim(3) };
  if (path === "/moderation/bans")
    return method === "GET" ? { method, path } : { method, path, body: { fids: [9] } };
  if (path === "/managed_signer/import") return { method, path, body: activeKey(3) };
  if (path === "/managed_signer/export") return { method, path, body: { signer_uuid: ids.signerUuid } };
  if (path === "/managed_signer" && method === "POST")
    return { method, path, body: { permissions: ["PUBLISH_CAST"] } };
  if (path === "/managed_signer/cast")
    return { method, path, body: { signer_uuid: ids.signerUuid, text: "gm" } };
  if (path === "/managed_signer") return { method, path: `${path}?signer_uuid=${ids.signerUuid}` };
  if (path.startsWith("/frame/app/campaign") && method === "POST")
    return { method, path, body: { app_id: ids.appId, notification } };
  if (path === "/frame/app/draft" && method === "POST")
    return { method, path, body: { app_id: ids.appId, name: "D", send: {} } };
  if (path === "/frame/app/segment" && method === "POST")
    return { method, path, body: { app_id: ids.appId, name: "S", filter: { fids: [3] } } };
  if (/\/(?:schedule|draft|segment)$/.test(path) && method === "DELETE") {
    const [kind = ""] = /\w+$/.exec(path) ?? [];
    return { method, path: `${path}?${kind}_id=${ids[`${kind}Id` as "draftId"]}` };
  }
  if (path.endsWith("/campaign") || path.endsWith("/campaign/results"))
    return { method, path: `${path}?campaign_id=${ids.campaignId}` };
  if (path === "/api_key/secret/rotate") return { method, path, body: { [key]: id } };
  if (path === "/webhook/delivery")
    return { method, path: `${path}?${key}=${id}&message_id=${ids.messageId}` };
  if (path === "/webhook/deliveries/replay" && method !== "POST")
    return { method, path: `${path}?replay_id=${ids.replayId}` };
  if (path === "/webhook/preview")
    return { method, path, body: { subscription: webhook.subscription, events: 1 } };
  if (path.endsWith("/rotate") || method === "GET" || method === "DELETE") {
    return { method, path: `${path}?${key}=${id}` };
  }
  if (path.endsWith("/replay")) return { method, path, body: { [key]: id, from: 0 } };
  if (path.endsWith("/test")) return { method, path, body: { [key]: id } };
  if (method !== "POST") return { method, path, body: { [key]: id, name: "Renamed" } };
  return { method, path: record === webhook ? `${path}?owner_fid=3` : path, body: record };
}

function noticeCall({ method, path }: { method: Method; path: string }, ids: Ids): TestCall {
  const { channelId: channel_id, incidentId: incident_id } = ids;
  if (method === "GET") return { method, path };
  if (method === "DELETE") return { method, path: `${path}?channel_id=${channel_id}` };
  if (method === "PUT") return { method, path, body: { channel_id, label: "Renamed" } };
  if (path.endsWith("/acknowledge")) return { method, path, body: { incident_id } };
  return { method, path, body: path.endsWith("/test") ? { channel_id } : channel };
}

/** The status of a request that succeeds. */
function successOf({ method, path }: { method: Method; path: string }): number {
  return method === "POST" && path === "/frame/app/campaign" ? 202 : 200;
}

/** Fails unless the request is rejected like this and leaves no row, not even a nonce. */
async function expectRefused(send: () => Promise<ApiResponse>, status: number, message?: string, nonces = 0) {
  const before = signed.rowCounts();
  const response = await send();
  expect(response).toEqual({ status, body: { message: message ?? expect.any(String) } });
  expect(signed.rowCounts()).toEqual({ ...before, nonces: (before.nonces ?? 0) + nonces });
}

/** Fails unless a request with a valid signature is rejected like this and leaves only its nonce. */
const expectRefusedAndSpent = (send: () => Promise<ApiResponse>, status: number, message?: string) =>
  expectRefused(send, status, message, 1);

test("the operation table matches the contract and contains every signed route", () => {
  const table = Object.values(signedOperations).map(({ method, path, op }) => [`${method} ${path}`, op]);
  expect(Object.fromEntries(table)).toEqual(opByRequest);
  const documented = Object.entries(signed.api.document.paths).flatMap(([path, item]) =>
    Object.entries(isObject(item) ? item : {})
      .filter(([, operation]) => JSON.stringify(operation).includes("signedSignature"))
      .map(([method]) => `${method.toUpperCase()} ${path.replace("/v2/svc", "")}`),
  );
  expect(documented.sort()).toEqual(Object.keys(opByRequest).sort());
});

/** What the requests concern; new ones after a request that deletes. */
let ids: Ids;

/** Replaces what a request may have deleted, as an owner has room for. */
async function renew(): Promise<void> {
  await signed.call({ method: "DELETE", path: `/frame/app?app_id=${ids.appId}` });
  await signed.call({ method: "DELETE", path: `/webhook?webhook_id=${ids.webhookId}` });
  await signed.call({ method: "DELETE", path: `/api_key?api_key_id=${ids.apiKeyId}` });
  await signed.call({ method: "DELETE", path: `/login_client?client_id=${ids.loginClientId}` });
  await signed.call({ method: "DELETE", path: `/notice_channel?channel_id=${ids.channelId}` });
  ids = await resources(3);
}

/** Waits for a campaign, which runs by itself: what it has to do ends with it. */
async function settle(): Promise<void> {
  while ((signed.rowCounts().campaign_audiences ?? 0) > 0) await Bun.sleep(5);
}

/** Operations that a signature may be for instead: all in the long form, else those of the same record and a few in turn. */
function otherOps(op: string, at: number): string[] {
  const all = [...new Set(Object.values(opByRequest))].filter((other) => other !== op);
  const [record = ""] = op.split(".");
  const isNear = (other: string, nth: number) => other.startsWith(`${record}.`) || nth % 24 === at % 24;
  return [...(IS_LONG ? all : all.filter(isNear)), "", "App.Create"];
}

beforeAll(async () => {
  ids = await resources(3);
});

describe.each(requests.map((request, at) => ({ ...request, at })))("$method $path", (request) => {
  const good = () => goodCall(request, ids);
  const isOver = request.method === "DELETE" || request.path.endsWith("/export");

  test.each(["", "/"])(
    "passes with the path spelt with %p at its end, once, and spends one nonce",
    async (end) => {
      const [route, query] = good().path.split("?");
      const call = { ...good(), path: `${route}${end}${query ? `?${query}` : ""}` };
      const headers = await signed.sign(call);
      const before = signed.rowCounts();
      expect((await signed.send(call, headers)).status).toBe(successOf(request));
      expect(signed.rowCounts().nonces).toBe((before.nonces ?? 0) + 1);
      await settle();
      await expectRefused(() => signed.send(call, headers), 401, "nonce was used before");
      if (isOver) await renew();
    },
  );

  test("is 401 if any header is missing or malformed", async () => {
    const headers = await signed.sign(good());
    const malformed: Record<string, string[]> = {
      "X-Svc-Fid": ["", "0x3", "-3", "3.0", "3,3", "18446744073709551616"],
      "X-Svc-Op": ["x".repeat(65)],
      "X-Svc-Signed-At": ["", "-1", "1.5e9", "soon", "9999999999999999"],
      "X-Svc-Nonce": ["", "0x", `0x${"00".repeat(31)}`, "00".repeat(32), `0x${"00".repeat(33)}`],
      "X-Svc-Signature": ["", "0x", `0x${"00".repeat(64)}`, `0x${"00".repeat(66)}`, `0x${"zz".repeat(65)}`],
    };
    const before = signed.rowCounts();
    for (const [name, values] of Object.entries(malformed)) {
      const { [name]: _left, ...others } = headers;
      expect(await signed.send(good(), others)).toEqual({
        status: 401,
        body: {
          message: expect.stringMatching(
            new RegExp(`^missing header ${name} \\(.+\\): an owner signs this request`),
          ),
        },
      });
      for (const value of values) {
        expect(await signed.send(good(), { ...headers, [name]: value })).toEqual({
          status: 401,
          body: { message: expect.stringMatching(new RegExp(`^malformed header ${name}: must be `)) },
        });
      }
    }
    expect(signed.rowCounts()).toEqual(before);
  });

  test("is 401 one second outside the window, and succeeds at its edges", async () => {
    const now = signed.nowSecs();
    for (const signedAt of [now - 301, now + 301]) {
      await expectRefused(() => signed.call({ ...good(), signedAt }), 401);
    }
    for (const signedAt of [now - 300, now + 300]) {
      expect((await signed.call({ ...good(), signedAt })).status).toBe(successOf(request));
      await settle();
      if (isOver) await renew();
    }
  });

  const notByCustody = "signature is not by the custody address of the fid";
  test.each<[string, Partial<TestCall>]>([
    ["chain", { domain: { chainId: 1 } }],
    ["domain name", { domain: { name: "svc" } }],
    ["domain version", { domain: { version: "2" } }],
    ["type", { typeName: "OtherSignedOp" }],
    ["wallet", { wallet: custodyWallet(4) }],
    ["time in the signature", { signed: { signedAt: 1n } }],
    ["body in the signature", { signed: { body: "{}" } }],
    ["op in the signature", { signed: { op: "app.other" } }],
    ["fid in the signature", { signed: { fid: 4n } }],
    ["fid in the signature, 2^32 above", { signed: { fid: 3n + 2n ** 32n } }],
  ])("is 401 with another %s", async (_what, change) => {
    await expectRefused(() => signed.call({ ...good(), ...change }), 401, notByCustody);
  });

  test("is 401 with a nonce other than the signed one, or a malformed signature", async () => {
    const headers = await signed.sign(good());
    const otherNonce = { ...headers, "X-Svc-Nonce": `0x${"ab".repeat(32)}` };
    await expectRefused(() => signed.send(good(), otherNonce), 401, notByCustody);
    const none = { ...headers, "X-Svc-Signature": `0x${"ff".repeat(64)}1b` };
    await expectRefused(() => signed.send(good(), none), 401, "signature is not valid");
  });

  test.each(["5000", "4294967299", "9007199254740995", "18446744073709551615"])(
    "is 401 for the unknown fid %s",
    async (fid) => {
      const headers = await signed.sign({ ...good(), signed: { fid: BigInt(fid) } });
      await expectRefused(() => signed.send(good(), { ...headers, "X-Svc-Fid": fid }), 401, "unknown fid");
    },
  );

  test("is 400 if the signature is for another operation", async () => {
    for (const op of otherOps(request.op, request.at)) {
      await expectRefused(
        () => signed.call({ ...good(), op }),
        400,
        `signed op does not match the HTTP method/path, which needs ${request.op}`,
      );
    }
  });

  test("is 401 for an invalid signature, whatever else is invalid, and 400 if only the operation differs", async () => {
    const [path = ""] = good().path.split("?");
    const call = { ...good(), path, ...(request.method === "GET" ? {} : { body: "{" }) };
    await expectRefused(() => signed.call({ ...call, wallet: custodyWallet(4) }), 401, notByCustody);
    if (!/\/(list|audit|incidents)$/.test(path) && request.op !== "ban.read")
      await expectRefusedAndSpent(() => signed.call(call), 400);
  });
});

test("after a transfer of an fid, its old owner is 401 and its new owner succeeds", async () => {
  const [seller, buyer] = [custodyWallet(5), makeWallet("buyer of 5")];
  const call = { method: "GET" as const, path: "/frame/app/list", fid: 5 };
  expect((await signed.call(call)).status).toBe(200);
  const signedBefore = await signed.sign(call);
  signed.api.node.ingestEvent(transferEvent(5, seller.address, buyer.address, { block: 2000 }));
  await expectRefused(() => signed.send(call, signedBefore), 401);
  await expectRefused(() => signed.call(call), 401);
  expect((await signed.call({ ...call, wallet: buyer })).status).toBe(200);
});

describe("the signature covers the body to the byte", () => {
  const bodies = [
    '{"name":"App","app_url":"https://app.example/"}',
    ' {\n\t"app_url" : "https://app.example/",   "name":"App" }\r\n',
    '{"name":"\\u0041pp","app_url":"https:\\/\\/app.example/"}',
    '{"name":"Äpp 🎈 e\u0301","app_url":"https://app.example/"}',
    '{"name":"first","name":"last","app_url":"https://app.example/"}',
  ];
  test.each(bodies)("%j succeeds unchanged and fails in any other spelling", async (body) => {
    const call = { method: "POST", path: "/frame/app", fid: 6, body } as const;
    expect((await signed.call(call)).status).toBe(200);
    const headers = await signed.sign(call);
    for (const other of [`${body} `, JSON.stringify(JSON.parse(body)), body.normalize("NFC")]) {
      if (other !== body) await expectRefused(() => signed.send({ ...call, body: other }, headers), 401);
    }
  });

  test("with any content type, or without one", async () => {
    const call = {
      method: "POST",
      path: "/frame/app",
      fid: 6,
      body: Buffer.from(JSON.stringify(app)),
    } as const;
    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded", undefined]) {
      const headers = { ...(await signed.sign(call)), ...(type ? { "content-type": type } : {}) };
      expect((await signed.send(call, headers)).status).toBe(200);
    }
  });

  test("bytes that are not UTF-8 are verified as bytes, and then 400", async () => {
    const body = Uint8Array.of(0x22, 0xff, 0x22);
    const call = { method: "POST", path: "/frame/app", fid: 6, body } as const;
    await expectRefusedAndSpent(
      () => signed.call(call),
      400,
      "request body is not valid JSON: it is not UTF-8",
    );
    await expectRefused(() => signed.call({ ...call, wallet: custodyWallet(4) }), 401);
  });

  test("an empty body is hashed as no bytes", async () => {
    await expectRefusedAndSpent(
      () => signed.call({ method: "POST", path: "/frame/app", fid: 6, body: "" }),
      400,
      "missing request body",
    );
    const { status } = await signed.call({ method: "DELETE", path: "/frame/app?app_id=x", fid: 6, body: "" });
    expect(status).toBe(404);
  });
});

test("a fid with leading zeros and a nonce in capitals are the same fid and the same nonce", async () => {
  const call = { method: "GET", path: "/frame/app/list", nonce: `0x${"ab".repeat(32)}` } as const;
  const headers = await signed.sign(call);
  const spelt = { ...headers, "X-Svc-Fid": "0003", "X-Svc-Nonce": `0x${"AB".repeat(32)}` };
  expect((await signed.send(call, spelt)).status).toBe(200);
  await expectRefused(() => signed.send(call, headers), 401, "nonce was used before");
});

test("two fids may use the same nonce", async () => {
  const call = { method: "GET", path: "/frame/app/list", nonce: `0x${"cd".repeat(32)}` } as const;
  expect((await signed.call({ ...call, fid: 3 })).status).toBe(200);
  expect((await signed.call({ ...call, fid: 4 })).status).toBe(200);
});
