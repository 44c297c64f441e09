import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { privateKeyToAccount } from "viem/accounts";
import { sdkClient } from "../api/compat/sdk.ts";
import { accountRecords, rentNow } from "../support/node.ts";
import { signText } from "../support/sign-in.ts";
import { type ApiResponse, startSignedApi } from "../support/signed-api.ts";
import { custodyWallet } from "../support/signing.ts";

const OWNER = 3;
const USER = 9;
const ORIGIN = "https://app.example";
const REDIRECT = "https://app.example/done";
let signed: Awaited<ReturnType<typeof startSignedApi>>;
let secret: string;
beforeAll(async () => {
  signed = await startSignedApi({
    compatPrefixes: ["farcaster"],
    settings: [`signers.encryption_key=${"5a".repeat(32)}`],
    fids: [OWNER],
    linksToItself: true,
  });
  signed.api.node.clock.setMs(Date.now());
  signed.api.node.ingestAll(accountRecords(USER));
  rentNow(signed.api.node, USER);
  const body = { name: "k", scopes: ["signers", "write"] };
  ({ secret } = (await signed.call({ method: "POST", path: "/api_key", body })).body);
});
afterAll(() => signed[Symbol.asyncDispose]());

async function createClient(permissions: "read" | "write", more: object = {}): Promise<string> {
  const body = {
    name: "App",
    origins: [ORIGIN],
    redirect_uris: [REDIRECT, "myapp://"],
    permissions,
    ...more,
  };
  const created = await signed.call({
    method: "POST",
    path: "/login_client",
    body,
  });
  if (!created.body.login_client) throw new Error(JSON.stringify(created.body));
  return created.body.login_client.client_id;
}

async function post(path: string, body: object) {
  const response = await fetch(`${signed.api.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as ApiResponse["body"] };
}

const wallet = custodyWallet(USER);
const account = privateKeyToAccount(`0x${Buffer.from(wallet.privateKey).toString("hex")}`);

/** Signs the message of the page, and sends it. */
async function submit(clientId: string, more: object = {}) {
  const asked = await post(`/login/${clientId}/message`, { address: account.address, fid: USER });
  const { message } = asked.body;
  return post(`/login/${clientId}/submit`, { message, signature: signText(message, wallet), ...more });
}

describe("the login page", () => {
  test("a client that reads gets who signed in, and no signer", async () => {
    const { status, body } = await submit(await createClient("read"));
    expect(status).toBe(200);
    expect(body.result).toMatchObject({
      message: { is_authenticated: true, signer_uuid: null, fid: String(USER), signer_permissions: [] },
      redirect_to: null,
    });
  });

  test("check 21: a code counts once, only for its client and redirect URI", async () => {
    const clientId = await createClient("read");
    const exchange = (body: object) =>
      fetch(`${signed.api.url}/v2/farcaster/login/token`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": secret },
        body: JSON.stringify({ client_id: clientId, redirect_uri: REDIRECT, ...body }),
      });
    const codeOf = async () => {
      const { body } = await submit(clientId, { redirect_uri: REDIRECT, state: "a&b" });
      const to = new URL(body.result.redirect_to);
      expect(to.searchParams.get("state")).toBe("a&b");
      return to.searchParams.get("code");
    };
    const code = await codeOf();
    expect(await (await exchange({ code })).json()).toMatchObject({
      is_authenticated: true,
      fid: String(USER),
    });
    expect((await exchange({ code })).status).toBe(401);
    expect((await exchange({ code: await codeOf(), redirect_uri: "https://app.example/other" })).status).toBe(
      401,
    );
    expect((await exchange({ code: await codeOf(), client_id: await createClient("read") })).status).toBe(
      401,
    );
    // A code counts for 60 seconds.
    const [inTime, late] = [await codeOf(), await codeOf()];
    const { clock } = signed.api.node;
    const nowMs = clock.nowMs();
    clock.setMs(nowMs + 59_000);
    expect((await exchange({ code: inTime })).status).toBe(200);
    clock.setMs(nowMs + 60_000);
    expect((await exchange({ code: late })).status).toBe(401);
    clock.setMs(nowMs);
    expect((await submit(clientId, { redirect_uri: "https://evil.example/" })).status).toBe(400);
    expect((await submit(clientId, { deeplink_url: "otherapp://x" })).status).toBe(400);
  });

  test("a deep link that the client has registered gets the result, without a code", async () => {
    const clientId = await createClient("read");
    const { body } = await submit(clientId, { deeplink_url: "myapp://login/done?from=node" });
    const to = new URL(body.result.redirect_to);
    expect(`${to.protocol}//${to.host}${to.pathname}`).toBe("myapp://login/done");
    expect(Object.fromEntries(to.searchParams)).toEqual({
      from: "node",
      is_authenticated: "true",
      signer_uuid: "",
      fid: String(USER),
    });
    for (const deeplink of ["https://app.example/done", "otherapp://done", "javascript:alert(1)", "myapp"])
      expect((await submit(clientId, { deeplink_url: deeplink })).status).toBe(400);
    const page = (link: string) =>
      fetch(`${signed.api.url}/login?client_id=${clientId}&deeplink_url=${encodeURIComponent(link)}`);
    expect((await page("myapp://login")).status).toBe(200);
    expect((await page("otherapp://login")).status).toBe(400);
  });

  test("a client that writes gets a signer of its owner once the user has approved it in the same visit", async () => {
    const clientId = await createClient("write");
    const first = (await submit(clientId)).body;
    expect(first.approval.token).toBeString();
    expect((await post(`/login/${clientId}/finish`, { visit: first.approval.visit })).status).toBe(409);
    const { token, visit } = first.approval;
    const prepared = (await post(`/approve/${token}/prepare`, { address: account.address })).body;
    const { nonce, deadline } = prepared.key_add.message;
    const approved = await post(`/approve/${token}/submit`, {
      fid: USER,
      nonce,
      deadline: Number(deadline),
      custody_signature: await account.signTypedData(prepared.key_add),
      request_signature: await account.signTypedData(prepared.key_request),
    });
    expect(approved.body.status).toBe("approved");
    const { result } = (await post(`/login/${clientId}/finish`, { visit })).body;
    expect(result.message).toMatchObject({ fid: String(USER), signer_permissions: ["WRITE_ALL"] });
    const client = sdkClient(signed.api.url, { apiKey: secret });
    const cast = await client.publishCast({ signerUuid: result.message.signer_uuid, text: "by login" });
    expect(cast.success).toBe(true);
    expect((await post(`/login/${clientId}/finish`, { visit })).status).toBe(404);
    // A user with a signer of this owner signs only the message.
    expect((await submit(clientId)).body.result.message.signer_uuid).toBe(result.message.signer_uuid);
  });

  test("a message counts once, only for the page of its client", async () => {
    const [clientId, other] = [await createClient("read"), await createClient("read")];
    const signedFor = async (uri: string) => {
      const { message } = (await post(`/login/${uri}/message`, { address: account.address, fid: USER })).body;
      return { message, signature: signText(message, wallet) };
    };
    const elsewhere = await post(`/login/${clientId}/submit`, await signedFor(other));
    expect(elsewhere).toMatchObject({
      status: 400,
      body: { message: "URI of the message is not the page of the client" },
    });
    const own = await signedFor(clientId);
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => post(`/login/${clientId}/submit`, own)));
    expect(outcomes.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    // Who signs for an app by a channel of its relay has not signed in here, whatever nonce that app gave.
    const asked = await post(`/login/${clientId}/message`, { address: account.address, fid: USER });
    const nonce = /Nonce: (\w+)/.exec(asked.body.message)?.[1];
    const domain = new URL(signed.api.url).host;
    const siweUri = `${signed.api.url}/login?client_id=${clientId}`;
    const { body: channel } = await post("/v1/channel", { domain, siweUri, nonce });
    const signature = signText(asked.body.message, wallet);
    const taken = await fetch(`${signed.api.url}/v1/channel/authenticate`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${channel.channelToken}` },
      body: JSON.stringify({ message: asked.body.message, signature }),
    });
    expect(taken.status).toBe(201);
    const again = await post(`/login/${clientId}/submit`, { message: asked.body.message, signature });
    expect(again).toMatchObject({ status: 400, body: { message: "nonce is unknown, used or expired" } });
  });

  test("a client has exact https origins, a UUID of its own, and one owner", async () => {
    const create = (more: object) =>
      signed.call({
        method: "POST",
        path: "/login_client",
        body: { name: "App", origins: [ORIGIN], permissions: "read", ...more },
      });
    for (const origin of [
      "https://app.example/",
      "https://*.example",
      "http://app.example",
      "https://u@app.example",
      "https://APP.example",
      "null",
      "https://app.example:443",
    ])
      expect((await create({ origins: [origin] })).status).toBe(400);
    expect((await create({ origins: [] })).status).toBe(400);
    expect((await create({ permissions: "admin" })).status).toBe(400);
    for (const uri of ["javascript:alert(1)", "data:text/html,x", "http://app.example/done", "not a url"])
      expect((await create({ redirect_uris: [uri] })).status).toBe(400);
    expect((await create({ client_id: "not-a-uuid" })).status).toBe(400);
    const client_id = crypto.randomUUID();
    expect((await create({ client_id })).body.login_client.client_id).toBe(client_id);
    expect(await create({ client_id })).toMatchObject({
      status: 400,
      body: { message: "the id is that of another login client" },
    });
    const path = `/login_client?client_id=${client_id}`;
    expect((await signed.call({ method: "GET", path, fid: USER })).status).toBe(403);
    const change = { client_id, permissions: "write" };
    const update = (by: number) =>
      signed.call({ method: "PUT", path: "/login_client", body: change, fid: by });
    expect((await update(USER)).status).toBe(403);
    expect((await update(OWNER)).body.login_client.permissions).toBe("write");
    expect((await signed.call({ method: "DELETE", path })).body.deleted).toBe(true);
    expect((await fetch(`${signed.api.url}/login?client_id=${client_id}`)).status).toBe(404);
  });

  test("the page keeps its opener, is in no frame, and names only what is registered", async () => {
    const clientId = await createClient("read");
    const page = await fetch(`${signed.api.url}/login?client_id=${clientId}`);
    expect(page.status).toBe(200);
    expect(page.headers.get("cross-origin-opener-policy")).toBe("unsafe-none");
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect((await fetch(`${signed.api.url}/login?client_id=${crypto.randomUUID()}`)).status).toBe(404);
    const elsewhere = `${signed.api.url}/login?client_id=${clientId}&redirect_uri=https://evil.example/`;
    expect((await fetch(elsewhere)).status).toBe(400);
  });

  test("fetchAuthorizationUrl of the SDK resolves to the page", async () => {
    const clientId = await createClient("read");
    const client = sdkClient(signed.api.url, { apiKey: secret });
    const { authorization_url } = await client.fetchAuthorizationUrl({ clientId, responseType: "code" });
    expect(authorization_url).toBe(`${signed.api.url}/login?client_id=${clientId}`);
  });
});
