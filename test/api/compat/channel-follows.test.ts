import { afterAll, beforeAll, expect, test } from "bun:test";
import { activateChannels, registers, uriOf, walletOf } from "../../support/channel-records.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";
import { startSignedApi } from "../../support/signed-api.ts";
import { sdkClient, sdkError } from "./sdk.ts";

const OWNER = 3;
const USER = 71;
const KEY = "books";

const signed = await startSignedApi({
  compatPrefixes: ["farcaster"],
  settings: [`signers.encryption_key=${"5a".repeat(32)}`],
  fids: [OWNER],
});
const { node, url } = signed.api;
afterAll(() => signed[Symbol.asyncDispose]());

let client: ReturnType<typeof sdkClient>;
let signerUuid: string;

beforeAll(async () => {
  node.ingestAll(accountRecords(USER));
  const post = async (path: string, body: object) =>
    (await signed.call({ method: "POST", path, body, fid: OWNER })).body;
  client = sdkClient(url, {
    apiKey: (await post("/api_key", { name: "k", scopes: ["write", "read", "signers"] })).secret,
  });
  const private_key = `0x${Buffer.from(accountSigner(USER).privateKey).toString("hex")}`;
  signerUuid = (await post("/managed_signer/import", { private_key, fid: USER })).signer.signer_uuid;
});

test("check 33: without a registrar of the network, a follow is 501 with the reason", async () => {
  const error = await sdkError(client.followChannel({ signerUuid, channelId: KEY }));
  expect(error.status).toBe(501);
  expect(error.body).toMatchObject({ message: expect.stringContaining("no registrar") });
});

test("check 18: a follow and an unfollow with the SDK show in the next reads, under every name of the channel", async () => {
  activateChannels(node.db);
  expect(node.ingest(registers(KEY, walletOf(1)))).toBe("ok");
  const followed = async () => (await client.fetchUserChannels({ fid: USER })).channels.map(({ id }) => id);
  const count = async () => (await client.lookupChannel({ id: KEY })).channel.follower_count;
  expect(await followed()).toEqual([]);
  for (const channelId of [KEY, uriOf(KEY), `https://farcaster.xyz/~/channel/${KEY}`]) {
    expect(await client.followChannel({ signerUuid, channelId })).toMatchObject({ success: true });
    expect([await followed(), await count()]).toEqual([[KEY], 1]);
    expect(await client.unfollowChannel({ signerUuid, channelId })).toMatchObject({ success: true });
    expect([await followed(), await count()]).toEqual([[], 0]);
  }
  const { channel } = await client.lookupChannel({ id: KEY, viewerFid: USER });
  expect(channel.viewer_context).toEqual({ following: false });
});

test("a channel that is not registered is 404, and a name that is not text is 400", async () => {
  expect((await sdkError(client.followChannel({ signerUuid, channelId: "gravel" }))).status).toBe(404);
  expect((await sdkError(client.followChannel({ signerUuid, channelId: "" }))).status).toBe(400);
});
