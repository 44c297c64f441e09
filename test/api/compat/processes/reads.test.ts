import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { NeynarAPIClient } from "@neynar/nodejs-sdk";
import type { OpenApiDocument } from "../../../../src/http/openapi/document.ts";
import { startDemoNode } from "../../../support/demo-node.ts";
import { expectMatchesOpenApi, pathsWithAliases } from "../../../support/openapi.ts";
import { type RunningNode, tempDir } from "../../../support/program.ts";
import { type DemoFacts, readDemoFacts } from "../demo-facts.ts";
import { expectPromised, recordingAxios, type SdkMethod, sdkClient, sdkError, sdkRequests } from "../sdk.ts";

/** The SDK's reads against a node with the demo network; only the base path is changed. */

const dir = tempDir();
const { instance: axiosInstance, calls } = recordingAxios();
let node: RunningNode;
let document: OpenApiDocument;
let facts: DemoFacts;
let client: NeynarAPIClient;
beforeAll(async () => {
  node = await startDemoNode({ dataDir: `${dir.path}/data` });
  document = (await (await fetch(`${node.url}/openapi.json`)).json()) as OpenApiDocument;
  facts = await readDemoFacts(node.url);
  // Behind a proxy the base path may end with a slash; the SDK then doubles it.
  client = sdkClient(`${node.url}/`, { axiosInstance });
}, 180_000);
afterAll(async () => {
  await node.stop();
  dir[Symbol.dispose]();
});

// biome-ignore lint/suspicious/noExplicitAny: responses of every shape, which are checked against the SDK's types at run time
type Body = any;

interface Read {
  readonly method: SdkMethod;
  readonly name: string;
  readonly call: (facts: DemoFacts) => Promise<Body>;
  readonly shows: ((response: Body, facts: DemoFacts) => void) | undefined;
}

const reads: Read[] = [];

/** @param shows checks of a response beyond its types */
function read(
  method: SdkMethod,
  params: (facts: DemoFacts) => Readonly<Record<string, unknown>>,
  shows?: (response: Body, facts: DemoFacts) => void,
  name: string = method,
) {
  const call = (input: DemoFacts) => {
    const send = client[method] as unknown as (params: unknown) => Promise<Body>;
    return send.call(client, params(input));
  };
  reads.push({ method, name, call, shows });
}

/** The response has entries under a key, so that their types were checked. */
const some = (key: string) => (response: Body) => expect(response[key].length).toBeGreaterThan(0);
const someAnd =
  (key: string, check: (items: Body[], facts: DemoFacts, response: Body) => void) =>
  (response: Body, input: DemoFacts) => {
    some(key)(response);
    check(response[key], input, response);
  };
const fidsOf = (users: Body[]) => users.map(({ fid }) => fid);

const viewerFid = 6;
const isViewed = {
  following: expect.any(Boolean),
  followed_by: expect.any(Boolean),
  blocking: expect.any(Boolean),
  blocked_by: expect.any(Boolean),
  muting: expect.any(Boolean),
  banned: expect.any(Boolean),
};
const isViewedCast = { liked: expect.any(Boolean), recasted: expect.any(Boolean) };

// Users
read(
  "fetchBulkUsers",
  () => ({ fids: [4, 3], viewerFid }),
  ({ users }) => {
    expect(fidsOf(users)).toEqual([4, 3]);
    for (const user of users) expect(user.viewer_context).toEqual(isViewed);
  },
);
read(
  "fetchBulkUsersByEthOrSolAddress",
  ({ verified, solana, known }) => ({
    addresses: [
      ...verified.verified_addresses.eth_addresses,
      ...solana.verified_addresses.sol_addresses,
      known.custody_address,
    ],
  }),
  (response, { verified, solana, known }) => {
    const [eth = ""] = verified.verified_addresses.eth_addresses;
    const [sol = ""] = solana.verified_addresses.sol_addresses;
    expect(fidsOf(response[eth])).toContain(verified.fid);
    expect(fidsOf(response[sol])).toContain(solana.fid);
    expect(fidsOf(response[known.custody_address])).toEqual([known.fid]);
    expect(Object.keys(response)).not.toContain("users");
  },
);
read(
  "fetchBulkUsersByEthOrSolAddress",
  ({ known }) => ({ addresses: [known.custody_address], addressTypes: ["verified_address"] }),
  (response, { known }) => expect(response[known.custody_address] ?? []).toEqual([]),
  "fetchBulkUsersByEthOrSolAddress of verified addresses only",
);
read(
  "lookupUserByUsername",
  ({ known }) => ({ username: known.username, viewerFid }),
  ({ user }, { known }) => {
    expect(user.fid).toBe(known.fid);
    expect(user.viewer_context).toEqual(isViewed);
  },
);
read(
  "lookupUserByCustodyAddress",
  ({ known }) => ({ custodyAddress: known.custody_address }),
  ({ user }, { known }) => expect(user.fid).toBe(known.fid),
);
read(
  "lookupUsersByXUsername",
  ({ onX }) => ({
    xUsername: onX.verified_accounts.find(({ platform }) => platform === "x")?.username ?? "",
  }),
  ({ users }, { onX }) => expect(fidsOf(users)).toContain(onX.fid),
);
read(
  "fetchUsersByLocation",
  ({ located }) => ({
    latitude: located.profile.location?.latitude ?? 0,
    longitude: located.profile.location?.longitude ?? 0,
    limit: 5,
    viewerFid,
  }),
  someAnd("users", (users, { located }) =>
    expect(users[0].profile.location).toMatchObject(located.profile.location ?? {}),
  ),
);
read(
  "searchUser",
  ({ known }) => ({ q: known.username.slice(0, 3), viewerFid }),
  ({ result }, { known }) => expect(fidsOf(result.users)).toContain(known.fid),
);
read(
  "fetchVerifications",
  ({ solana }) => ({ fid: solana.fid }),
  someAnd("verifications", (items) => {
    expect(new Set(items.map(({ protocol }) => protocol))).toEqual(new Set(["evm", "solana"]));
  }),
);
read(
  "lookupUserStorageAllocations",
  () => ({ fid: 3 }),
  someAnd("allocations", (items, _, response) => {
    expect(items[0]).toMatchObject({ user: { fid: 3 }, expiry: expect.any(String) });
    expect(response.total_active_units).toBeGreaterThan(0);
  }),
);
read(
  "lookupUserStorageUsage",
  () => ({ fid: 3 }),
  (response) =>
    expect(response).toMatchObject({
      user: { fid: 3 },
      casts: { used: expect.any(Number), capacity: expect.any(Number) },
      links: { used: expect.any(Number) },
      reactions: { used: expect.any(Number) },
      verified_addresses: { used: expect.any(Number) },
      username_proofs: { used: expect.any(Number) },
    }),
);
read("fetchUserChannels", ({ inChannel }) => ({ fid: inChannel.cast.author.fid, limit: 5 }));
read(
  "fetchUserChannelMemberships",
  () => ({ fid: 3 }),
  someAnd("members", (members) =>
    expect(members.map(({ role, channel }) => [role, channel.id])).toEqual([
      ["owner", "bread-club"],
      ["member", "night-trains"],
      ["moderator", "atelier"],
    ]),
  ),
);
read(
  "getUserBestFriends",
  ({ known }) => ({ fid: known.fid, limit: 5 }),
  someAnd("users", (users) => {
    expect(users[0]).toMatchObject({
      username: expect.any(String),
      mutual_affinity_score: expect.any(Number),
    });
  }),
);
read(
  "fetchUserInteractions",
  ({ reply }) => ({ fids: [reply.author.fid, reply.parent_author.fid] }),
  some("interactions"),
);
read("fetchUserBalance", () => ({ fid: 3, networks: ["base"] }));
read("fetchSubscribedToForFid", () => ({ fid: 3, subscriptionProvider: "fabric_stp" }));
read("fetchSubscribersForFid", () => ({ fid: 3, subscriptionProvider: "fabric_stp" }));
read("fetchSubscriptionsForFid", () => ({ fid: 3, subscriptionProvider: "fabric_stp" }));

// Follows
for (const method of ["fetchUserFollowers", "fetchUserFollowing"] as const) {
  read(
    method,
    ({ known }) => ({ fid: known.fid, viewerFid, limit: 20 }),
    someAnd("users", (users) => {
      expect(users[0]).toMatchObject({
        object: "follower",
        user: { object: "user", viewer_context: isViewed },
      });
    }),
  );
}
read(
  "fetchRelevantFollowers",
  ({ known, viewer }) => ({ targetFid: known.fid, viewerFid: viewer.fid }),
  (response) => {
    some("top_relevant_followers_hydrated")(response);
    some("all_relevant_followers_dehydrated")(response);
  },
);
read("fetchUserReciprocalFollowers", ({ viewer }) => ({ fid: viewer.fid, viewerFid }), some("users"));
read("fetchFollowSuggestions", ({ viewer }) => ({ fid: viewer.fid, viewerFid }), some("users"));

// Casts
read(
  "lookupCastByHashOrUrl",
  ({ thread }) => ({ identifier: thread.hash, type: "hash", viewerFid }),
  ({ cast }) => {
    expect(cast.viewer_context).toEqual(isViewedCast);
    expect(cast.author.viewer_context).toEqual(isViewed);
  },
);
read(
  "lookupCastByHashOrUrl",
  ({ reply }) => ({
    identifier: `https://farcaster.xyz/${reply.author.username}/${reply.hash.slice(0, 10)}`,
    type: "url",
  }),
  ({ cast }, { reply }) => expect(cast).toMatchObject({ hash: reply.hash, parent_hash: reply.parent_hash }),
  "lookupCastByHashOrUrl by URL",
);
read(
  "fetchBulkCasts",
  ({ thread, reply }) => ({ casts: [thread.hash, reply.hash], viewerFid }),
  ({ result }, { thread, reply }) =>
    expect(result.casts.map(({ hash }: Body) => hash)).toEqual([thread.hash, reply.hash]),
);
read(
  "fetchBulkCasts",
  ({ thread, reply }) => ({ casts: [reply.hash, thread.hash], sortType: "likes" }),
  ({ result }) => {
    const likes = result.casts.map(({ reactions }: Body) => reactions.likes_count);
    expect(likes).toEqual(likes.toSorted((a: number, b: number) => b - a));
  },
  "fetchBulkCasts by likes",
);
read(
  "searchCasts",
  () => ({ q: "bread", viewerFid, limit: 5 }),
  ({ result }) => some("casts")(result),
);
read(
  "searchCasts",
  ({ inChannel }) => ({ q: inChannel.cast.text.split(" ")[0] ?? "", channelId: inChannel.id }),
  ({ result }, { inChannel }) => {
    some("casts")(result);
    for (const { channel } of result.casts) expect(channel.id).toBe(inChannel.id);
  },
  "searchCasts in a channel",
);
read(
  "searchCasts",
  ({ thread }) => ({ q: thread.text.split(" ")[0] ?? "", authorFid: thread.author.fid }),
  ({ result }, { thread }) => {
    some("casts")(result);
    for (const { author } of result.casts) expect(author.fid).toBe(thread.author.fid);
  },
  "searchCasts of an author",
);
read(
  "lookupCastConversation",
  ({ thread }) => ({ identifier: thread.hash, type: "hash", replyDepth: 2, viewerFid, limit: 2 }),
  ({ conversation, next }, { thread }) => {
    expect(conversation.cast.hash).toBe(thread.hash);
    expect(conversation.cast.direct_replies).toHaveLength(2);
    expect(conversation.cast.direct_replies[0]).toMatchObject({ direct_replies: expect.any(Array) });
    if (thread.replies.count > 2) expect(next.cursor).toEqual(expect.any(String));
  },
);
read(
  "lookupCastConversation",
  ({ reply }) => ({ identifier: reply.hash, type: "hash", includeChronologicalParentCasts: true }),
  ({ conversation }, { reply }) =>
    expect(conversation.chronological_parent_casts.at(-1).hash).toBe(reply.parent_hash),
  "lookupCastConversation with parents",
);
read("fetchCastQuotes", ({ quoted }) => ({ identifier: quoted, type: "hash", viewerFid }), some("casts"));
read("fetchCastMetrics", () => ({ q: "bread" }));
read("lookupCastConversationSummary", ({ thread }) => ({ identifier: thread.hash }));
read("fetchEmbeddedUrlMetadata", () => ({ url: "https://example.com" }));

// Feeds
read(
  "fetchFeed",
  ({ viewer }) => ({ feedType: "following", fid: viewer.fid, viewerFid, limit: 30 }),
  some("casts"),
);
read(
  "fetchFeed",
  () => ({ feedType: "filter", filterType: "fids", fids: [3, 4], withRecasts: false, viewerFid }),
  someAnd("casts", (casts) => {
    for (const { author, viewer_context } of casts) {
      expect([3, 4]).toContain(author.fid);
      expect(viewer_context).toEqual(isViewedCast);
    }
  }),
  "fetchFeed of fids",
);
read(
  "fetchFeed",
  ({ inChannel }) => ({ feedType: "filter", filterType: "parent_url", parentUrl: inChannel.parent_url }),
  some("casts"),
  "fetchFeed of a parent URL",
);
read(
  "fetchFeed",
  ({ inChannel }) => ({ feedType: "filter", filterType: "channel_id", channelId: inChannel.id }),
  someAnd("casts", (casts, { inChannel }) => {
    for (const { channel } of casts) expect(channel.id).toBe(inChannel.id);
  }),
  "fetchFeed of a channel",
);
read(
  "fetchFeed",
  () => ({ feedType: "filter", filterType: "global_trending" }),
  some("casts"),
  "fetchFeed of what is trending",
);
read("fetchUserFollowingFeed", ({ viewer }) => ({ fid: viewer.fid, viewerFid, limit: 30 }), some("casts"));
read(
  "fetchUserFollowingFeed",
  ({ viewer }) => ({ fid: viewer.fid, withRecasts: false, limit: 30 }),
  someAnd("casts", (casts) => {
    // Casts of a user's follows, not their replies to others.
    for (const { parent_hash } of casts) expect(parent_hash).toBeNull();
  }),
  "fetchUserFollowingFeed without recasts",
);
read("fetchTrendingFeed", () => ({ viewerFid, limit: 10, timeWindow: "24h" }), some("casts"));
read(
  "fetchFeedByChannelIds",
  ({ inChannel }) => ({ channelIds: [inChannel.id], viewerFid, withReplies: false }),
  some("casts"),
);
read(
  "fetchFeedByParentUrls",
  ({ inChannel }) => ({ parentUrls: [inChannel.parent_url], viewerFid }),
  some("casts"),
);
read("fetchFeedForYou", ({ viewer }) => ({ fid: viewer.fid, viewerFid }), some("casts"));
read("fetchFeedByTopic", () => ({ slug: "bread" }), some("casts"));
read("fetchFrameCatalog", () => ({ limit: 5, categories: ["games" as const] }));
read("searchFrames", () => ({ q: "bread" }));
read("fetchRelevantFrames", ({ viewer }) => ({ viewerFid: viewer.fid }));
read("listTrendingTopics", () => ({ limit: 5 }), some("topics"));
read("fetchCastsForUser", ({ thread }) => ({ fid: thread.author.fid, viewerFid, limit: 150 }), some("casts"));
read(
  "fetchCastsForUser",
  ({ reply }) => ({ fid: reply.author.fid, includeReplies: false, limit: 150 }),
  ({ casts }) => {
    for (const { parent_hash } of casts) expect(parent_hash).toBeNull();
  },
  "fetchCastsForUser without replies",
);
read("fetchPopularCastsByUser", ({ thread }) => ({ fid: thread.author.fid, viewerFid }), some("casts"));
read("fetchRepliesAndRecastsForUser", ({ reply }) => ({ fid: reply.author.fid, viewerFid }), some("casts"));

// Reactions
read(
  "fetchCastReactions",
  ({ recasted }) => ({ hash: recasted.hash, types: ["likes", "recasts"], viewerFid, limit: 100 }),
  someAnd("reactions", (items) => {
    expect(new Set(items.map(({ reaction_type }) => reaction_type))).toEqual(new Set(["like", "recast"]));
    expect(items[0].user.viewer_context).toEqual(isViewed);
  }),
);
read(
  "fetchUserReactions",
  ({ viewer }) => ({ fid: viewer.fid, type: "likes", viewerFid }),
  someAnd("reactions", (items) => {
    expect(items[0]).toMatchObject({ object: "likes", reaction_type: "like", cast: { object: "cast" } });
  }),
);

// Channels
read(
  "lookupChannel",
  ({ inChannel }) => ({ id: inChannel.id, viewerFid }),
  ({ channel }, { inChannel }) =>
    expect(channel).toMatchObject({ id: inChannel.id, viewer_context: { following: expect.any(Boolean) } }),
);
read(
  "lookupChannel",
  ({ inChannel }) => ({ id: inChannel.parent_url, type: "parent_url" }),
  ({ channel }, { inChannel }) => expect(channel.id).toBe(inChannel.id),
  "lookupChannel by parent URL",
);
read("fetchAllChannels", () => ({ limit: 200 }), some("channels"));
read("fetchBulkChannels", ({ inChannel }) => ({ ids: [inChannel.id], viewerFid }), some("channels"));
read(
  "fetchBulkChannels",
  ({ inChannel }) => ({ ids: [inChannel.parent_url], type: "parent_url" }),
  some("channels"),
  "fetchBulkChannels by parent URL",
);
read("searchChannels", ({ inChannel }) => ({ q: inChannel.id.slice(0, 3) }), some("channels"));
read(
  "fetchTrendingChannels",
  () => ({ timeWindow: "7d" }),
  someAnd("channels", (items) => {
    expect(items[0]).toMatchObject({ object: "channel_activity", channel: { object: "channel" } });
  }),
);
read("fetchChannelMembers", ({ inChannel }) => ({ channelId: inChannel.id, limit: 20 }), some("members"));
read("fetchFollowersForAChannel", ({ inChannel }) => ({ id: inChannel.id, viewerFid, limit: 1000 }));
read("fetchRelevantFollowersForAChannel", ({ inChannel }) => ({ id: inChannel.id, viewerFid }));
/** The registered channels of the demo network; the second has no owner. */
const REGISTERED = "night-trains";
const PARKED = "star-charts";
const ofRegistered = (
  method: SdkMethod,
  params: Readonly<Record<string, unknown>>,
  shows: (response: Body) => void,
) => read(method, () => params, shows, `check 28: ${method} of registered channels`);
ofRegistered("lookupChannel", { id: REGISTERED, viewerFid }, ({ channel }) =>
  expect(channel).toMatchObject({ id: REGISTERED, source: "protocol", lead: { fid: 9 } }),
);
ofRegistered("fetchBulkChannels", { ids: [REGISTERED, PARKED, "bread-club"], viewerFid }, ({ channels }) =>
  expect((channels as Body[]).map(({ id, lead }) => [id, lead?.fid])).toEqual([
    [REGISTERED, 9],
    [PARKED, undefined],
    ["bread-club", 3],
  ]),
);
ofRegistered("searchChannels", { q: "star ch" }, ({ channels }) => expect(channels[0].id).toBe(PARKED));
ofRegistered("fetchChannelMembers", { channelId: REGISTERED, limit: 20 }, ({ members }) =>
  expect((members as Body[]).slice(0, 1).map(({ role, user }) => [role, user.fid])).toEqual([["owner", 9]]),
);
ofRegistered("fetchFollowersForAChannel", { id: REGISTERED, viewerFid, limit: 1000 }, ({ users }) =>
  expect(users).toHaveLength(34),
);
ofRegistered(
  "fetchRelevantFollowersForAChannel",
  { id: REGISTERED, viewerFid: 3 },
  some("top_relevant_followers_hydrated"),
);
ofRegistered("fetchUserChannels", { fid: 3, limit: 10 }, some("channels"));
read("fetchChannelInvites", ({ inChannel }) => ({ channelId: inChannel.id }));
read("fetchUsersActiveChannels", ({ inChannel }) => ({ fid: inChannel.cast.author.fid }), some("channels"));

// Signers, blocks, names, notifications
read(
  "lookupDeveloperManagedSigner",
  ({ signer }) => ({ publicKey: signer }),
  (response, { signer }) => expect(response).toEqual({ public_key: signer, status: "approved", fid: 3 }),
);
read(
  "fetchBlockList",
  ({ blocker }) => ({ blockerFid: blocker }),
  someAnd("blocks", (items) => {
    expect(items[0]).toMatchObject({ object: "block", blocked: { object: "user" } });
  }),
);
read("fetchMuteList", ({ muter }) => ({ fid: muter }), some("mutes"));
read("fetchBanList", () => ({ limit: 10 }));
read(
  "isFnameAvailable",
  ({ known }) => ({ fname: known.username }),
  ({ available }) => expect(available).toBe(false),
);
read(
  "isFnameAvailable",
  () => ({ fname: "nobody-has-this" }),
  ({ available }) => expect(available).toBe(true),
  "isFnameAvailable of a free name",
);
read(
  "fetchAllNotifications",
  ({ known }) => ({ fid: known.fid, limit: 25 }),
  someAnd("notifications", (items) => {
    for (const { type, seen } of items) {
      expect(["follows", "recasts", "likes", "mention", "reply", "quote"]).toContain(type);
      expect(seen).toBeBoolean();
    }
  }),
);
read(
  "fetchAllNotifications",
  ({ known }) => ({ fid: known.fid, type: ["follows", "likes"], limit: 25 }),
  someAnd("notifications", (items) => {
    for (const { type } of items) expect(["follows", "likes"]).toContain(type);
  }),
  "fetchAllNotifications of some types",
);
read("fetchChannelNotificationsForUser", ({ known, inChannel }) => ({
  fid: known.fid,
  channelIds: [inChannel.id],
}));
read("fetchNotificationsByParentUrlForUser", ({ known, inChannel }) => ({
  fid: known.fid,
  parentUrls: [inChannel.parent_url],
}));

describe("the SDK's", () => {
  test.each(reads)("$name resolves with the type that it declares", async ({ method, call, shows }) => {
    calls.length = 0;
    const response = await call(facts);
    expectPromised(method, response);
    // A copy, because the test runner's matchers modify their arguments.
    shows?.(structuredClone(response), facts);
    const [sent] = calls;
    const route = (sent?.path ?? "").replace(/\/{2,}/g, "/").replace(/\/$/, "");
    expectMatchesOpenApi(document, "get", route, sent?.status ?? 0, sent?.body);
  });
});

const NEEDS_VENDOR_STATE = ["getFreshAccountFID"];
/** Tested with the signers that the node keeps. */
const OF_SIGNERS = ["lookupSigner", "fetchSigners", "fetchNonce", "lookupDeveloperManagedAuthAddress"];
/** Tested with the login page. */
const OF_LOGIN = ["fetchAuthorizationUrl"];
/** Tested with their apps and their webhooks. */
const OF_APPS = ["getNotificationCampaignStats", "fetchNotificationTokens", "lookupWebhook", "fetchWebhooks"];

test("includes every read of the SDK that the node has a path for", () => {
  const tested = new Set<string>([
    ...reads.map(({ method }) => method),
    ...NEEDS_VENDOR_STATE,
    ...OF_SIGNERS,
    ...OF_LOGIN,
    ...OF_APPS,
  ]);
  const paths = Object.entries(pathsWithAliases(document)).flatMap(([path, methods]) =>
    "200" in ((methods as { get?: { responses: object } }).get?.responses ?? {}) ? [path] : [],
  );
  const served = sdkRequests().filter(
    ({ method, path }) => method === "GET" && paths.includes(path.replace(/\/$/, "")),
  );
  expect(served.length).toBeGreaterThan(60);
  expect(served.map(({ name }) => name).filter((name) => !tested.has(name))).toEqual([]);
  expect([...tested].filter((name) => !served.some((request) => request.name === name))).toEqual([]);
});

test("features that require the vendor's state fail with a status and a message", async () => {
  // The SDK sends this one only with the header of a wallet.
  const headers = { "x-wallet-id": "w" };
  const response = await fetch(`${node.url}/v2/farcaster/user/fid/`, { headers });
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(await response.json()).toEqual({ message: expect.any(String) });
});

test("an unregistered key is 404", async () => {
  const call = client.lookupDeveloperManagedSigner({ publicKey: `0x${"77".repeat(32)}` });
  expect(await sdkError(call)).toEqual({ status: 404, body: { message: expect.any(String) } });
});

/** For the same request both dialects must return the same data: they share one set of queries. */
const sameQuestions: readonly [
  path: (facts: DemoFacts) => string,
  inSpec: (response: Body) => Body[],
  call: (facts: DemoFacts) => Promise<Body[]>,
][] = [
  [
    ({ known }) => `/followers?fid=${known.fid}&limit=50`,
    ({ users }) => fidsOf(users),
    async ({ known }) => {
      const { users } = await client.fetchUserFollowers({ fid: known.fid, limit: 50 });
      return users.map(({ user }) => user.fid);
    },
  ],
  [
    ({ viewer }) => `/following?fid=${viewer.fid}&limit=50`,
    ({ users }) => fidsOf(users),
    async ({ viewer }) => {
      const { users } = await client.fetchUserFollowing({ fid: viewer.fid, limit: 50 });
      return users.map(({ user }) => user.fid);
    },
  ],
  [
    ({ thread }) => `/feed/user/casts?fid=${thread.author.fid}&limit=50`,
    ({ casts }) => casts.map(({ hash, text }: Body) => [hash, text]),
    async ({ thread }) => {
      const { casts } = await client.fetchCastsForUser({ fid: thread.author.fid, limit: 50 });
      return casts.map(({ hash, text }) => [hash, text]);
    },
  ],
  [
    ({ recasted }) => `/reactions/cast?hash=${recasted.hash}&types=likes&limit=50`,
    ({ reactions }) => reactions.map(({ user, timestamp }: Body) => [user.fid, timestamp * 1000]),
    async ({ recasted }) => {
      const types = ["likes" as const];
      const { reactions } = await client.fetchCastReactions({ hash: recasted.hash, types, limit: 50 });
      return reactions.map(({ user, reaction_timestamp }) => [user.fid, Date.parse(reaction_timestamp)]);
    },
  ],
  [
    ({ inChannel }) => `/feed/channels?channel_ids=${inChannel.id}&limit=50`,
    ({ casts }) => casts.map(({ hash, timestamp }: Body) => [hash, timestamp * 1000]),
    async ({ inChannel }) => {
      const { casts } = await client.fetchFeedByChannelIds({ channelIds: [inChannel.id], limit: 50 });
      return casts.map(({ hash, timestamp }) => [hash, Date.parse(timestamp)]);
    },
  ],
  [
    () => "/cast/search?q=bread&limit=20",
    ({ casts }) => casts.map(({ hash }: Body) => hash),
    async () => (await client.searchCasts({ q: "bread", limit: 20 })).result.casts.map(({ hash }) => hash),
  ],
  [
    ({ blocker }) => `/block/list?fid=${blocker}`,
    ({ users }) => fidsOf(users),
    async ({ blocker }) => {
      const { blocks } = await client.fetchBlockList({ blockerFid: blocker });
      return blocks.map(({ blocked }) => blocked?.fid);
    },
  ],
];

test.each(sameQuestions.map((question, at) => [at, question] as const))(
  "both dialects return the same data for the same request (%i)",
  async (_, [path, inSpec, call]) => {
    const response = await (await fetch(`${node.url}/v2/svc${path(facts)}`)).json();
    const expected = inSpec(response);
    expect(expected.length).toBeGreaterThan(0);
    expect(await call(facts)).toEqual(expected);
  },
);

test("the viewer's contexts agree with the lists", async () => {
  const fids = Array.from({ length: 100 }, (_, at) => at + 1);
  const { fid } = facts.viewer;
  const read = async (path: string): Promise<Body> => (await fetch(`${node.url}/v2/svc${path}`)).json();
  const all = async (path: string) => new Set(fidsOf((await read(`${path}?fid=${fid}&limit=100`)).users));
  const [following, followers, blocking] = [
    await all("/following"),
    await all("/followers"),
    await all("/block/list"),
  ];
  const { users } = await client.fetchBulkUsers({ fids, viewerFid: fid });
  for (const user of users) {
    expect([user.fid, user.viewer_context]).toEqual([
      user.fid,
      {
        following: following.has(user.fid),
        followed_by: followers.has(user.fid),
        blocking: blocking.has(user.fid),
        blocked_by: expect.any(Boolean),
        muting: expect.any(Boolean),
        banned: false,
      },
    ] as never);
  }
});

test("paging with the SDK's cursors returns every follower once", async () => {
  const seen: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.fetchUserFollowers({
      fid: facts.known.fid,
      limit: 7,
      ...(cursor ? { cursor } : {}),
    });
    seen.push(...page.users.map(({ user }) => user.fid));
    cursor = page.next.cursor || undefined;
  } while (cursor);
  expect(seen).toHaveLength(facts.known.follower_count);
  expect(new Set(seen).size).toBe(seen.length);
});
