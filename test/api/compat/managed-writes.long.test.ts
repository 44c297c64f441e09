import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ReactionType } from "@neynar/nodejs-sdk/build/api/index.js";
import fc from "fast-check";
import { IS_LONG } from "../../support/long.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";
import { startSignedApi } from "../../support/signed-api.ts";
import { verificationClaim } from "../../support/verification-claim.ts";
import { sdkClient, sdkError } from "./sdk.ts";

const OWNER = 3;
const STRANGER = 4;
const USER = 71;
const OTHER = 72;
/** Room for all casts of the long form: in a full storage, one of the second of the oldest cast can be refused. */
const UNITS = 100;
const TARGETS = Array.from({ length: 97 }, (_, n) => 200 + n);
const signed = await startSignedApi({
  compatPrefixes: ["farcaster"],
  settings: [
    `signers.encryption_key=${"5a".repeat(32)}`,
    "api_keys.writes_per_minute=1000000",
    "writes.fid_messages_per_hour=1000000",
  ],
  fids: [OWNER, STRANGER],
});
const { node, url } = signed.api;
afterAll(() => signed[Symbol.asyncDispose]());

async function keyOf(scopes: readonly string[], fid = OWNER): Promise<string> {
  const body = { name: "k", scopes };
  return (await signed.call({ method: "POST", path: "/api_key", body, fid })).body.secret;
}

async function importSigner(fid: number, owner = OWNER): Promise<string> {
  const private_key = `0x${Buffer.from(accountSigner(fid).privateKey).toString("hex")}`;
  const body = { private_key, fid };
  const { body: answer } = await signed.call({
    method: "POST",
    path: "/managed_signer/import",
    body,
    fid: owner,
  });
  return answer.signer.signer_uuid;
}

let key: string;
let client: ReturnType<typeof sdkClient>;
let signerUuid: string;
let others: string;

beforeAll(async () => {
  for (const fid of [USER, OTHER, ...TARGETS]) node.ingestAll(accountRecords(fid, UNITS));
  key = await keyOf(["write", "read", "signers", "moderate"]);
  client = sdkClient(url, { apiKey: key });
  signerUuid = await importSigner(USER);
  others = await importSigner(OTHER);
});

const publish = async (text: string, more: object = {}) =>
  (await client.publishCast({ signerUuid, text, ...more })).cast;
const lookUp = async (identifier: string) =>
  (await client.lookupCastByHashOrUrl({ identifier, type: "hash" })).cast;

async function call(method: string, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/v2/farcaster${path}`, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: a response of any shape
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

describe("publishCast", () => {
  test("is in the next read, with the text as it was sent", async () => {
    const cast = await publish("hello, @nobody and @!72!");
    expect(cast).toMatchObject({ author: { fid: USER }, text: "hello, @nobody and @!72!" });
    const found = await lookUp(cast.hash);
    expect(found.text).toBe("hello, @nobody and @!72!");
    expect(found.mentioned_profiles.map(({ fid }) => fid)).toEqual([OTHER]);
  });

  test("replies, quotes and posts to channels", async () => {
    const parent = await publish("a parent");
    const reply = await publish("a reply", { parent: parent.hash });
    expect(await lookUp(reply.hash)).toMatchObject({
      parent_hash: parent.hash,
      parent_author: { fid: USER },
    });
    const quote = await publish("", { embeds: [{ cast_id: { hash: parent.hash, fid: USER } }] });
    expect((await lookUp(quote.hash)).embeds).toMatchObject([{ cast: { hash: parent.hash } }]);
    const parentUrl = "https://warpcast.com/~/channel/memes";
    const inChannel = await publish("gm", { parent: parentUrl });
    expect(await lookUp(inChannel.hash)).toMatchObject({ parent_url: parentUrl });
    const byId = await publish("gm again", { channelId: "memes" });
    expect(await lookUp(byId.hash)).toMatchObject({ parent_url: parentUrl });
    const wrong = client.publishCast({ signerUuid, text: "x", parent: parent.hash, parentAuthorFid: OTHER });
    expect(await sdkError(wrong)).toMatchObject({ status: 400 });
  });

  test("texts of any kind are read back as they were sent", async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "@",
        "@!72",
        "@!71.",
        "👩‍👩‍👧",
        "שלום",
        "é",
        "\n",
        " ",
        "https://x/@!72",
        "a@b.c",
        "🇨🇭",
      ),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
    );
    const texts = fc.sample(fc.array(piece, { minLength: 1, maxLength: 20 }), IS_LONG ? 3000 : 60);
    for (const [at, pieces] of texts.entries()) {
      const text = `${at} ${pieces.join("")}`;
      const { hash } = await publish(text);
      const found = await lookUp(hash);
      expect(found.text).toBe(text);
      for (const { start, end } of found.mentioned_profiles_ranges)
        expect(text.slice(start, end)).toMatch(/^@!\d+$/);
    }
  });

  test("the same key 50 times at once makes one cast, and with another body it is refused", async () => {
    const send = (text: string) =>
      call("POST", "/cast/", { signer_uuid: signerUuid, text }, { "idempotency-key": "once" });
    const responses = await Promise.all(Array.from({ length: 50 }, () => send("only once")));
    expect(new Set(responses.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
    expect(responses[0]?.status).toBe(200);
    expect(responses.filter(({ headers }) => headers.has("idempotent-replayed"))).toHaveLength(49);
    expect((await send("another")).status).toBe(409);
  });

  test("a repetition gets its response although the target no longer exists", async () => {
    const parent = await publish("will be deleted");
    const reply = { signer_uuid: signerUuid, text: "re", parent: parent.hash, idem: "reply" };
    const first = await call("POST", "/cast/", reply);
    await client.deleteCast({ signerUuid, targetHash: parent.hash });
    expect(await call("POST", "/cast/", { ...reply, idem: "other" })).toMatchObject({ status: 404 });
    expect((await call("POST", "/cast/", reply)).body).toEqual(first.body);
  });
});

describe("who may write", () => {
  test("a signer of another owner is unknown, and one that is not approved writes nothing", async () => {
    const foreign = sdkClient(url, { apiKey: await keyOf(["write"], STRANGER) });
    const text = "not mine";
    expect(await sdkError(foreign.publishCast({ signerUuid, text }))).toMatchObject({ status: 404 });
    const { signer_uuid } = await client.createSigner();
    const refused = await call("POST", "/cast/", { signer_uuid, text });
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([403, "signer_not_approved"]);
    expect(await call("POST", "/cast/", { text })).toMatchObject({ status: 400 });
  });

  test("a key without the scope writes nothing", async () => {
    const reader = sdkClient(url, { apiKey: await keyOf(["read", "signers"]) });
    expect(await sdkError(reader.publishCast({ signerUuid, text: "x" }))).toMatchObject({
      status: 403,
      body: { message: 'the key lacks the scope "write"' },
    });
  });
});

describe("deleteCast", () => {
  test("deletes own casts, also twice, and no one else's", async () => {
    const { hash } = await publish("to be deleted");
    const twice = [hash, hash.slice(2)];
    for (const targetHash of twice) {
      expect(await client.deleteCast({ signerUuid, targetHash })).toMatchObject({ success: true });
    }
    expect(await sdkError(lookUp(hash))).toMatchObject({ status: 404 });
    const foreign = (await client.publishCast({ signerUuid: others, text: "another's" })).cast.hash;
    const statusOf = async (targetHash: string) =>
      (await sdkError(client.deleteCast({ signerUuid, targetHash }))).status;
    expect(await statusOf(foreign)).toBe(403);
    expect(await statusOf(`0x${"ab".repeat(20)}`)).toBe(404);
  });
});

describe("reactions", () => {
  test("a like and an unlike within a second end as the last one says", async () => {
    const { hash } = await publish("liked");
    const reaction = { signerUuid, reactionType: ReactionType.Like, target: hash };
    const likes = async () => (await lookUp(hash)).reactions.likes_count;
    for (let round = 0; round < 10; round++) {
      await client.publishReaction(reaction);
      await client.publishReaction(reaction);
      expect(await likes()).toBe(1);
      await client.deleteReaction(reaction);
      expect(await likes()).toBe(0);
    }
  });

  test("work for a URL, but not for an unknown cast", async () => {
    const target = "https://example.com/article";
    const reaction = { signerUuid, reactionType: ReactionType.Recast, target };
    expect(await client.publishReaction(reaction)).toMatchObject({ success: true });
    const unknown = { ...reaction, target: `0x${"cd".repeat(20)}` };
    expect(await sdkError(client.publishReaction(unknown))).toMatchObject({ status: 404 });
  });
});

describe("follows", () => {
  test("of 100 with three that cannot be followed", async () => {
    const targetFids = [...TARGETS, USER, 999_999, 999_998];
    const followed = await client.followUser({ signerUuid, targetFids });
    expect(followed.success).toBe(false);
    expect(followed.details.map(({ target_fid }) => target_fid)).toEqual(targetFids);
    expect(followed.details.filter(({ success }) => success)).toHaveLength(TARGETS.length);
    expect(followed.details.slice(-3)).toMatchObject(Array(3).fill({ success: false, hash: "" }));
    const followingCount = async () =>
      (await client.fetchBulkUsers({ fids: [USER] })).users[0]?.following_count;
    expect(await followingCount()).toBe(TARGETS.length);
    const again = await client.followUser({ signerUuid, targetFids: TARGETS });
    expect(again.details.map(({ hash }) => hash)).toEqual(
      followed.details.slice(0, -3).map(({ hash }) => hash),
    );
    const none = await client.followUser({ signerUuid, targetFids: [USER] });
    expect(none).toMatchObject({ success: false, details: [{ success: false }] });
    expect(await client.unfollowUser({ signerUuid, targetFids: TARGETS })).toMatchObject({ success: true });
    expect(await followingCount()).toBe(0);
  });

  test("a block is in the list of blocks, a mute and a ban in those of the app", async () => {
    await client.publishBlock({ signerUuid, blockedFid: OTHER });
    const blocked = async () =>
      (await client.fetchBlockList({ blockerFid: USER })).blocks.map(({ blocked: user }) => user?.fid);
    expect(await blocked()).toEqual([OTHER]);
    await client.deleteBlock({ signerUuid, blockedFid: OTHER });
    expect(await blocked()).toEqual([]);
    const self = client.publishBlock({ signerUuid, blockedFid: USER });
    expect(await sdkError(self)).toMatchObject({ status: 400 });
    expect(await client.publishMute({ fid: USER, mutedFid: OTHER })).toMatchObject({ success: true });
    const muted = async () =>
      (await client.fetchMuteList({ fid: USER })).mutes.map(({ muted: user }) => user?.fid);
    expect(await muted()).toEqual([OTHER]);
    await client.deleteMute({ fid: USER, mutedFid: OTHER });
    expect(await muted()).toEqual([]);
    expect(await client.publishBans({ fids: [OTHER] })).toMatchObject({ success: true });
    const banned = async () => (await client.fetchBanList({})).bans.map((ban) => ban.banned?.fid);
    expect(await banned()).toEqual([OTHER]);
    await client.deleteBans({ fids: [OTHER] });
    expect(await banned()).toEqual([]);
  });
});

describe("a profile", () => {
  test("changes only the given fields, and one bad field changes nothing", async () => {
    const bio = "a new bio";
    await client.updateUser({
      signerUuid,
      bio,
      displayName: "New Name",
      location: { latitude: 52.52, longitude: 13.405 },
      verifiedAccounts: { x: "NewX", github: "new-github" },
    });
    const user = async () => (await client.fetchBulkUsers({ fids: [USER] })).users[0];
    expect(await user()).toMatchObject({ display_name: "New Name", profile: { bio: { text: bio } } });
    const bad = client.updateUser({ signerUuid, bio: "never", username: "not-mine" });
    expect(await sdkError(bad)).toMatchObject({ status: 400 });
    expect(await user()).toMatchObject({ profile: { bio: { text: bio } } });
  });

  test("an address is verified by its claim, and no longer", async () => {
    const claim = { signerUuid, ...(await verificationClaim(USER)) };
    await client.publishVerification(claim);
    const owners = async () =>
      Object.values(await client.fetchBulkUsersByEthOrSolAddress({ addresses: [claim.address] })).flat();
    expect((await owners()).map(({ fid }) => fid)).toEqual([USER]);
    await client.deleteVerification(claim);
    await client.deleteVerification(claim);
    expect(await owners()).toEqual([]);
    const forged = client.publishVerification({ ...claim, blockHash: `0x${"0c".repeat(32)}` });
    expect(await sdkError(forged)).toMatchObject({ status: 400 });
  });
});

describe("seen notifications", () => {
  test("are only those that the owner of the key has marked", async () => {
    const { hash } = await publish("who likes this?");
    await client.publishReaction({ signerUuid: others, reactionType: ReactionType.Like, target: hash });
    const unseen = async (by = client) => {
      const page = await by.fetchAllNotifications({ fid: USER });
      // biome-ignore lint/suspicious/noExplicitAny: the SDK's type lacks the field
      return [(page as any).unseen_notifications_count, page.notifications.map(({ seen }) => seen)];
    };
    const [before] = await unseen();
    expect(before).toBeGreaterThan(0);
    await client.markNotificationsAsSeen({ signerUuid });
    expect(await unseen()).toEqual([0, expect.not.arrayContaining([false])]);
    const stranger = sdkClient(url, { apiKey: await keyOf(["read"], STRANGER) });
    expect((await unseen(stranger))[0]).toBe(before);
    expect((await unseen(sdkClient(url)))[0]).toBe(before);
  });
});
