import { afterAll, beforeAll, expect, test } from "bun:test";
import { activateChannels, ownsWallet, registers, walletOf } from "../../support/channel-records.ts";
import { gaslessKeyMessage } from "../../support/gasless-keys.ts";
import { DEFAULT_TIMESTAMP, makeSigner } from "../../support/messages.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";
import { cast, hashBytes } from "../../support/records.ts";
import { startSignedApi } from "../../support/signed-api.ts";
import { sdkClient, sdkError } from "./sdk.ts";

/** The owner of the API key, and users whose signers write. */
const APP = 3;
const [OWNER, MODERATOR, USER, GASLESS] = [71, 72, 73, 74] as const;
const KEY = "books";
const PARKED = "parked";

const signed = await startSignedApi({
  compatPrefixes: ["farcaster"],
  settings: [`signers.encryption_key=${"5a".repeat(32)}`],
  fids: [APP],
});
const { node, url } = signed.api;
afterAll(() => signed[Symbol.asyncDispose]());

let client: ReturnType<typeof sdkClient>;
let apiKey: string;
const signers = new Map<number, string>();
const signerOf = (fid: number) => signers.get(fid) ?? "";
const CAST = cast(USER, "a cast");
const CAST_HASH = `0x${hashBytes(CAST).toString("hex")}`;

beforeAll(async () => {
  node.ingestAll([OWNER, MODERATOR, USER, GASLESS].flatMap((fid) => accountRecords(fid)));
  node.ingestAll([CAST]);
  const post = async (path: string, body: object) =>
    (await signed.call({ method: "POST", path, body, fid: APP })).body;
  apiKey = (await post("/api_key", { name: "k", scopes: ["write", "read", "signers"] })).secret;
  client = sdkClient(url, { apiKey });
  const gasless = makeSigner("gasless");
  const key = { fid: GASLESS, signer: gasless, requestFid: APP, ttlSecs: 86_400, nonce: 1, scopes: [3, 4] };
  expect(node.ingestMessage(gaslessKeyMessage({ ...key, at: DEFAULT_TIMESTAMP }))).toBe("ok");
  for (const [fid, { privateKey }] of [
    ...[OWNER, MODERATOR, USER].map((fid) => [fid, accountSigner(fid)] as const),
    [GASLESS, gasless] as const,
  ]) {
    const private_key = `0x${Buffer.from(privateKey).toString("hex")}`;
    const { signer } = await post("/managed_signer/import", { private_key, fid });
    signers.set(fid, signer.signer_uuid);
  }
});

/** A write that the SDK does not have. */
async function write(method: string, path: string, fid: number, body: object) {
  const response = await fetch(`${url}/v2/farcaster${path}`, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ signer_uuid: signerOf(fid), channel_id: KEY, ...body }),
  });
  const fields = (await response.json()) as { success?: boolean; message: string };
  const code = response.headers.get("x-error-code");
  return { status: response.status, ...fields, ...(code !== null && { code }) };
}
interface Fields {
  readonly members: readonly { readonly user: { readonly fid: number }; readonly role: string }[];
  readonly bans: readonly { readonly user: { readonly fid: number } }[];
  readonly moderations: readonly { readonly state: string }[];
  readonly pin: { readonly cast_hash: string } | null;
  readonly channel: Readonly<Record<string, unknown>>;
}
const read = async (path: string) => (await fetch(`${url}/v2/svc${path}`)).json() as Promise<Fields>;
const rolesIn = async (key = KEY) =>
  (await read(`/channel/roles?id=${key}`)).members.map(({ user, role }) => `${role} ${user.fid}`);
const invite = (fid: number, as: number, role: "member" | "moderator") =>
  client.inviteChannelMember({ signerUuid: signerOf(as), channelId: KEY, fid, role });
const remove = (fid: number, as: number, role: "member" | "moderator") =>
  client.removeChannelMember({ signerUuid: signerOf(as), channelId: KEY, fid, role });
const respond = (as: number, accept: boolean) =>
  client.respondChannelInvite({ signerUuid: signerOf(as), channelId: KEY, role: "member", accept });

test("before channels are part of the protocol, a role in one is 501 with the reason", async () => {
  const { status, body } = await sdkError(invite(USER, OWNER, "member"));
  expect(status).toBe(501);
  expect(body).toMatchObject({ message: expect.stringContaining("not part of this network's protocol") });
});

test("roles set with the SDK show in the next reads; what the network would refuse is refused with its reason", async () => {
  activateChannels(node.db);
  node.ingestAll([
    ownsWallet(OWNER),
    registers(KEY, walletOf(OWNER)),
    registers(PARKED, walletOf(MODERATOR)),
  ]);
  expect((await invite(MODERATOR, OWNER, "moderator")).message).toContain("no invitation");
  expect((await invite(USER, MODERATOR, "member")).success).toBe(true);
  expect(await rolesIn()).toEqual([`owner ${OWNER}`, `member ${USER}`, `moderator ${MODERATOR}`]);

  const refusals = [
    [invite(USER, MODERATOR, "moderator"), 403, "unauthorized channel action"],
    [invite(USER, OWNER, "member"), 409, "invalid channel target state"],
    [remove(MODERATOR, OWNER, "member"), 403, "unauthorized channel action"],
    [respond(GASLESS, true), 403, "added on chain"],
    [
      client.inviteChannelMember({
        signerUuid: signerOf(OWNER),
        channelId: "gravel",
        fid: USER,
        role: "member",
      }),
      404,
      "no registered channel",
    ],
    [
      client.inviteChannelMember({ signerUuid: signerOf(OWNER), channelId: KEY, fid: USER, role: "owner" }),
      400,
      "on chain",
    ],
    [
      client.inviteChannelMember({
        signerUuid: signerOf(OWNER),
        channelId: PARKED,
        fid: USER,
        role: "member",
      }),
      409,
      "channel is parked",
    ],
  ] as const;
  for (const [refused, status, message] of refusals) {
    const error = await sdkError(refused);
    expect(error).toMatchObject({ status, body: { message: expect.stringContaining(message) } });
  }

  expect((await remove(MODERATOR, OWNER, "moderator")).success).toBe(true);
  expect(await rolesIn()).toEqual([`owner ${OWNER}`, `member ${MODERATOR}`, `member ${USER}`]);
  await invite(MODERATOR, OWNER, "moderator");
  const both = await write("DELETE", "/channel/member", OWNER, {
    fid: MODERATOR,
    role: "moderator",
    drop_membership: true,
  });
  expect(both).toMatchObject({ status: 200, success: true });
  expect(await rolesIn()).toEqual([`owner ${OWNER}`, `member ${USER}`]);
});

test("a user leaves, joins only open channels, and needs no message for a role already held", async () => {
  expect((await respond(USER, true)).success).toBe(true);
  expect((await respond(USER, false)).success).toBe(true);
  expect((await respond(USER, false)).success).toBe(true);
  expect(await rolesIn()).toEqual([`owner ${OWNER}`]);
  expect((await sdkError(respond(USER, true))).status).toBe(409);
  expect((await write("PATCH", "/channel", OWNER, { membership_mode: "open" })).status).toBe(200);
  expect((await respond(USER, true)).success).toBe(true);
  expect(await rolesIn()).toEqual([`owner ${OWNER}`, `member ${USER}`]);
});

test("check 29: settings changed with a gasless key are 403 with the reason, with an on-chain key 200", async () => {
  expect(await write("PATCH", "/channel", GASLESS, { name: "Books" })).toMatchObject({
    status: 403,
    code: "signer_not_on_chain",
    message: expect.stringContaining("gasless"),
  });
  expect((await client.followChannel({ signerUuid: signerOf(GASLESS), channelId: KEY })).success).toBe(true);
  expect((await write("PATCH", "/channel", OWNER, { name: "Books" })).status).toBe(200);
  expect((await write("PATCH", "/channel", USER, { name: "Mine" })).status).toBe(403);
});

test("only given settings change, null unsets one, and bad ones are named", async () => {
  const settings = async () => {
    const { name, description, rules, membership_mode, casting_mode } = (await read(`/channel?id=${KEY}`))
      .channel;
    return { name, description, rules, membership_mode, casting_mode };
  };
  await write("PATCH", "/channel", OWNER, {
    description: "All of them",
    rules: "Be kind",
    casting_mode: "everyone",
  });
  const all = await settings();
  expect(all).toMatchObject({
    name: "Books",
    description: "All of them",
    rules: "Be kind",
    membership_mode: "open",
  });
  await write("PATCH", "/channel", OWNER, { rules: null });
  expect(await settings()).toEqual({ ...all, rules: null });
  for (const bad of [
    {},
    { name: 1 },
    { casting_mode: "nobody" },
    { membership_mode: 2 },
    { rules: "x".repeat(2_000) },
  ]) {
    expect((await write("PATCH", "/channel", OWNER, bad)).status).toBe(400);
  }
  expect(await settings()).toEqual({ ...all, rules: null });
});

test("check 30: of two concurrent changes of different settings one succeeds, the other is 409, and nothing is cleared", async () => {
  const before = (await read(`/channel?id=${KEY}`)).channel;
  const replies = await Promise.all([
    write("PATCH", "/channel", OWNER, { name: "Novels" }),
    write("PATCH", "/channel", OWNER, { description: "Long ones" }),
  ]);
  const statuses = replies.map(({ status }) => status);
  const after = (await read(`/channel?id=${KEY}`)).channel;
  // Requests that were composed one after the other both succeed.
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(1);
  expect(statuses.every((status) => status === 200 || status === 409)).toBe(true);
  const [isNamed, isDescribed] = statuses.map((status) => status === 200);
  expect(after).toMatchObject({
    name: isNamed ? "Novels" : before.name,
    description: isDescribed ? "Long ones" : before.description,
    casting_mode: before.casting_mode,
    membership_mode: before.membership_mode,
  });
});

test("pins, hidden casts and bans show in the next reads, and what is already so makes no message", async () => {
  const pin = async () => (await read(`/channel/pin?id=${KEY}`)).pin?.cast_hash ?? null;
  const hidden = async () =>
    (await read(`/channel/moderations?id=${KEY}`)).moderations.map(({ state }) => state);
  const bans = async () => (await read(`/channel/bans?id=${KEY}`)).bans.map(({ user }) => user.fid);
  const cast_hash = CAST_HASH;
  const slots = () => node.db.sqlite.query("SELECT sum(seqnum) AS n FROM channel_slots").get();

  for (const method of ["DELETE", "POST"])
    expect((await write(method, "/channel/pin", USER, { cast_hash })).status).toBe(403);
  await write("POST", "/channel/pin", OWNER, { cast_hash });
  expect(await pin()).toBe(CAST_HASH);
  const before = slots();
  expect((await write("POST", "/channel/pin", OWNER, { cast_hash })).status).toBe(200);
  expect(slots()).toEqual(before);
  await write("DELETE", "/channel/pin", OWNER, {});
  expect(await pin()).toBeNull();

  await write("POST", "/channel/moderation", OWNER, { cast_hash });
  expect(await hidden()).toEqual(["hidden"]);
  await write("DELETE", "/channel/moderation", OWNER, { cast_hash });
  expect(await hidden()).toEqual(["visible"]);
  expect((await write("POST", "/channel/moderation", OWNER, { cast_hash: "0x12" })).status).toBe(400);

  expect((await write("POST", "/channel/ban", OWNER, { fid: USER })).status).toBe(200);
  expect([await bans(), await rolesIn()]).toEqual([[USER], [`owner ${OWNER}`]]);
  expect(await write("POST", "/channel/ban", OWNER, { fid: USER })).toMatchObject({
    status: 409,
    message: "channel member is banned",
  });
  expect((await write("DELETE", "/channel/ban", OWNER, { fid: USER })).status).toBe(200);
  expect(await bans()).toEqual([]);
  expect(await write("POST", "/channel/ban", OWNER, { fid: OWNER })).toMatchObject({ status: 403 });
});
