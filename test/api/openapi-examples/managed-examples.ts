import { createSiweMessage } from "viem/siwe";
import { getAddress, hashMessage, hashTypedData } from "viem/utils";
import { sealEnvelope } from "../../../src/demo/push-client.ts";
import { clientFidsOf } from "../../../src/demo/roster.ts";
import type { Json, JsonObject } from "../../../src/http/openapi/document.ts";
import type { OperationExample } from "../../../src/http/openapi/examples.ts";
import { nowSecs } from "../../../src/runtime/clock.ts";
import type { TestApi } from "../../support/api.ts";
import { signDigest } from "../../support/messages.ts";
import {
  CHAIN_REQUEST_DOMAIN,
  GASLESS_REQUEST_DOMAIN,
  signedKeyRequest,
} from "../../support/signed-key-request.ts";
import { type Method, signedHeaders } from "../../support/signing.ts";
import { localStores } from "../../support/state-stores.ts";
import { keyring, OWNER_FID } from "./demo-api.ts";
import { messageExamples } from "./message-examples.ts";
import {
  type DialectName,
  type DocumentedOperation,
  type ExampleRequest,
  type ExampleResponse,
  exampleOf,
  queryText,
  relativePathOf,
  send,
} from "./operations.ts";
import { publishExamples } from "./publish-examples.ts";

const APP_URL = "https://chess.example";
const NOTIFIED_FID = 4;
export const LOGIN_CLIENT_ID = "3f2a6d0e-57c1-4b8e-9d34-6a1f0b7c2e58";

/**
 * The examples of apps, notifications and webhooks of one dialect, each from a request in the life of an app and of a
 * webhook: created, used, deleted. All requests are about the same ids, so that the examples fit together.
 */
export async function managedExamples(
  api: TestApi,
  dialect: DialectName,
  operations: readonly DocumentedOperation[],
): Promise<Record<string, OperationExample>> {
  const examples: Record<string, OperationExample> = {};
  const operationOf = (id: string): DocumentedOperation => {
    const operation = operations.find((one) => one.dialect === dialect && one.id === id);
    if (!operation) throw new Error(`the ${dialect} dialect has no operation ${id}`);
    return operation;
  };
  async function call(id: string, request: ExampleRequest): Promise<ExampleResponse> {
    const response = await send(api, operationOf(id), request);
    const before = examples[id]?.responses;
    const example = exampleOf(request, response);
    // One that has several successes has an example of each.
    examples[id] = { ...example, responses: { ...before, ...example.responses } };
    return response;
  }
  async function signed(id: string, request: ExampleRequest = {}): Promise<Json> {
    const operation = operationOf(id);
    const headers = await signedHeaders({
      method: operation.method.toUpperCase() as Method,
      path: relativePathOf(operation) + queryText(request.query),
      body: request.body === undefined ? "" : JSON.stringify(request.body),
      fid: OWNER_FID,
      signedAt: nowSecs(api.node.clock),
      wallet: keyring.custody(OWNER_FID),
    });
    return (await call(id, { ...request, headers })).body;
  }

  const created = (await signed("createApp", { body: { name: "Chess", app_url: APP_URL } })) as unknown as {
    app: { app_id: string; send_secrets: { value: string }[] };
  };
  const appId = created.app.app_id;
  const apiKey = { "x-api-key": created.app.send_secrets[0]?.value ?? "" };
  const ofApp = { query: { app_id: appId } };
  await signed("getApp", ofApp);
  await signed("listApps");
  await signed("updateApp", { body: { app_id: appId, description: "Chess with friends" } });

  const pathParams = { app_id: appId };
  await call("receiveTokenEvent", { pathParams, body: tokenEvent() });
  await signed("listAppTokens", { query: { ...ofApp.query, limit: 1 } });
  const notification = {
    title: "Your move",
    body: "tove took your rook.",
    target_url: `${APP_URL}/game/7`,
    uuid: "3f2b8d9c-5c0e-4f6a-9d0b-7a1e2c3d4e5f",
  };
  const body = { notification, target_fids: [NOTIFIED_FID] };
  const sends: [id: string, request: ExampleRequest][] = [
    ["sendNotification", { pathParams, headers: apiKey, body }],
  ];
  if (dialect === "compat") {
    const another = { ...notification, uuid: "9b6c1f0e-2d3a-4b5c-8e7f-0a1b2c3d4e5f" };
    sends.push(["sendNotificationOfKey", { headers: apiKey, body: { ...body, notification: another } }]);
  }
  for (const [id, request] of sends) await call(id, request);
  if (dialect === "native") {
    await signed("getAppAudience", { query: { ...ofApp.query, days: 2 } });
    await signed("estimateSend", { body: { app_id: appId, ...body } });
  }
  if (dialect === "compat") {
    await call("listCampaignsOfKey", { query: { limit: 1 }, headers: apiKey });
    await call("listTokensOfKey", { query: { limit: 1 }, headers: apiKey });
  }
  await signed("listAppCampaigns", { query: { ...ofApp.query, limit: 1 } });
  const sent = (examples.sendNotification?.responses["200"] ?? {}) as JsonObject;
  await signed("getAppCampaign", { query: { campaign_id: sent.campaign_id ?? null } });
  // These are last, because their campaigns continue after the response.
  if (dialect === "native") {
    const again = { ...notification, uuid: "c7d8e9f0-1a2b-4c3d-8e4f-5a6b7c8d9e0f" };
    await signed("sendCampaign", { body: { app_id: appId, ...body, notification: again }, status: 202 });
    const report = {
      app_id: appId,
      open: "7Hq2mXcW9d",
      fid: NOTIFIED_FID,
      client_fid: 9152,
      zone: "Europe/Berlin",
    };
    examples.reportOpen = exampleOf({ body: report }, { status: 204, body: null });
    await scheduleExamples(
      signed,
      appId,
      { title: again.title, body: again.body, target_url: again.target_url },
      nowSecs(api.node.clock),
    );
  }
  for (const [id, request] of sends) {
    const headers = { ...request.headers, prefer: "respond-async" };
    const queued = await send(api, operationOf(id), { ...request, headers, status: 202 });
    const { responses } = exampleOf(request, queued);
    examples[id] = { ...examples[id], responses: { ...examples[id]?.responses, ...responses } };
  }
  await signed("rotateAppSecret", ofApp);
  await signed("deleteApp", ofApp);

  await webhookExamples(api, dialect, signed);
  if (dialect === "native") {
    await apiKeyExamples(signed);
    await sessionExamples(signed);
    await loginClientExamples(signed);
    await noticeExamples(api, signed);
    await banExamples(signed);
    await managedSignerExamples(signed);
  } else {
    await signerExamples(api, call);
    Object.assign(examples, await messageExamples(api, operationOf));
    Object.assign(examples, await publishExamples(api, operationOf));
  }
  return examples;
}

/** A segment, a draft of a send to it, and the send at seven in the morning of each person. */
async function scheduleExamples(
  signed: (id: string, request?: ExampleRequest) => Promise<Json>,
  appId: string,
  notification: JsonObject,
  nowSecs: number,
): Promise<void> {
  const ofApp = { query: { app_id: appId } };
  const filter = { not_opened_within_days: 14 };
  const saved = (await signed("saveSegment", {
    body: { app_id: appId, name: "Quiet people", filter },
  })) as JsonObject;
  const { segment_id = null } = saved.segment as JsonObject;
  await signed("listSegments", ofApp);
  const send = { ...notification, segment_id, local_time: "2026-12-01T07:00" };
  const draft = (await signed("saveDraft", {
    body: { app_id: appId, name: "First of December", send },
  })) as JsonObject;
  await signed("listDrafts", ofApp);
  const plan = {
    send_at: nowSecs + 7_200,
    time_zone: "Europe/Berlin",
    late_ok_secs: 1800,
    track_opens: true,
  };
  const { schedule } = (await signed("sendCampaign", {
    body: { app_id: appId, notification, segment_id, ...plan },
    status: 202,
  })) as { schedule: JsonObject };
  await signed("listSchedules", ofApp);
  await signed("getAppRetention", ofApp);
  await signed("getSendResults", { query: { schedule_id: schedule.schedule_id ?? null } });
  await signed("cancelSchedule", { query: { schedule_id: schedule.schedule_id ?? null } });
  await signed("deleteDraft", { query: { draft_id: (draft.draft as JsonObject).draft_id ?? null } });
  await signed("deleteSegment", { query: { segment_id } });
}

const hexOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}` as const;

/** A key that is on the chain of the demo network, as its owner would move it here. */
async function managedSignerExamples(
  signed: (id: string, request?: ExampleRequest) => Promise<Json>,
): Promise<void> {
  const [clientFid = 0] = clientFidsOf(NOTIFIED_FID);
  const { seed } = keyring.signer(NOTIFIED_FID, clientFid);
  const body = { private_key: hexOf(seed), fid: NOTIFIED_FID };
  const { signer } = (await signed("importManagedSigner", { body })) as unknown as {
    signer: { signer_uuid: string };
  };
  const ofSigner = { signer_uuid: signer.signer_uuid };
  await signed("getManagedSigner", { query: ofSigner });
  await signed("listManagedSigners");
  await signed("createManagedSigner", { body: { permissions: ["PUBLISH_CAST"], fid: NOTIFIED_FID } });
  await signed("exportManagedSigner", { body: ofSigner });
  await signed("deleteManagedSigner", { query: ofSigner });
  await signed("listAuditEntries", { query: { limit: 1 } });
}

/** The signer of an app, from its creation to the sign-in of its user. */
async function signerExamples(
  api: TestApi,
  call: (id: string, request: ExampleRequest) => Promise<ExampleResponse>,
): Promise<void> {
  const body = JSON.stringify({ name: "app", scopes: ["signers"] });
  const headersOfOwner = await signedHeaders({
    method: "POST",
    path: "/api_key",
    body,
    fid: OWNER_FID,
    signedAt: nowSecs(api.node.clock),
    wallet: keyring.custody(OWNER_FID),
  });
  const made = await fetch(`${api.url}/v2/svc/api_key`, { method: "POST", headers: headersOfOwner, body });
  const { secret } = (await made.json()) as { secret: string };
  const headers = { "x-api-key": secret };
  const created = (await call("createSigner", { headers })).body as unknown as {
    signer_uuid: string;
    public_key: `0x${string}`;
  };
  const { signer_uuid, public_key } = created;
  const wallet = keyring.custody(OWNER_FID);
  const deadline = nowSecs(api.node.clock) + 3600;
  /** The app's signature for a key. */
  const asked = (key: `0x${string}`, domain: object = GASLESS_REQUEST_DOMAIN) => {
    const data = signedKeyRequest({ domain, requestFid: OWNER_FID, key, deadline });
    const signature = hexOf(signDigest(Buffer.from(hashTypedData(data).slice(2), "hex"), wallet));
    return { app_fid: OWNER_FID, deadline, signature };
  };
  await call("registerSignedKey", { headers, body: { signer_uuid, ...asked(public_key) } });
  const held = `0x${"7a".repeat(32)}` as const;
  await call("registerDeveloperManagedSignedKey", { headers, body: { public_key: held, ...asked(held) } });
  const address = `0x${"7b".repeat(20)}` as const;
  const padded = `0x${"00".repeat(12)}${"7b".repeat(20)}` as const;
  await call("registerAuthAddressSignedKey", {
    headers,
    body: { address, ...asked(padded, CHAIN_REQUEST_DOMAIN) },
  });
  await call("lookupSigner", { headers, query: { signer_uuid } });
  const { nonce } = (await call("fetchNonce", { headers })).body as unknown as { nonce: string };
  const message = createSiweMessage({
    address: getAddress(hexOf(wallet.address)),
    chainId: 10,
    domain: "chess.example",
    uri: APP_URL,
    version: "1",
    nonce,
    issuedAt: new Date(api.node.clock.nowMs()),
  });
  const signedIn = signDigest(Buffer.from(hashMessage(message).slice(2), "hex"), wallet);
  await call("fetchSigners", { headers, query: { message, signature: hexOf(signedIn) } });
}

async function apiKeyExamples(
  signed: (id: string, request?: ExampleRequest) => Promise<Json>,
): Promise<void> {
  const body = { name: "backend", scopes: ["read", "write"] };
  const { api_key: key } = (await signed("createApiKey", { body })) as unknown as {
    api_key: { api_key_id: string };
  };
  const ofKey = { api_key_id: key.api_key_id };
  await signed("getApiKey", { query: ofKey });
  await signed("listApiKeys");
  await signed("getApiKeyUsage", { query: ofKey });
  await signed("updateApiKey", { body: { ...ofKey, scopes: ["read", "write", "webhooks"] } });
  await signed("rotateApiKeySecret", { body: { ...ofKey, grace_secs: 3600 } });
  await signed("deleteApiKey", { query: ofKey });
}

async function sessionExamples(
  signed: (id: string, request?: ExampleRequest) => Promise<Json>,
): Promise<void> {
  const body = {
    public_key: `0x${"5e".repeat(32)}`,
    access: "operate",
    ttl_secs: 28_800,
    label: "Firefox on a laptop",
    origin: "https://node.example",
  };
  const { session } = (await signed("createSession", { body })) as unknown as {
    session: { session_id: string };
  };
  await signed("listSessions");
  await signed("deleteSession", { query: { session_id: session.session_id } });
}

async function loginClientExamples(
  signed: (id: string, request?: ExampleRequest) => Promise<Json>,
): Promise<void> {
  const body = {
    client_id: LOGIN_CLIENT_ID,
    name: "Chess",
    origins: ["https://chess.example"],
    redirect_uris: ["https://chess.example/signed-in"],
    permissions: "write",
  };
  await signed("createLoginClient", { body });
  const ofClient = { client_id: LOGIN_CLIENT_ID };
  await signed("getLoginClient", { query: ofClient });
  await signed("listLoginClients");
  await signed("updateLoginClient", { body: { ...ofClient, permissions: "read" } });
  await signed("deleteLoginClient", { query: ofClient });
}

async function noticeExamples(
  api: TestApi,
  signed: (id: string, request?: ExampleRequest) => Promise<Json>,
): Promise<void> {
  const body = { label: "Pager", hook: { url: "https://ntfy.example/my-topic", preset: "ntfy" } };
  const { channel } = (await signed("createNoticeChannel", { body })) as unknown as {
    channel: { channel_id: string };
  };
  const { channel_id } = channel;
  await signed("listNoticeChannels");
  await signed("updateNoticeChannel", {
    body: { channel_id, label: "Pager", quiet_hours: "22:00-07:00", zone: "Europe/Berlin" },
  });
  await signed("testNoticeChannel", { body: { channel_id } });
  const incident_id = "4fQ7xk2Zb9Ln";
  await localStores(api.state).incidents.open(
    {
      incidentId: incident_id,
      checkId: "webhook_failing",
      nodeId: "6fce4b7a-5d36-4b1e-8f4e-0c5a7d1c9b20",
      ownerFid: OWNER_FID,
      severity: "warning",
      sentence:
        "Deliveries of webhook 6fce4b7a-5d36-4b1e-8f4e-0c5a7d1c9b20 to bread.example fail: 7 of the last 7 when this opened. Last failure: 500.",
    },
    Math.floor(api.node.clock.nowMs() / 1000),
  );
  await signed("listOwnIncidents");
  await signed("acknowledgeOwnIncident", { body: { incident_id } });
  await signed("deleteNoticeChannel", { query: { channel_id } });
}

async function banExamples(signed: (id: string, request?: ExampleRequest) => Promise<Json>): Promise<void> {
  const body = { fids: [4, 60] };
  await signed("addAppBans", { body });
  await signed("listAppBans");
  await signed("removeAppBans", { body });
}

async function webhookExamples(
  api: TestApi,
  dialect: DialectName,
  signed: (id: string, request?: ExampleRequest) => Promise<Json>,
): Promise<void> {
  const kind = "cast.created" as const;
  const hook = {
    name: "Bread",
    url: "https://hooks.example/bread",
    subscription: { [kind]: { text: "(?i)bread" } },
  };
  const query: JsonObject = dialect === "native" ? { owner_fid: OWNER_FID } : {};
  const { webhook } = (await signed("createWebhook", { query, body: hook })) as unknown as {
    webhook: { webhook_id: string };
  };
  const webhookId = webhook.webhook_id;
  const ofHook = { query: { webhook_id: webhookId } };
  await signed("getWebhook", ofHook);
  await signed("listWebhooks");
  await signed("updateWebhook", { body: { webhook_id: webhookId, name: "Bread and butter" } });
  await signed("patchWebhook", { body: { webhook_id: webhookId, active: true } });
  const messageId = await deliverOnce(api, webhookId);
  await signed("listWebhookDeliveries", { query: { webhook_id: webhookId, limit: 1 } });
  await signed("getWebhookDelivery", { query: { webhook_id: webhookId, message_id: messageId } });
  await signed("getWebhookStats", { query: { webhook_id: webhookId, hours: 1 } });
  const subscription = { [kind]: { text: "(?i)bread" }, "follow.created": { target_fids: [OWNER_FID] } };
  await signed("previewWebhook", { body: { subscription, events: 100 } });
  const missing = { body: { webhook_id: webhookId, from: 0, only: "missing" }, status: 202 };
  const { replay_id } = (await signed("replayWebhookDeliveries", missing)) as unknown as {
    replay_id: string;
  };
  await signed("replayWebhookDeliveries", { body: { webhook_id: webhookId, message_id: messageId } });
  await signed("getWebhookReplay", { query: { replay_id } });
  await signed("cancelWebhookReplay", { query: { replay_id } });
  await signed("testWebhook", { body: { webhook_id: webhookId } });
  await signed("rotateWebhookSecret", ofHook);
  await signed("deleteWebhook", ofHook);
}

/** Queues an event for a webhook and settles its delivery like the worker; returns the message id. */
async function deliverOnce({ state, node }: TestApi, webhookId: string): Promise<string> {
  const nowMs = node.clock.nowMs();
  const { publications, queue } = localStores(state);
  const event = {
    eventId: "0123456789abcdef0123456789abcdef",
    kind: "cast.created" as const,
    createdAt: nowSecs(node.clock),
    body: "{}",
    webhookIds: [webhookId],
  };
  const { version } = await publications.changesSince(0);
  await publications.publish({ version, nowSecs: event.createdAt, events: [event] });
  const limit = { calls: 1000, windowMs: 60_000, maxWaitMs: 900_000 };
  const claim = {
    webhookId,
    nowMs,
    leaseEndsAtMs: nowMs + 40_000,
    maxRetryDelayMs: 3_600_000,
    limit,
    max: 1,
    maxHoldMs: 0,
  };
  const delivery = (await queue.claim(claim))?.deliveries[0];
  if (!delivery) throw new Error("no delivery is due");
  const attempt = { atMs: nowMs, status: 204, error: null, durationMs: 38, responseText: "" };
  const settlement = { delivery, attempt, verdict: { kind: "delivered" as const }, holdUntilMs: null };
  await queue.settle([settlement], { failures: 100, runSecs: 86_400 });
  return delivery.messageId;
}

/** A user adds the mini app in a client app, which registers a token. */
function tokenEvent(): Json {
  const [clientFid = 0] = clientFidsOf(NOTIFIED_FID);
  const details = { url: "https://client.example/notify", token: "3a1f0c2e-9d7b-4c55-8e21-6b0f4d2a7c90" };
  const payload = { event: "miniapp_added", notificationDetails: details };
  return { ...sealEnvelope(NOTIFIED_FID, keyring.signer(NOTIFIED_FID, clientFid), payload) };
}
