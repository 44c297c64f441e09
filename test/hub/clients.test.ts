import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createVerifyAppKeyWithHub } from "@farcaster/miniapp-node";
import { Configuration, NeynarHubClient } from "@neynar/nodejs-sdk";
import {
  Message,
  MessageData,
  MessageType,
  UserDataType,
} from "../../src/protocol/wire/generated/message.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { keyAddedEvent } from "../support/envelopes.ts";
import { signerEvent } from "../support/events.ts";
import { importHubClient } from "../support/hub-clients/installed.ts";
import { DEFAULT_TIMESTAMP, encodeData, makeSigner, makeWallet, sealDataBytes } from "../support/messages.ts";
import { accountRecords, accountSigner, rentNow } from "../support/node.ts";
import { cast, hashBytes, likeUrl, link, signed, userData, verify, WALLET } from "../support/records.ts";

/** Published clients, unchanged, against a node. */

const CASTS = 23;
const APP_KEY = makeSigner("app key");
const REMOVED_KEY = makeSigner("removed app key");

let api: TestApi;
const casts = Array.from({ length: CASTS }, (_, n) => cast(3, `cast ${n}`, DEFAULT_TIMESTAMP + n));
const parent = cast(2, "the parent");
const parentId = { fid: 2, hash: `0x${hashBytes(parent).toString("hex")}` };

const reaction = (fid: number, type: number) =>
  signed(fid, {
    type: MessageType.MESSAGE_TYPE_REACTION_ADD,
    body: {
      $case: "reactionBody",
      value: { type, target: { $case: "targetCastId", value: { fid: 2, hash: hashBytes(parent) } } },
    },
  });

beforeAll(async () => {
  api = await startTestApi();
  for (const fid of [1, 2, 3]) api.node.ingestAll(accountRecords(fid));
  api.node.ingestEvent(keyAddedEvent(3, APP_KEY.publicKey, { block: 900_000 }, { requestFid: 2 }));
  api.node.ingestEvent(keyAddedEvent(3, REMOVED_KEY.publicKey, { block: 900_001 }, { requestFid: 2 }));
  api.node.ingestEvent(signerEvent(3, REMOVED_KEY.publicKey, { block: 900_002 }, "remove"));
  api.node.merge([
    parent,
    ...casts,
    signed(3, {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      body: {
        $case: "castAddBody",
        value: {
          text: "@ hello",
          mentions: [2],
          mentionsPositions: [0],
          parent: { $case: "parentCastId", value: { fid: 2, hash: hashBytes(parent) } },
        },
      },
    }),
    reaction(3, 1),
    reaction(1, 2),
    likeUrl(3, "https://a.example/x"),
    link(3, "follow", 2),
    link(1, "follow", 2),
    userData(3, UserDataType.USER_DATA_TYPE_BIO, "about me"),
    userData(3, UserDataType.USER_DATA_TYPE_DISPLAY, "Three"),
    verify(3),
  ]);
}, 180_000);
afterAll(() => api[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: the clients' types are not installed with the project
type Client = any;

describe("farcaster-js-hub-rest", () => {
  let client: Client;
  beforeAll(async () => {
    const { HubRestAPIClient } = await importHubClient("@standard-crypto/farcaster-js-hub-rest");
    client = new HubRestAPIClient({ hubUrl: api.url });
  }, 180_000);

  async function all(list: AsyncIterable<Client>): Promise<Client[]> {
    const items: Client[] = [];
    for await (const item of list) {
      items.push(item);
      if (items.length > 1000) throw new Error("the list does not end");
    }
    return items;
  }

  test("every list ends and has its rows, also in small pages", async () => {
    const page = { pageSize: 4 };
    expect((await all(client.listCastsByFid(3, page))).length).toBe(CASTS + 1);
    expect((await all(client.listCastsByFid(3, { ...page, reverse: true })))[0].data.timestamp).toBe(
      DEFAULT_TIMESTAMP + CASTS - 1,
    );
    expect((await all(client.listCastsByMention(2, page))).length).toBe(1);
    expect((await all(client.listCastsByParent({ fid: 2, hash: parentId.hash }, page))).length).toBe(1);
    expect((await all(client.listReactionsByFid(3, "Like", page))).length).toBe(2);
    expect((await all(client.listReactionsByCast(2, parentId.hash, "Like", page))).length).toBe(1);
    expect((await all(client.listReactionsByTarget("https://a.example/x", "Like", page))).length).toBe(1);
    expect((await all(client.listLinksByFid(3, page))).length).toBe(1);
    expect((await all(client.listLinksByTargetFid(2, { pageSize: 1 }))).length).toBe(2);
    expect((await all(client.listAllUserDataByFid(3, { pageSize: 1 }))).length).toBe(2);
    expect(await all(client.listFids({ pageSize: 2 }))).toEqual([1, 2, 3]);
    expect((await all(client.listVerificationsByFid(3, page))).length).toBe(1);
    expect((await client.listUsernameProofsForFid(3)).length).toBe(1);
    expect((await client.listOnChainEventsByFid(3, "EVENT_TYPE_STORAGE_RENT")).length).toBe(1);
  });

  test("objects are found, and every missing one is null", async () => {
    const hash = `0x${hashBytes(casts[0] ?? parent).toString("hex")}`;
    expect((await client.getCastById({ fid: 3, hash })).data.castAddBody.text).toBe("cast 0");
    expect(await client.getCastById({ fid: 2, hash })).toBeNull();
    const like = { fid: 3, targetFid: 2, targetHash: parentId.hash, reactionType: "Like" };
    expect((await client.getReactionById(like)).data.reactionBody.type).toBe("REACTION_TYPE_LIKE");
    expect(await client.getReactionById({ ...like, fid: 2 })).toBeNull();
    expect((await client.getLinkById(3, 2)).data.linkBody.type).toBe("follow");
    expect(await client.getLinkById(2, 3)).toBeNull();
    const bio = await client.getSpecificUserDataByFid(3, "USER_DATA_TYPE_BIO");
    expect(bio.data.userDataBody.value).toBe("about me");
    expect(await client.getSpecificUserDataByFid(3, "USER_DATA_TYPE_URL")).toBeNull();
    expect((await client.getUsernameProof("user3")).fid).toBe(3);
    expect(await client.getUsernameProof("nobody")).toBeNull();
    const key = `0x${Buffer.from(accountSigner(3).publicKey).toString("hex")}`;
    expect((await client.getOnChainSignerEventBySigner(3, key)).signerEventBody.key).toBe(key);
    expect(await client.getOnChainSignerEventBySigner(2, key)).toBeNull();
    expect(await client.getOnChainIdRegistryEventByAddress(WALLET)).toBeNull();
    expect((await client.getStorageLimitsByFid(3))[0].storeType).toBe("Casts");
    expect((await client.getHubInfo({ includeDbStats: true })).isSyncing).toBe(false);
  });

  test("submits, follows, likes and validates", async () => {
    const key = Buffer.from(accountSigner(1).privateKey).toString("hex");
    api.node.clock.setMs(Date.now());
    rentNow(api.node, 1);
    const submitted = await client.submitCast({ text: "from the client" }, 1, key);
    expect(submitted.data.castAddBody.text).toBe("from the client");
    expect((await client.followUser(3, 1, key)).data.linkBody.targetFid).toBe(3);
    const target = { fid: 2, hash: parentId.hash };
    expect((await client.submitReaction({ type: "like", target }, 1, key)).data.type).toBe(
      "MESSAGE_TYPE_REACTION_ADD",
    );
    expect((await client.unfollowUser(3, 1, key)).data.type).toBe("MESSAGE_TYPE_LINK_REMOVE");
    expect(await client.getLinkById(1, 3)).toBeNull();
    const validated = await client.validateMessage(Buffer.from(parent.bytes).toString("hex"));
    expect(validated.valid).toBe(true);
  });
});

describe("frames.js with the context of a hub", () => {
  const realFetch = globalThis.fetch;
  /** Responds to the client's question for a custody address, which it asks Optimism and not the hub. */
  const fetchWithoutOptimism = (async (input, init) => {
    if (!String(input instanceof Request ? input.url : input).startsWith("https://mainnet.optimism.io"))
      return realFetch(input, init);
    const { id } = JSON.parse(String(init?.body));
    const custody = Buffer.from(makeWallet("custody 3").address).toString("hex");
    return Response.json({ jsonrpc: "2.0", id, result: `0x${custody.padStart(64, "0")}` });
  }) as typeof fetch;
  beforeAll(() => {
    globalThis.fetch = fetchWithoutOptimism;
  });
  afterAll(() => {
    globalThis.fetch = realFetch;
  });

  function payloadOf(signer = accountSigner(3)) {
    const dataBytes = encodeData({
      type: MessageType.MESSAGE_TYPE_FRAME_ACTION,
      fid: 3,
      body: {
        $case: "frameActionBody",
        value: {
          url: Buffer.from("https://frame.example/"),
          buttonIndex: 2,
          castId: { fid: 2, hash: hashBytes(parent) },
        },
      },
    });
    // Wallets send the data and not its bytes.
    const message = {
      ...sealDataBytes(dataBytes, signer),
      data: MessageData.decode(dataBytes),
      dataBytes: undefined,
    };
    const messageBytes = Buffer.from(Message.encode(message).finish()).toString("hex");
    return { trustedData: { messageBytes }, untrustedData: {} };
  }

  test("getFrameMessage has the true likes, follows, addresses and user data", async () => {
    const { getFrameMessage } = await importHubClient("frames.js");
    const message = await getFrameMessage(payloadOf(), { hubHttpUrl: api.url });
    expect(message).toMatchObject({
      isValid: true,
      buttonIndex: 2,
      requesterFid: 3,
      requesterFollowsCaster: true,
      casterFollowsRequester: false,
      likedCast: true,
      recastedCast: false,
      requesterVerifiedAddresses: [WALLET.toLowerCase()],
      requesterUserData: { bio: "about me", displayName: "Three" },
    });
  }, 180_000);

  test("a frame action that a removed key signed is not valid", async () => {
    const { getFrameMessage } = await importHubClient("frames.js");
    const message = await getFrameMessage(payloadOf(REMOVED_KEY), { hubHttpUrl: api.url });
    expect(message.isValid).toBe(false);
  }, 180_000);
});

test("the hub verifier of miniapp-node accepts a live app key and refuses a removed one", async () => {
  const verifyAppKey = createVerifyAppKeyWithHub(api.url);
  const hex = (key: Uint8Array) => `0x${Buffer.from(key).toString("hex")}`;
  expect(await verifyAppKey(3, hex(APP_KEY.publicKey))).toEqual({ valid: true, appFid: 2 });
  expect(await verifyAppKey(3, hex(REMOVED_KEY.publicKey))).toEqual({ valid: false });
});

test("the hub client of the hosted SDK reads and validates", async () => {
  const client: Client = new NeynarHubClient(new Configuration({ apiKey: "any", basePath: api.url }));
  const found = await client.fetchUsersCasts({ fid: 3, pageSize: 5 });
  expect(found.messages.length).toBe(5);
  const next = await client.fetchUsersCasts({ fid: 3, pageSize: 50, pageToken: found.nextPageToken });
  expect(next.messages.length).toBe(CASTS + 1 - 5);
  const { data } = await client.lookupCastByHashAndFid({ fid: 2, hash: parentId.hash });
  expect(data.castAddBody.text).toBe("the parent");
  expect((await client.fetchCastsByParent({ fid: 2, hash: parentId.hash })).messages.length).toBe(1);
  expect((await client.fetchCastsMentioningUser({ fid: 2 })).messages.length).toBe(1);
  expect((await client.fetchFids({ shardId: 0 })).fids).toEqual([1, 2, 3]);
  expect((await client.fetchUserReactions({ fid: 3, reactionType: "Like" })).messages.length).toBe(2);
  const target = { targetFid: 2, targetHash: parentId.hash };
  expect((await client.fetchCastReactions({ ...target, reactionType: "Recast" })).messages.length).toBe(1);
  const like = await client.lookupReactionById({ fid: 3, ...target, reactionType: "Like" });
  expect(like.data.reactionBody.type).toBe("REACTION_TYPE_LIKE");
  const byUrl = { url: "https://a.example/x", reactionType: "Like" };
  expect((await client.fetchReactionsByTarget(byUrl)).messages.length).toBe(1);
  expect((await client.fetchUserFollowing({ fid: 3, linkType: "follow" })).messages.length).toBe(1);
  expect((await client.fetchUserFollowers({ targetFid: 2, linkType: "follow" })).messages.length).toBe(2);
  const relation = await client.lookupUserRelation({ fid: 3, targetFid: 2, linkType: "follow" });
  expect(relation.data.linkBody.targetFid).toBe(2);
  const bio = await client.fetchUserData({ fid: 3, userDataType: "USER_DATA_TYPE_BIO" });
  expect(bio.data.userDataBody.value).toBe("about me");
  expect((await client.lookupUserStorageLimit({ fid: 3 })).limits.length).toBe(7);
  expect((await client.fetchUsernameProofByName({ name: "user3" })).fid).toBe(3);
  expect((await client.fetchUsernameProofsByFid({ fid: 3 })).proofs.length).toBe(1);
  expect((await client.fetchVerificationsByFid({ fid: 3 })).messages.length).toBe(1);
  expect((await client.fetchUserOnChainSignersEvents({ fid: 3 })).events.length).toBe(2);
  expect(
    (await client.fetchUserOnChainEvents({ fid: 3, eventType: "EVENT_TYPE_ID_REGISTER" })).events.length,
  ).toBe(1);
  expect((await client.lookupHubInfo({ dbstats: true })).dbStats.numFidRegistrations).toBe(3);
  expect((await client.validateMessage({ body: Buffer.from(parent.bytes) })).valid).toBe(true);
});
