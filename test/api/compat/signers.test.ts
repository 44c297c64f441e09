import { afterAll, describe, expect, test } from "bun:test";
import { privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { decodeFunctionData } from "viem/utils";
import { approveSigner } from "../../../src/cli/operations/approve-signer.ts";
import { keyGateway } from "../../../src/transactions/contracts.ts";
import { registerEvent, signerEvent } from "../../support/events.ts";
import { requestMetadata } from "../../support/gasless-keys.ts";
import { makeWallet } from "../../support/messages.ts";
import { startSignedApi } from "../../support/signed-api.ts";
import {
  CHAIN_REQUEST_DOMAIN,
  GASLESS_REQUEST_DOMAIN,
  signedKeyRequest,
} from "../../support/signed-key-request.ts";
import { custodyWallet } from "../../support/signing.ts";
import { sdkClient, sdkError } from "./sdk.ts";

const OWNER = 3;
const APP = 4;
const USER = 9;
const signed = await startSignedApi({
  compatPrefixes: ["farcaster"],
  settings: [`signers.encryption_key=${"5a".repeat(32)}`],
  fids: [OWNER, APP, USER],
});
const { api } = signed;
// The SDK's helper goes by the machine's clock.
api.node.clock.setMs(Date.now());
afterAll(() => signed[Symbol.asyncDispose]());

const accountOf = (wallet: { readonly privateKey: Uint8Array }) =>
  privateKeyToAccount(`0x${Buffer.from(wallet.privateKey).toString("hex")}`);
const custody = (fid: number) => accountOf(custodyWallet(fid));

async function keyOf(scopes: readonly string[], fid = OWNER): Promise<string> {
  const body = { name: "k", scopes };
  return (await signed.call({ method: "POST", path: "/api_key", body, fid })).body.secret;
}
const client = sdkClient(api.url, { apiKey: await keyOf(["signers"]) });
const stranger = sdkClient(api.url, { apiKey: await keyOf(["signers"], APP) });

async function register(
  { signer_uuid, public_key }: { readonly signer_uuid: string; readonly public_key: string },
  options: {
    domain?: object;
    account?: ReturnType<typeof custody>;
    deadline?: number;
  } = {},
) {
  const {
    domain = CHAIN_REQUEST_DOMAIN,
    account = custody(APP),
    deadline = signed.nowSecs() + 3600,
  } = options;
  const signature = await account.signTypedData(
    signedKeyRequest({ domain, requestFid: APP, key: public_key as `0x${string}`, deadline }),
  );
  return client.registerSignedKey({ signerUuid: signer_uuid, appFid: APP, deadline, signature });
}

/** The approval URL at the address where the API listens. */
const local = (url = "") => url.replace("https://node.example", api.url);

async function approvedSigner() {
  const signer = await client.createSigner();
  const { signer_approval_url } = await register(signer);
  await approveSigner(local(signer_approval_url), { account: custody(USER), fid: USER });
  return signer;
}

describe("the SDK's signers", () => {
  test("are created and looked up only by their owner", async () => {
    const signer = await client.createSigner();
    expect(signer).toMatchObject({
      object: "signer",
      status: "generated",
      permissions: ["WRITE_ALL"] as string[],
    });
    const { signer_uuid: signerUuid } = signer;
    expect(await client.lookupSigner({ signerUuid })).toEqual(signer);
    expect(await sdkError(stranger.lookupSigner({ signerUuid }))).toMatchObject({ status: 404 });
    const { status } = await sdkError(client.lookupSigner({ signerUuid: crypto.randomUUID() }));
    expect(status).toBe(404);
  });

  test("need the scope, also for what looks like a read", async () => {
    const reader = await keyOf(["read"]);
    const { status } = await sdkError(sdkClient(api.url, { apiKey: reader }).createSigner());
    expect(status).toBe(403);
    const { signer_uuid } = await client.createSigner();
    for (const query of [
      `signer_uuid=${signer_uuid}`,
      `fid=3&signer_uuid=${signer_uuid}`,
      `fid=3&signer%5Fuuid=${signer_uuid}`,
    ]) {
      const response = await fetch(`${api.url}/v2/farcaster/signer/?${query}`, {
        headers: { "x-api-key": reader },
      });
      expect([query, response.status]).toEqual([query, 403]);
      expect((await fetch(`${api.url}/v2/farcaster/signer/?${query}`)).status).toBe(401);
    }
    expect((await fetch(`${api.url}/v2/farcaster/signer/?fid=3`)).status).toBe(200);
  });

  test("may be created with fewer permissions than everything", async () => {
    const headers = { "x-api-key": await keyOf(["signers"]), "content-type": "application/json" };
    const create = async (permissions: readonly string[]) => {
      const body = JSON.stringify({ permissions });
      return fetch(`${api.url}/v2/farcaster/signer/`, { method: "POST", headers, body });
    };
    expect(await (await create(["PUBLISH_CAST", "DELETE_CAST"])).json()).toMatchObject({
      permissions: ["PUBLISH_CAST", "DELETE_CAST"],
    });
    expect((await create(["EVERYTHING"])).status).toBe(400);
  });

  test("are created and registered in one call with a mnemonic", async () => {
    const mnemonic = "test test test test test test test test test test test junk";
    const { mnemonicToAccount } = await import("viem/accounts");
    const app = mnemonicToAccount(mnemonic);
    const address = Buffer.from(app.address.slice(2), "hex");
    api.node.ingestEvent(registerEvent(77, address, { block: 9000 }));
    const helper = sdkClient(api.url, { apiKey: await keyOf(["signers", "read"]) });
    const created = await helper.createSignerAndRegisterSignedKey({ farcasterDeveloperMnemonic: mnemonic });
    expect(created).toMatchObject({ status: "pending_approval", signer_approval_url: expect.any(String) });
  });

  test("are registered under both domains, but not by others or for the past", async () => {
    const signer = await client.createSigner();
    for (const domain of [CHAIN_REQUEST_DOMAIN, GASLESS_REQUEST_DOMAIN])
      expect(await register(signer, { domain })).toMatchObject({ status: "pending_approval" });
    expect(await sdkError(register(signer, { account: custody(USER) }))).toMatchObject({ status: 403 });
    expect(await sdkError(register(signer, { deadline: signed.nowSecs() - 1 }))).toMatchObject({
      status: 400,
    });
  });

  test("are approved by the command line, and the user can delete them", async () => {
    const { signer_uuid: signerUuid } = await approvedSigner();
    const approved = await client.lookupSigner({ signerUuid });
    expect(approved).toMatchObject({ status: "approved", fid: USER });
    expect(approved.signer_approval_url).toBeUndefined();
    const query = `?signer_uuid=${signerUuid}`;
    const seen = await signed.call({ method: "GET", path: `/managed_signer${query}`, fid: USER });
    expect(seen.body.signer).toMatchObject({ owner_fid: OWNER, fid: USER, status: "approved" });
    expect((await signed.call({ method: "GET", path: `/managed_signer${query}`, fid: APP })).status).toBe(
      404,
    );
    const { body } = await signed.call({ method: "DELETE", path: `/managed_signer${query}`, fid: USER });
    expect(body).toEqual({ deleted: true, removal: expect.stringMatching(/^0x[0-9a-f]{40}$/) });
    expect(await sdkError(client.lookupSigner({ signerUuid }))).toMatchObject({ status: 404 });
    const log = await signed.call({ method: "GET", path: "/audit?limit=5", fid: OWNER });
    const actions = log.body.entries.map(({ action }: { action: string }) => action);
    // The messages that add and remove the key are writes of their own.
    expect(actions.filter((action: string) => action !== "write.signer").slice(0, 2)).toEqual([
      "signer.delete",
      "signer.approve",
    ]);
    expect(log.body.entries[0]).toMatchObject({ fid: USER, signer_uuid: signerUuid, outcome: "ok" });
  });

  test("are approved once and by one user when a link is open in two windows", async () => {
    const approve = (url: string | undefined, fid: number) =>
      approveSigner(local(url), { account: custody(fid), fid });
    const refusalsOf = async (url: string | undefined, fids: readonly number[]) => {
      const outcomes = await Promise.allSettled(fids.map((fid) => approve(url, fid)));
      return outcomes.map((outcome) => (outcome.status === "rejected" ? String(outcome.reason) : ""));
    };
    const same = await register(await client.createSigner());
    const twice = (await refusalsOf(same.signer_approval_url, [USER, USER])).filter(Boolean);
    expect(twice).toEqual([expect.stringContaining("409: you have approved this link in another window")]);

    const other = await client.createSigner();
    const { signer_approval_url: url } = await register(other);
    signed.api.node.clock.advanceSecs(120);
    const refusals = await refusalsOf(url, [USER, OWNER]);
    expect(refusals.filter(Boolean)).toHaveLength(1);
    expect(refusals.join("")).toContain("409: another user has approved this link");
    const winner = refusals[0] === "" ? USER : OWNER;
    expect(await client.lookupSigner({ signerUuid: other.signer_uuid })).toMatchObject({
      status: "approved",
      fid: winner,
    });
  });

  test("are approved by a key on chain and revoked by its removal", async () => {
    const signer = await client.createSigner();
    await register(signer);
    const key = Buffer.from(signer.public_key.slice(2), "hex");
    const event = signerEvent(USER, key, { block: 2_000_000 });
    if (event.body?.$case === "signerEventBody")
      event.body.value.metadata = requestMetadata(APP, key, custodyWallet(APP));
    expect(api.node.ingestEvent(event)).toBe("ok");
    const { signer_uuid: signerUuid } = signer;
    expect(await client.lookupSigner({ signerUuid })).toMatchObject({ status: "approved", fid: USER });
    api.node.ingestEvent(signerEvent(USER, key, { block: 2_000_001 }, "remove"));
    expect(await client.lookupSigner({ signerUuid })).toMatchObject({ status: "revoked", fid: USER });
  });

  test("of a user who signs in are listed once for each nonce", async () => {
    const { signer_uuid } = await approvedSigner();
    await client.createSigner();
    const { nonce } = await client.fetchNonce();
    const account = custody(USER);
    const message = createSiweMessage({
      address: account.address,
      chainId: 10,
      domain: "app.example",
      uri: "https://app.example/login",
      version: "1",
      nonce,
      issuedAt: new Date(api.node.clock.nowMs()),
    });
    const signature = await account.signMessage({ message });
    const { signers } = await client.fetchSigners({ message, signature });
    expect(signers.map((signer) => signer.signer_uuid)).toContain(signer_uuid);
    expect(signers.every(({ fid }) => fid === USER)).toBe(true);
    expect(await sdkError(client.fetchSigners({ message, signature }))).toMatchObject({ status: 401 });
  });
});

describe("the approval page", () => {
  const pageOf = async () => {
    const { signer_approval_url } = await register(await client.createSigner());
    return local(signer_approval_url);
  };

  test("has no foreign or inline script, and shows the app, the permissions and the key as text", async () => {
    const response = await fetch(await pageOf());
    expect(response.status).toBe(200);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.has("access-control-allow-origin")).toBe(false);
    const html = await response.text();
    expect(html).toContain(`fid ${APP}`);
    expect(html).not.toMatch(/<script(?![^>]*src=)/);
    for (const [, path = ""] of html.matchAll(/(?:src|href)="(?!data:,)([^"]+)"/g)) {
      expect(path).toStartWith("/console/a/");
      expect((await fetch(api.url + path)).status).toBe(200);
    }
  });

  test("says that the link is invalid for an unknown token", async () => {
    const response = await fetch(`${api.url}/approve/${"1".repeat(44)}`);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      410,
      "text/html; charset=utf-8",
    ]);
    expect(await response.text()).toContain("link has expired");
  });

  test("refuses requests of other origins, unknown wallets and garbage", async () => {
    const page = await pageOf();
    const post = async (step: string, body: string, headers: Record<string, string> = {}) => {
      const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
      const response = await fetch(`${page}/${step}`, init);
      expect(response.headers.has("access-control-allow-origin")).toBe(false);
      return response.status;
    };
    const address = JSON.stringify({ address: custody(USER).address });
    expect(await post("prepare", address, { origin: "https://evil.example" })).toBe(403);
    expect(await post("prepare", address, { origin: "https://node.example" })).toBe(200);
    // Without an origin the name that the request was sent to and the site that it came from count.
    expect(await post("prepare", address, { host: "rebound.example" })).toBe(403);
    expect(
      await post("prepare", address, { host: "rebound.example", origin: "http://rebound.example" }),
    ).toBe(403);
    expect(await post("prepare", address, { "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await post("prepare", address, { "sec-fetch-site": "same-origin" })).toBe(200);
    expect(await post("prepare", address, { host: "node.example" })).toBe(200);
    expect(await post("prepare", JSON.stringify({ address: accountOf(makeWallet("x")).address }))).toBe(404);
    expect(await post("prepare", "{")).toBe(400);
    expect(await post("submit", "{}")).toBe(400);
    expect(await post("demo", JSON.stringify({ fid: 3 }))).toBe(404);
    expect(await post("prepare", `{"address":"${"x".repeat(70_000)}"}`)).toBe(413);
  });
});

test("no seed is in a response, the state or the log, except in the export", async () => {
  const { signer_uuid } = await approvedSigner();
  const body = { signer_uuid };
  const exported = await signed.call({ method: "POST", path: "/managed_signer/export", body, fid: OWNER });
  const seed = Buffer.from(exported.body.private_key.slice(2), "hex");
  expect(seed.length).toBe(32);
  expect(Buffer.from(api.state.sqlite.serialize()).includes(seed)).toBe(false);
});

describe("keys that an app holds", () => {
  // A look-up is a read.
  const scopes = ["signers", "read"];
  const clientOf = async (fid: number) => sdkClient(api.url, { apiKey: await keyOf(scopes, fid) });
  const holder = privateKeyToAccount(`0x${"7c".repeat(32)}`);
  const padded = `0x${"00".repeat(12)}${holder.address.slice(2).toLowerCase()}` as const;
  const sign = (key: `0x${string}`, domain: object, deadline: number) =>
    custody(OWNER).signTypedData(signedKeyRequest({ domain, requestFid: OWNER, key, deadline }));

  test("are registered by the SDK, approved by a link, and become approved", async () => {
    const own = await clientOf(OWNER);
    const foreign = await clientOf(APP);
    const publicKey = `0x${Buffer.from(makeWallet("held").privateKey).toString("hex")}` as const;
    const deadline = signed.nowSecs() + 3600;
    const signature = await sign(publicKey, GASLESS_REQUEST_DOMAIN, deadline);
    const request = { publicKey, appFid: OWNER, deadline, signature };
    const waiting = await own.registerSignedKeyForDeveloperManagedSigner(request);
    expect(waiting).toMatchObject({ public_key: publicKey, status: "pending_approval" });
    expect(await own.registerSignedKeyForDeveloperManagedSigner(request)).toEqual(waiting);
    expect(await own.lookupDeveloperManagedSigner({ publicKey })).toEqual(waiting);
    // The link is the owner's: another one sees no more than the network does.
    expect((await sdkError(foreign.lookupDeveloperManagedSigner({ publicKey }))).status).toBe(404);
    const open = `${api.url}/v2/farcaster/signer/developer_managed/?public_key=${publicKey}`;
    expect((await fetch(open)).status).toBe(404);
    const sponsored = { ...request, sponsor: { fid: OWNER, signature } };
    expect((await sdkError(own.registerSignedKeyForDeveloperManagedSigner(sponsored))).status).toBe(400);

    api.node.clock.advanceSecs(120);
    await approveSigner(local(waiting.signer_approval_url), { account: custody(USER), fid: USER });
    const approved = { public_key: publicKey, status: "approved" as const, fid: USER };
    expect(await own.lookupDeveloperManagedSigner({ publicKey })).toEqual(approved);
    expect(await (await fetch(open)).json()).toEqual(approved);
  });

  test("as auth addresses are added by a transaction that the page prepares", async () => {
    const own = await clientOf(OWNER);
    const deadline = signed.nowSecs() + 3600;
    const signature = await sign(padded, CHAIN_REQUEST_DOMAIN, deadline);
    const request = { address: holder.address, appFid: OWNER, deadline, signature };
    const waiting = await own.registerSignedKeyForDeveloperManagedAuthAddress(request);
    const address = holder.address.toLowerCase();
    expect(waiting).toMatchObject({ address, status: "pending_approval" });
    expect(await own.lookupDeveloperManagedAuthAddress({ address: holder.address })).toEqual(waiting);
    const url = local(waiting.auth_address_approval_url);
    const page = await fetch(url);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("sign in as you, with this address");
    const response = await fetch(`${url}/prepare`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: "https://node.example" },
      body: JSON.stringify({ address: custody(USER).address }),
    });
    const { fid, transaction } = (await response.json()) as {
      fid: number;
      transaction: { chain_id: number; to: string; data: `0x${string}`; sender: string };
    };
    expect([fid, transaction.chain_id, transaction.sender]).toEqual([
      USER,
      10,
      custody(USER).address.toLowerCase(),
    ]);
    const { functionName, args } = decodeFunctionData({ abi: keyGateway, data: transaction.data });
    expect([functionName, args?.slice(0, 3)] as unknown[]).toEqual(["add", [2, padded, 1]]);
    const refused = approveSigner(url, { account: custody(USER), fid: USER });
    await expect(refused).rejects.toThrow("added on chain");
  });
});
