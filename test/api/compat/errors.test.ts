import { afterAll, expect, test } from "bun:test";
import { documentedSigningAxios } from "../../support/document-signing.ts";
import { SECRET, startSendApi } from "../../support/send.ts";
import { sdkClient, sdkError } from "./sdk.ts";

/** Every error reaches a user of the SDK as a status and a message; its interceptor fails with any other body. */

const signingAxios = await documentedSigningAxios();
const api = await startSendApi({
  compatPrefixes: ["farcaster"],
  settings: ["webhooks.max_webhooks_per_owner=1"],
});
const { url } = api.signed.api;
// The documented interceptor signs with the machine's clock.
const { clock } = api.signed.api.node;
clock.advanceSecs(Math.floor((Date.now() - clock.nowMs()) / 1000));
afterAll(() => api[Symbol.asyncDispose]());

const client = sdkClient(url, { apiKey: SECRET });
const owner = sdkClient(url, { axiosInstance: signingAxios(3) });
const other = sdkClient(url, { axiosInstance: signingAxios(4) });
const hook = { name: "Hook", url: "https://hook.example", subscription: { "user.created": {} } };
const webhookId = (await owner.publishWebhook(hook)).webhook?.webhook_id ?? "";

const embedded = { feedType: "filter", filterType: "embed_types", embedTypes: ["image"] } as never;

const subscriptionCheck = {
  addresses: [`0x${"1".repeat(40)}`],
  contractAddress: `0x${"2".repeat(40)}`,
  chainId: "8453",
};

const failures: readonly [status: number, what: string, call: () => Promise<unknown>][] = [
  [400, "a malformed hash", () => client.lookupCastByHashOrUrl({ identifier: "0x12", type: "hash" })],
  [400, "a garbled cursor", () => client.fetchUserFollowers({ fid: 3, cursor: "garbage" })],
  [400, "a missing parameter", () => client.lookupUserByUsername({ username: "" })],
  [401, "a wrong key", () => sdkClient(url).fetchNotificationTokens({})],
  [401, "no signature", () => client.fetchWebhooks()],
  [403, "another's webhook", () => other.lookupWebhook({ webhookId })],
  [404, "an unknown name", () => client.lookupUserByUsername({ username: "nobody-has-this" })],
  [404, "a path that the node has not", () => client.fetchSubscriptionCheck(subscriptionCheck)],
  [413, "a body that is too large", () => owner.publishWebhook({ ...hook, name: "x".repeat(300_000) })],
  [429, "one webhook too many", () => owner.publishWebhook(hook)],
  [501, "a filter of feeds that needs fetched pages", () => client.fetchFeed(embedded)],
  [
    501,
    "a read that no service but its vendor has",
    () => client.fetchTrendingFungibles({ network: "base" }),
  ],
  [401, "a list of bans without a valid key", () => client.publishBans({ fids: [3] })],
  [401, "a write with a form and no body", () => client.createSigner()],
  [401, "a write without a valid key", () => client.publishCast({ signerUuid: "s", text: "hello" })],
  [401, "a DELETE with a body and without a valid key", () => client.deleteBans({ fids: [3] })],
  [401, "a PATCH without a valid key", () => client.updateUser({ signerUuid: "s", bio: "b" })],
];

test.each(failures)("%i for %s", async (status, _, call) => {
  const error = await sdkError(call());
  expect(error.status).toBe(status);
  expect(error.body).toEqual({ message: expect.any(String) });
  const { message } = error.body as { message: string };
  expect(message.length).toBeGreaterThan(5);
});

test("500 for a fault of the node, without its message", async () => {
  api.state.sqlite.run("DROP TABLE campaigns");
  expect(await sdkError(client.getNotificationCampaignStats({}))).toEqual({
    status: 500,
    body: { message: "internal error" },
  });
});
