import { expect, test } from "bun:test";
import { Message as OfficialMessage, MessageType as OfficialType } from "@farcaster/hub-nodejs";
import { eventJson, infoJson, limitsJson, signerJson } from "../../../src/api/operations/hub/chain-json.ts";
import { messageJson, proofJson } from "../../../src/api/operations/hub/message-json.ts";
import { GetInfoResponse } from "../../../src/protocol/wire/generated/hub.ts";
import {
  CastType,
  Message,
  MessageType,
  UserNameType,
} from "../../../src/protocol/wire/generated/message.ts";
import { OnChainEvent, type OnChainEventType } from "../../../src/protocol/wire/generated/on-chain.ts";
import { StorageLimitsResponse } from "../../../src/protocol/wire/generated/reads.ts";
import { Signer } from "../../../src/protocol/wire/generated/state.ts";
import {
  fnameProof,
  proEvent,
  registerEvent,
  rentEvent,
  signerEvent,
  transferEvent,
} from "../../support/events.ts";
import { makeSigner, signMessage, type TestData } from "../../support/messages.ts";
import golden from "./golden.json";

const SIGNER = makeSigner("golden");
const HASH = Buffer.alloc(20, 0xab);
const ADDRESS = Buffer.alloc(20, 0xcd);
const SOLANA = Buffer.alloc(32, 7);

const message = (type: MessageType, body: TestData["body"]) =>
  messageJson(Message.decode(signMessage({ fid: 3, type, body }, SIGNER)));
const event = (one: OnChainEvent) => eventJson(OnChainEvent.encode(one).finish());
const ID = { fid: 2, hash: HASH };

/** Each kind of object that `/v1` shows. */
const SHOWN: Record<string, () => unknown> = {
  cast: () =>
    message(MessageType.MESSAGE_TYPE_CAST_ADD, {
      $case: "castAddBody",
      value: {
        text: "hi @",
        mentions: [2],
        mentionsPositions: [3],
        parent: { $case: "parentCastId", value: ID },
        embeds: [
          { embed: { $case: "url", value: "https://a.example/" } },
          { embed: { $case: "castId", value: ID } },
        ],
        type: CastType.CAST_TYPE_LONG_CAST,
      },
    }),
  castUnderUrl: () =>
    message(MessageType.MESSAGE_TYPE_CAST_ADD, {
      $case: "castAddBody",
      value: { text: "", parent: { $case: "parentUrl", value: "https://a.example/" } },
    }),
  castRemove: () =>
    message(MessageType.MESSAGE_TYPE_CAST_REMOVE, { $case: "castRemoveBody", value: { targetHash: HASH } }),
  like: () =>
    message(MessageType.MESSAGE_TYPE_REACTION_ADD, {
      $case: "reactionBody",
      value: { type: 1, target: { $case: "targetCastId", value: ID } },
    }),
  recastOfUrl: () =>
    message(MessageType.MESSAGE_TYPE_REACTION_REMOVE, {
      $case: "reactionBody",
      value: { type: 2, target: { $case: "targetUrl", value: "https://a.example/" } },
    }),
  link: () =>
    message(MessageType.MESSAGE_TYPE_LINK_ADD, {
      $case: "linkBody",
      value: { type: "follow", target: { $case: "targetFid", value: 2 } },
    }),
  linkWithDisplayTime: () =>
    message(MessageType.MESSAGE_TYPE_LINK_ADD, {
      $case: "linkBody",
      value: { type: "follow", displayTimestamp: 77, target: { $case: "targetFid", value: 2 } },
    }),
  compactState: () =>
    message(MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE, {
      $case: "linkCompactStateBody",
      value: { type: "follow", targetFids: [2, 4] },
    }),
  verification: () =>
    message(MessageType.MESSAGE_TYPE_VERIFICATION_ADD, {
      $case: "verificationAddBody",
      value: { address: ADDRESS, claimSignature: Buffer.alloc(3, 1), blockHash: Buffer.alloc(32, 2) },
    }),
  solanaVerification: () =>
    message(MessageType.MESSAGE_TYPE_VERIFICATION_ADD, {
      $case: "verificationAddBody",
      value: { address: SOLANA, claimSignature: Buffer.alloc(3, 1), blockHash: SOLANA, protocol: 1 },
    }),
  verificationRemove: () =>
    message(MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE, {
      $case: "verificationRemoveBody",
      value: { address: ADDRESS },
    }),
  userData: () =>
    message(MessageType.MESSAGE_TYPE_USER_DATA_ADD, {
      $case: "userDataBody",
      value: { type: 12, value: "abc" },
    }),
  nameProof: () =>
    message(MessageType.MESSAGE_TYPE_USERNAME_PROOF, {
      $case: "usernameProofBody",
      value: {
        name: Buffer.from("ada.eth"),
        owner: ADDRESS,
        fid: 3,
        signature: Buffer.alloc(3, 1),
        timestamp: 1_700_000_000,
        type: UserNameType.USERNAME_TYPE_ENS_L1,
      },
    }),
  lend: () =>
    message(MessageType.MESSAGE_TYPE_LEND_STORAGE, {
      $case: "lendStorageBody",
      value: { toFid: 2, numUnits: 5, unitType: 2 },
    }),
  frameAction: () =>
    message(MessageType.MESSAGE_TYPE_FRAME_ACTION, {
      $case: "frameActionBody",
      value: { url: Buffer.from("https://a.example/"), buttonIndex: 1, castId: ID, address: ADDRESS },
    }),
  keyAdd: () =>
    message(MessageType.MESSAGE_TYPE_KEY_ADD, {
      $case: "keyAddBody",
      value: {
        key: SOLANA,
        keyType: 1,
        custodySignature: Buffer.alloc(3, 1),
        deadline: 9,
        nonce: 4,
        metadata: Buffer.alloc(2, 5),
        metadataType: 1,
        scopes: [1, 3],
        ttl: 60,
      },
    }),
  keyRemove: () =>
    message(MessageType.MESSAGE_TYPE_KEY_REMOVE, {
      $case: "keyRemoveBody",
      value: { key: SOLANA, signature: Buffer.alloc(3, 1), signatureType: 1, deadline: 9, nonce: 4 },
    }),
  fname: () => proofJson(fnameProof("ada", 0, ADDRESS, 1_700_000_000)),
  register: () => event(registerEvent(3, ADDRESS, { block: 5 })),
  transfer: () => event(transferEvent(3, ADDRESS, HASH, { block: 6 })),
  signerAdded: () => event(signerEvent(3, SOLANA, { block: 7 })),
  rent: () => event(rentEvent(3, 2, { block: 8 })),
  tier: () => event(proEvent(3, 30, { block: 9 })),
  unknownEvent: () =>
    event(OnChainEvent.fromPartial({ type: 77 as OnChainEventType, fid: 3, blockNumber: 1 })),
  gaslessSigner: () =>
    signerJson(
      Signer.encode(
        Signer.fromPartial({
          source: 2,
          key: SOLANA,
          keyType: 1,
          fid: 3,
          addedAt: 1,
          lastUsedAt: 2,
          ttl: 3,
          expiresAt: 5,
          scopes: [1],
          requestFid: 9,
          nonce: 4,
        }),
      ).finish(),
    ),
  storageLimits: () =>
    limitsJson(
      StorageLimitsResponse.fromPartial({
        limits: [
          { storeType: 1, name: "CASTS", limit: 5, used: 2 },
          { storeType: 7, name: "STORAGE_LENDS", limit: 1 },
        ],
        units: 2,
        unitDetails: [{ unitType: 1, unitSize: 2, purchasedUnitSize: 1, borrowedUnitSize: 1 }],
        tierSubscriptions: [{ tierType: 1, expiresAt: 9 }],
      }),
    ),
  info: () =>
    infoJson(
      GetInfoResponse.fromPartial({
        version: "1.2.3",
        dbStats: { numMessages: 5, numFidRegistrations: 2, approxSize: 4096 },
        numShards: 1,
        shardInfos: [{ shardId: 1, maxHeight: 8, numMessages: 5, approxSize: 4096 }],
      }),
      false,
    ),
};

test.each(Object.keys(SHOWN))("%s equals the golden file, key by key", (name) => {
  // SVC_UPDATE_GOLDEN=1 prints what the file should hold.
  if (process.env.SVC_UPDATE_GOLDEN === "1")
    console.log(JSON.stringify({ [name]: SHOWN[name]?.() }, null, 2));
  else expect(SHOWN[name]?.()).toEqual((golden as Record<string, unknown>)[name]);
});

test("the official client reads the numbers and names of the messages", () => {
  const typeOf = (name: keyof typeof golden) => OfficialMessage.fromJSON(golden[name]).data;
  expect(typeOf("cast")?.type).toBe(OfficialType.CAST_ADD);
  expect(typeOf("cast")?.castAddBody).toMatchObject({ text: "hi @", mentions: [2], type: 1 });
  expect(typeOf("verification")?.type).toBe(OfficialType.VERIFICATION_ADD_ETH_ADDRESS);
  expect(typeOf("solanaVerification")?.verificationAddAddressBody?.protocol).toBe(1);
  expect(typeOf("userData")?.userDataBody).toEqual({ type: 12, value: "abc" });
  expect(typeOf("link")?.linkBody).toMatchObject({ type: "follow", targetFid: 2 });
  expect(typeOf("recastOfUrl")?.reactionBody).toMatchObject({ type: 2, targetUrl: "https://a.example/" });
  expect(typeOf("castRemove")?.castRemoveBody?.targetHash).toEqual(HASH);
});
