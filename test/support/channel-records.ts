import { settleChannelsActive } from "../../src/db/index/channels/follows.ts";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import { markDemo } from "../../src/db/index/identity.ts";
import { ethereumClaimSignature } from "../../src/demo/claims.ts";
import { createKeyring } from "../../src/demo/keys.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import { DEMO_REGISTRAR, followUriOf } from "../../src/protocol/channels/follow-uri.ts";
import { channelIdOfKey } from "../../src/protocol/channels/registrations.ts";
import {
  ChannelMemberAction,
  ChannelModerateAction,
  type ChannelUpdateBody,
  FarcasterNetwork,
  MessageType,
} from "../../src/protocol/wire/generated/message.ts";
import {
  ChannelRegisterEventType,
  OnChainEvent,
  OnChainEventType,
} from "../../src/protocol/wire/generated/on-chain.ts";
import { DEFAULT_TIMESTAMP } from "./messages.ts";
import { likeUrl, signed } from "./records.ts";

/** Records of registered channels, for nodes that decide by themselves. */

export const Action = {
  addMember: ChannelMemberAction.CHANNEL_MEMBER_ACTION_ADD_MEMBER,
  removeMember: ChannelMemberAction.CHANNEL_MEMBER_ACTION_REMOVE_MEMBER,
  addModerator: ChannelMemberAction.CHANNEL_MEMBER_ACTION_ADD_MODERATOR,
  removeModerator: ChannelMemberAction.CHANNEL_MEMBER_ACTION_REMOVE_MODERATOR,
  ban: ChannelMemberAction.CHANNEL_MEMBER_ACTION_BAN,
  unban: ChannelMemberAction.CHANNEL_MEMBER_ACTION_UNBAN,
} as const;

/** Makes channels part of the protocol of an index, with the registrar of the demo network. */
export function activateChannels(db: IndexDatabase): void {
  markDemo(db);
  db.transaction(() => settleChannelsActive(db, { seenAt: 0 }));
}

/** The wallet of a user that `ownsWallet` verifies. */
export const walletOf = (fid: number) => keyring.verifiedWallet(fid, 0).address;

const keyring = createKeyring();
const BLOCK_HASH = new Uint8Array(32).fill(7);

/** A verification of `walletOf`, which makes the user the owner of its channels. */
export const ownsWallet = (fid: number, at = DEFAULT_TIMESTAMP) =>
  signed(
    fid,
    {
      type: MessageType.MESSAGE_TYPE_VERIFICATION_ADD,
      body: {
        $case: "verificationAddBody",
        value: {
          address: walletOf(fid),
          claimSignature: ethereumClaimSignature(
            { fid, blockHash: BLOCK_HASH, network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET },
            keyring.verifiedWallet(fid, 0),
          ),
          blockHash: BLOCK_HASH,
          verificationType: 0,
          chainId: 0,
          protocol: 0,
        },
      },
    },
    at,
  );

export const disownsWallet = (fid: number, at = DEFAULT_TIMESTAMP) =>
  signed(
    fid,
    {
      type: MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE,
      body: { $case: "verificationRemoveBody", value: { address: walletOf(fid), protocol: 0 } },
    },
    at,
  );

let block = 1;

/** @param options.expiry in unix seconds. */
export function registers(
  key: string,
  ownerAddress: Uint8Array,
  {
    expiry = 4_000_000_000,
    atSecs = 1_700_000_000,
    blockNumber = block++,
  }: { expiry?: number; atSecs?: number; blockNumber?: number } = {},
): EncodedRecord {
  const event = OnChainEvent.fromPartial({
    type: OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER,
    chainId: DEMO_REGISTRAR.chainId,
    blockNumber,
    blockTimestamp: atSecs,
    blockHash: new Uint8Array(32).fill(1),
    transactionHash: new Uint8Array(32).fill(2),
    body: {
      $case: "channelRegisterEventBody",
      value: {
        channelKey: key,
        expiry,
        ownerAddress,
        eventType: ChannelRegisterEventType.CHANNEL_REGISTER_EVENT_TYPE_REGISTER,
        label: channelIdOfKey(key),
      },
    },
  });
  return { kind: "onChainEvent", bytes: OnChainEvent.encode(event).finish() };
}

export const updates = (
  author: number,
  key: string,
  settings: Partial<Omit<ChannelUpdateBody, "channelId">>,
  at = DEFAULT_TIMESTAMP,
) =>
  signed(
    author,
    {
      type: MessageType.MESSAGE_TYPE_CHANNEL_UPDATE,
      body: {
        $case: "channelUpdateBody",
        value: {
          channelId: channelIdOfKey(key),
          name: undefined,
          description: undefined,
          imageUrl: undefined,
          header: undefined,
          rules: undefined,
          castingMode: undefined,
          membershipMode: undefined,
          ...settings,
        },
      },
    },
    at,
  );

export const acts = (
  author: number,
  key: string,
  action: ChannelMemberAction,
  fid: number,
  at = DEFAULT_TIMESTAMP,
) =>
  signed(
    author,
    {
      type: MessageType.MESSAGE_TYPE_CHANNEL_MEMBER,
      body: { $case: "channelMemberBody", value: { channelId: channelIdOfKey(key), fid, action } },
    },
    at,
  );

export const pins = (author: number, key: string, castHash: Uint8Array, at = DEFAULT_TIMESTAMP) =>
  signed(
    author,
    {
      type: MessageType.MESSAGE_TYPE_CHANNEL_PIN,
      body: { $case: "channelPinBody", value: { channelId: channelIdOfKey(key), castHash } },
    },
    at,
  );

export const moderates = (
  author: number,
  key: string,
  castHash: Uint8Array,
  isHidden: boolean,
  at = DEFAULT_TIMESTAMP,
) =>
  signed(
    author,
    {
      type: MessageType.MESSAGE_TYPE_CHANNEL_MODERATE,
      body: {
        $case: "channelModerateBody",
        value: {
          channelId: channelIdOfKey(key),
          castHash,
          action: isHidden
            ? ChannelModerateAction.CHANNEL_MODERATE_ACTION_HIDE
            : ChannelModerateAction.CHANNEL_MODERATE_ACTION_UNHIDE,
        },
      },
    },
    at,
  );

/** The URI that followers of a channel like. */
export const uriOf = (key: string) => followUriOf(DEMO_REGISTRAR, channelIdOfKey(key)) ?? "";

export const follows = (fid: number, key: string) => likeUrl(fid, uriOf(key));
