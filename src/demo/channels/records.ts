import { DEMO_REGISTRAR, followUriOf } from "../../protocol/channels/follow-uri.ts";
import { channelIdOfKey } from "../../protocol/channels/registrations.ts";
import {
  type CastAddBody,
  CastType,
  ChannelMemberAction,
  ChannelModerateAction,
  type MessageData,
  MessageType,
  ReactionType,
} from "../../protocol/wire/generated/message.ts";
import {
  ChannelRegisterEventType,
  type OnChainEvent,
  OnChainEventType,
} from "../../protocol/wire/generated/on-chain.ts";
import { type Keyring, secret } from "../keys.ts";
import { DAY_SECS, HOUR_SECS, type PlannedMessage } from "../roster.ts";
import { type ChannelCast, DEMO_CHANNELS, type DemoChannel } from "./plan.ts";

/** When channels became part of the demo network's protocol, and when its channels were registered, in unix seconds. */
export const CHANNELS_SINCE_SECS = Date.UTC(2025, 7, 1) / 1000;
const REGISTERED_AT_SECS = Date.UTC(2025, 7, 11, 9) / 1000;
/** Later than the lifetime of any demo data directory. */
const EXPIRES_AT_SECS = Date.UTC(2040, 0, 1) / 1000;
const FIRST_BLOCK = 9_000_000;

const channelIdOf = ({ key }: DemoChannel): Uint8Array => channelIdOfKey(key);

export function channelRegistrations(keyring: Keyring): OnChainEvent[] {
  return DEMO_CHANNELS.map((channel, at) =>
    registryEvent(channel, at, REGISTERED_AT_SECS + at * DAY_SECS, {
      channelKey: channel.key,
      expiry: EXPIRES_AT_SECS,
      ownerAddress: keyring.verifiedWallet(channel.ownerFid, 0).address,
      eventType: ChannelRegisterEventType.CHANNEL_REGISTER_EVENT_TYPE_REGISTER,
    }),
  );
}

/** Returns the transfers that park channels. They follow everything else. */
export function channelTransfers(keyring: Keyring, anchorUnixSecs: number): OnChainEvent[] {
  return DEMO_CHANNELS.flatMap((channel, at) =>
    channel.isParked
      ? [
          registryEvent(channel, DEMO_CHANNELS.length + at, anchorUnixSecs - HOUR_SECS, {
            channelKey: "",
            expiry: 0,
            ownerAddress: keyring.recovery(channel.ownerFid).address,
            eventType: ChannelRegisterEventType.CHANNEL_REGISTER_EVENT_TYPE_TRANSFER,
          }),
        ]
      : [],
  );
}

type RegistryBody = Extract<OnChainEvent["body"], { $case: "channelRegisterEventBody" }>["value"];

function registryEvent(
  channel: DemoChannel,
  blocks: number,
  atSecs: number,
  value: Omit<RegistryBody, "label">,
): OnChainEvent {
  const block = `block ${FIRST_BLOCK + blocks} of the registrar's chain`;
  return {
    type: OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER,
    chainId: DEMO_REGISTRAR.chainId,
    blockNumber: FIRST_BLOCK + blocks,
    blockHash: secret(block),
    blockTimestamp: atSecs,
    transactionHash: secret(`transaction for ${channel.key} in ${block}`),
    logIndex: 0,
    fid: 0,
    body: { $case: "channelRegisterEventBody", value: { ...value, label: channelIdOf(channel) } },
    txIndex: 0,
    version: 0,
  };
}

const STEP_SECS = 45;

/**
 * Returns the messages of all channels, oldest first: settings and roles at the start of the week, casts over its last days, then
 * moderation.
 */
export function channelMessages(): PlannedMessage[] {
  return DEMO_CHANNELS.flatMap(messagesOf).sort((a, b) => b.secsBeforeAnchor - a.secsBeforeAnchor);
}

function messagesOf(channel: DemoChannel): PlannedMessage[] {
  const channelId = channelIdOf(channel);
  const { ownerFid, settings, moderators, members, banned, followers, casts } = channel;
  const messages: PlannedMessage[] = [];
  let secsBeforeAnchor = 6 * DAY_SECS;
  const say = (fid: number, type: MessageType, body: PlannedMessage["body"]): PlannedMessage => {
    const message = { fid, type, secsBeforeAnchor, body };
    messages.push(message);
    secsBeforeAnchor -= STEP_SECS;
    return message;
  };
  const act = (fid: number, action: ChannelMemberAction) =>
    say(ownerFid, MessageType.MESSAGE_TYPE_CHANNEL_MEMBER, () => ({
      $case: "channelMemberBody",
      value: { channelId, fid, action },
    }));
  if (settings) {
    say(ownerFid, MessageType.MESSAGE_TYPE_CHANNEL_UPDATE, () => ({
      $case: "channelUpdateBody",
      value: {
        channelId,
        imageUrl: `https://demo.example/channel/${channel.key}.png`,
        header: undefined,
        rules: undefined,
        ...settings,
      },
    }));
  }
  for (const fid of moderators) act(fid, ChannelMemberAction.CHANNEL_MEMBER_ACTION_ADD_MODERATOR);
  for (const fid of members) act(fid, ChannelMemberAction.CHANNEL_MEMBER_ACTION_ADD_MEMBER);
  for (const fid of followers) {
    say(fid, MessageType.MESSAGE_TYPE_REACTION_ADD, () =>
      likeBody({ url: followUriOf(DEMO_REGISTRAR, channelId) ?? "" }),
    );
  }
  for (const [at, cast] of casts.entries()) {
    secsBeforeAnchor = (3 * DAY_SECS * (casts.length - at)) / (casts.length + 1) - (at % 3) * HOUR_SECS;
    const said = say(cast.fid, MessageType.MESSAGE_TYPE_CAST_ADD, () => castBody(channel, cast));
    for (const fid of cast.likedBy ?? []) {
      say(fid, MessageType.MESSAGE_TYPE_REACTION_ADD, ({ hashOf }) =>
        likeBody({ fid: cast.fid, hash: hashOf(said) }),
      );
    }
    if (cast.isPinned) {
      say(ownerFid, MessageType.MESSAGE_TYPE_CHANNEL_PIN, ({ hashOf }) => ({
        $case: "channelPinBody",
        value: { channelId, castHash: hashOf(said) },
      }));
    }
    if (cast.isHidden) {
      say(moderators[0] ?? ownerFid, MessageType.MESSAGE_TYPE_CHANNEL_MODERATE, ({ hashOf }) => ({
        $case: "channelModerateBody",
        value: {
          channelId,
          castHash: hashOf(said),
          action: ChannelModerateAction.CHANNEL_MODERATE_ACTION_HIDE,
        },
      }));
    }
  }
  secsBeforeAnchor = 2 * HOUR_SECS;
  for (const fid of banned) act(fid, ChannelMemberAction.CHANNEL_MEMBER_ACTION_BAN);
  return messages;
}

type Body = NonNullable<MessageData["body"]>;

function castBody({ key }: DemoChannel, { text }: ChannelCast): Body {
  const value: CastAddBody = {
    embedsDeprecated: [],
    mentions: [],
    parent: { $case: "parentUrl", value: `https://farcaster.xyz/~/channel/${key}` },
    text,
    mentionsPositions: [],
    embeds: [],
    type: CastType.CAST_TYPE_CAST,
  };
  return { $case: "castAddBody", value };
}

function likeBody(
  target: { readonly url: string } | { readonly fid: number; readonly hash: Uint8Array },
): Body {
  return {
    $case: "reactionBody",
    value: {
      type: ReactionType.REACTION_TYPE_LIKE,
      target:
        "url" in target
          ? { $case: "targetUrl", value: target.url }
          : { $case: "targetCastId", value: target },
    },
  };
}
