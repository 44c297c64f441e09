import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Message, makeCastAdd, NobleEd25519Signer } from "@farcaster/core";
import { Configuration, NeynarAPIClient } from "@neynar/nodejs-sdk";
import { isAxiosError } from "axios";
import { type Hex, toBytes } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { SDK_METHODS } from "../../../../src/api/sdk-methods.ts";
import { supportOfMethod } from "../../../../src/cli/sdk-report/request-support.ts";
import { configWith } from "../../../runtime/config.ts";
import { compatSupport } from "../../../support/compat-support.ts";
import { importSignerOfPerson, keysOfPerson, postAsPerson } from "../../../support/demo-calls.ts";
import { startDemoNode } from "../../../support/demo-node.ts";
import { type RunningNode, tempDir } from "../../../support/program.ts";
import {
  CHAIN_REQUEST_DOMAIN,
  GASLESS_REQUEST_DOMAIN,
  signedKeyRequest,
} from "../../../support/signed-key-request.ts";
import { verificationClaim } from "../../../support/verification-claim.ts";
import { type DemoFacts, readDemoFacts } from "../demo-facts.ts";

/**
 * Every method of the SDK's client against a node with the demo network, with only a new base URL and key. A method works or is
 * refused with a status and a message; none fails with 500, and none hangs.
 */

const FID = 3;
const TIMEOUT_MS = 10_000;
/** Sends several requests, each of which is a method of its own. */
const HELPER = "createSignerAndRegisterSignedKey";

const dir = tempDir();
let node: RunningNode;
let facts: DemoFacts;
let client: NeynarAPIClient;
let signerUuid: string;
beforeAll(async () => {
  node = await startDemoNode({
    dataDir: `${dir.path}/data`,
    args: ["--set", "api_keys.writes_per_minute=10000"],
  });
  facts = await readDemoFacts(node.url);
  await postAsPerson(node, FID, "/frame/app", { name: "App", app_url: "https://93.184.216.34" });
  const scopes = ["read", "write", "signers", "webhooks", "apps", "push", "moderate"];
  const { secret } = await postAsPerson(node, FID, "/api_key", { name: "every", scopes });
  // Methods that cost money there refuse to be called without the header of a wallet.
  const baseOptions = { headers: { "x-wallet-id": "w" } };
  client = new NeynarAPIClient(
    new Configuration({ apiKey: String(secret), basePath: node.url, baseOptions }),
  );
  signerUuid = await importSignerOfPerson(node, { user: FID, owner: FID });
}, 180_000);
afterAll(async () => {
  await node.stop();
  dir[Symbol.dispose]();
});

/** The names of the parameters that each method requires, as the SDK's types declare them. */
function requiredParameters(): ReadonlyMap<string, readonly string[]> {
  const file = Bun.resolveSync("@neynar/nodejs-sdk/build/clients/NeynarAPIClient.d.ts", import.meta.dir);
  const declarations = readFileSync(file, "utf8").replace(/\/\*\*[\s\S]*?\*\//g, "");
  const method = /^ {4}(\w+)\((?:params\??: \{([\s\S]*?)\n {4}\})?[^)]*\): Promise</gm;
  return new Map(
    [...declarations.matchAll(method)].map(([, name = "", parameters = ""]) => [
      name,
      [...parameters.matchAll(/^ {8}(\w+):/gm)].map(([, parameter = ""]) => parameter),
    ]),
  );
}

type Values = Readonly<Record<string, unknown>>;

/** A valid value for each name of a parameter. */
function commonValues(): Values {
  const { cast } = facts.inChannel;
  const address = facts.verified.verified_addresses.eth_addresses[0];
  return {
    fid: facts.known.fid,
    fids: [3, 4],
    viewerFid: facts.viewer.fid,
    targetFid: facts.known.fid,
    targetFids: [20, 21],
    blockedFid: 22,
    mutedFid: 23,
    signerUuid,
    hash: facts.thread.hash,
    identifier: facts.thread.hash,
    casts: [facts.thread.hash],
    target: facts.thread.hash,
    type: "hash",
    q: "bread",
    id: facts.inChannel.id,
    ids: [facts.inChannel.id],
    channelId: facts.inChannel.id,
    channelIds: [facts.inChannel.id],
    parentUrls: [cast.channel?.parent_url],
    url: "https://93.184.216.34/hook",
    reactionType: "like",
    types: ["likes"],
    subscriptionProvider: "fabric_stp",
    addresses: [address],
    address,
    custodyAddress: facts.known.custody_address,
    username: facts.known.username,
    xUsername: facts.onX.verified_accounts.find(({ platform }) => platform === "x")?.username,
    publicKey: facts.signer,
    latitude: facts.located.profile.location?.latitude,
    longitude: facts.located.profile.location?.longitude,
    fname: "nobodyhasthis",
    slug: "bread",
    notification: { title: "t", body: "b", target_url: "https://93.184.216.34/n" },
    name: "name",
    networks: ["base"],
    network: "base",
    active: "false",
    body: {},
  };
}

/** Values of single methods beyond the common ones; some come from an earlier call. */
const ownValues: Readonly<Record<string, () => Values | Promise<Values>>> = {
  fetchCastQuotes: () => ({ identifier: facts.quoted }),
  fetchBulkChannels: () => ({ type: "id" }),
  fetchFeed: () => ({ feedType: "following", fid: FID }),
  fetchAuthorizationUrl: async () => ({ clientId: await loginClientId(), responseType: "code" }),
  fetchUserReactions: () => ({ type: "likes" }),
  fetchUserInteractions: () => ({ type: ["follows"] }),
  fetchBlockList: () => ({ blockerFid: facts.blocker }),
  fetchMuteList: () => ({ fid: facts.muter }),
  publishBans: () => ({ fids: [24] }),
  deleteBans: () => ({ fids: [24] }),
  publishCast: () => ({ text: "hello" }),
  deleteCast: async () => ({
    targetHash: (await client.publishCast({ signerUuid, text: "to be deleted" })).cast.hash,
  }),
  followChannel: () => ({ channelId: "night-trains" }),
  unfollowChannel: () => ({ channelId: "night-trains" }),
  // The person owns it.
  inviteChannelMember: () => ({ channelId: "bread-club", fid: 40, role: "member" }),
  removeChannelMember: () => ({ channelId: "bread-club", fid: 40, role: "member" }),
  respondChannelInvite: () => ({ channelId: "night-trains", role: "member", accept: true }),
  updateUser: () => ({ bio: "every method" }),
  publishVerification: () => verificationClaim(FID),
  deleteVerification: () => verificationClaim(FID),
  publishMessageToFarcaster: async () => ({ body: await signedCast() }),
  registerSignedKey: async () => {
    const { signer_uuid, public_key } = await client.createSigner();
    return { signerUuid: signer_uuid, ...(await keyRequest(public_key as Hex, GASLESS_REQUEST_DOMAIN)) };
  },
  registerSignedKeyForDeveloperManagedSigner: async () => {
    const publicKey: Hex = `0x${"7a".repeat(32)}`;
    return { publicKey, ...(await keyRequest(publicKey, GASLESS_REQUEST_DOMAIN)), sponsor: undefined };
  },
  registerSignedKeyForDeveloperManagedAuthAddress: async () => {
    const address: Hex = `0x${"7a".repeat(20)}`;
    const key: Hex = `0x${"00".repeat(12)}${"7a".repeat(20)}`;
    return { address, ...(await keyRequest(key, CHAIN_REQUEST_DOMAIN)) };
  },
  // The SDK's types and its code disagree about the names.
  getTokenMetadata: () => ({ network: "base", address: `0x${"01".repeat(20)}` }),
  markNotificationsAsSeen: () => ({ signerUuid }),
  lookupDeveloperManagedAuthAddress: async () => ({ address: await authAddress() }),
  lookupSigner: async () => ({ signerUuid: (await client.createSigner()).signer_uuid }),
  fetchSigners: signInMessage,
  publishWebhook: () => ({ subscription: { "user.created": {} } }),
  updateWebhook: async () => ({ webhookId: await webhookId(), subscription: { "user.created": {} } }),
  updateWebhookActiveStatus: async () => ({ webhookId: await webhookId() }),
  lookupWebhook: async () => ({ webhookId: await webhookId() }),
  deleteWebhook: async () => ({ webhookId: await webhookId() }),
};

const nowSecs = () => Math.floor(Date.now() / 1000);
const custodyOf = (fid: number) => privateKeyToAccount(keysOfPerson(fid).custody.privateKey);

async function authAddress(): Promise<string> {
  const fids = Array.from({ length: 100 }, (_, at) => at + 1);
  const { users } = await client.fetchBulkUsers({ fids });
  const [first] = users.flatMap((user) => user.auth_addresses ?? []);
  return first?.address ?? "";
}

async function loginClientId(): Promise<string> {
  const fields = { name: "login", origins: ["https://app.example"], permissions: "read" };
  const { login_client: made } = await postAsPerson(node, FID, "/login_client", fields);
  return (made as { client_id: string }).client_id;
}

async function webhookId(): Promise<string> {
  const fields = { name: "hook", url: "https://93.184.216.34/hook", subscription: { "user.created": {} } };
  return (await client.publishWebhook(fields)).webhook?.webhook_id ?? "";
}

async function signedCast(): Promise<object> {
  const [signer] = keysOfPerson(FID).signers;
  const made = await makeCastAdd(
    { text: "signed", embeds: [], embedsDeprecated: [], mentions: [], mentionsPositions: [], type: 0 },
    { fid: FID, network: 1 },
    new NobleEd25519Signer(toBytes(signer?.privateKey ?? "0x")),
  );
  return Message.toJSON(made._unsafeUnwrap()) as object;
}

async function keyRequest(key: Hex, domain: object): Promise<Values> {
  const deadline = nowSecs() + 3600;
  const signature = await custodyOf(FID).signTypedData(
    signedKeyRequest({ domain, requestFid: FID, key, deadline }),
  );
  return { appFid: FID, deadline, signature };
}

async function signInMessage(): Promise<Values> {
  const { nonce } = await client.fetchNonce();
  const account = custodyOf(FID);
  const message = createSiweMessage({
    address: account.address,
    chainId: 10,
    domain: "app.example",
    uri: "https://app.example/login",
    version: "1",
    nonce,
    issuedAt: new Date(),
  });
  return { message, signature: await account.signMessage({ message }) };
}

type Outcome = "works" | { readonly status?: number; readonly message?: unknown; readonly url: string };

async function outcomeOf(name: string, values: Values): Promise<Outcome> {
  const methods = client as unknown as Record<string, (values: Values) => Promise<unknown>>;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${name} hangs`)), TIMEOUT_MS);
  try {
    await Promise.race([methods[name]?.(values), late]);
    return "works";
  } catch (error) {
    if (!isAxiosError(error) || !error.response) throw error;
    const { status, data, config } = error.response;
    return { status, message: data?.message, url: config.url ?? "" };
  } finally {
    clearTimeout(timer);
  }
}

/** The status that `doctor --sdk` expects of each method at a node with the settings of the demo. */
async function expectedOutcomes(names: readonly string[]): Promise<Record<string, number>> {
  const support = await compatSupport(configWith(`signers.encryption_key=${"ab".repeat(32)}`));
  const statuses = { works: 200, needs: 200, empty: 200, not_implemented: 501, not_found: 404 } as const;
  return Object.fromEntries(
    names.map((name) => {
      const found = supportOfMethod(support, name, SDK_METHODS[name] ?? "");
      const lacksSetting = found?.needs.some(({ isSet }) => isSet === false) ?? false;
      return [name, found === undefined ? 0 : lacksSetting ? 501 : statuses[found.verdict]];
    }),
  );
}

test("every method works or says why not, and 105 work with only a new base URL and key", async () => {
  const common = commonValues();
  const works: string[] = [];
  const refused: Record<string, Exclude<Outcome, "works">> = {};
  const methods = [...requiredParameters()].filter(([name]) => name !== HELPER);
  expect(methods).toHaveLength(175);
  for (const [name, parameters] of methods) {
    const required = Object.fromEntries(parameters.map((key) => [key, common[key] ?? {}]));
    const outcome = await outcomeOf(name, { ...required, ...(await ownValues[name]?.()) });
    if (outcome === "works") works.push(name);
    else refused[name] = outcome;
  }
  for (const [name, { status = 0, message }] of Object.entries(refused)) {
    expect([name, message]).toEqual([name, expect.any(String)]);
    expect([name, [404, 501].includes(status)]).toEqual([name, true]);
    // A 501 says why.
    expect([name, message]).not.toEqual([name, "not implemented"]);
  }
  expect(await expectedOutcomes(methods.map(([name]) => name))).toEqual(
    Object.fromEntries(methods.map(([name]) => [name, refused[name]?.status ?? 200])),
  );
  // Under the prefix of the API a method that exists nowhere is 501; 404 are other services of the vendor.
  const unknown = Object.values(refused).filter(({ status }) => status === 404);
  expect(unknown.filter(({ url }) => url.includes("/v2/farcaster/"))).toEqual([]);
  expect(works).toHaveLength(105);
}, 180_000);
