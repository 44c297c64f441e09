import { Type } from "@sinclair/typebox";
import { perRows } from "../../../http/limits/prices.ts";
import { optional } from "../../../http/request/params.ts";
import type {
  ChannelInfo,
  FollowEntry,
  FollowerEntry,
  MemberEntry,
  MembershipEntry,
  ModerationEntry,
} from "../../../read/hub/channels/channel-lists.ts";
import type { PageQuery } from "../../../read/hub/page.ts";
import {
  CASTING_MODES,
  CHANNEL_MEMBER_STATES,
  CHANNEL_MODERATE_ACTIONS,
  hex,
  MEMBERSHIP_MODES,
  nameOf,
} from "./names.ts";
import { hubRead, jsonFormat, listReaderOf, pageStream, show } from "./operation.ts";
import { bytesParam, enumParam, fidParam, integerParam, pageParams, textParam } from "./params.ts";
import { closedObject, nextPageToken } from "./schemas.ts";

const channelId = () => bytesParam("channel_id", { description: "32 bytes in hex, with or without `0x`" });

/** Like on the reference node, a page of 0 rows is refused or empty. */
const channelPage = {
  ...pageParams,
  pageSize: {
    ...optional(integerParam("page_size", "At most 1000, which is the default")),
    asks: "rows" as const,
  },
};

function pageOf({ pageSize, pageToken, reverse }: PageQuery): PageQuery {
  return { pageSize, pageToken, reverse };
}

const INFOS = jsonFormat(({ key, fid, ownerAddress, expiry }: ChannelInfo) => ({
  channelKey: key,
  fid,
  ownerAddress: hex(ownerAddress),
  expiry,
}));
const MEMBERS = jsonFormat(({ fid, state }: MemberEntry) => ({
  fid,
  state: nameOf(CHANNEL_MEMBER_STATES, state),
}));
const MODERATIONS = jsonFormat(({ castHash, action, authorFid }: ModerationEntry) => ({
  castHash: hex(castHash),
  action: nameOf(CHANNEL_MODERATE_ACTIONS, action),
  authorFid,
}));
const MEMBERSHIPS = jsonFormat(({ channelId, state }: MembershipEntry) => ({
  channelId: hex(channelId),
  state: nameOf(CHANNEL_MEMBER_STATES, state),
}));
const FOLLOWERS = jsonFormat(({ fid, followedAt }: FollowerEntry) => ({ fid, followedAt }));
const FOLLOWS = jsonFormat(({ channelId, followedAt }: FollowEntry) => ({
  channelId: hex(channelId),
  followedAt,
}));

const FollowedAt = Type.Integer({ description: "Seconds since 2021-01-01T00:00:00Z" });
const State = Type.String({ examples: ["CHANNEL_MEMBER_STATE_MEMBER"] });
const Text = Type.Union([Type.String(), Type.Null()]);
const Channels = closedObject({
  channels: Type.Array(
    closedObject({
      channelKey: Type.String(),
      fid: Type.Integer(),
      ownerAddress: Type.String(),
      expiry: Type.Integer(),
    }),
  ),
  nextPageToken,
});

export const hubChannelOperations = [
  hubRead({
    id: "hubChannelOwner",
    path: "/channelOwner",
    summary: "The owner of the channel of a key",
    description: "`fid` is 0 while no one has verified the address.",
    query: { key: textParam("channel_key") },
    response: closedObject({
      fid: Type.Integer(),
      ownerAddress: Type.String(),
      expiry: Type.Integer({ description: "Unix seconds" }),
    }),
    run: ({ reads }, { query }) =>
      show(reads.channelOwner(query), ({ fid, ownerAddress, expiry }) => ({
        fid,
        ownerAddress: hex(ownerAddress),
        expiry,
      })),
  }),
  hubRead({
    id: "hubChannelsByAddress",
    path: "/channelsByAddress",
    price: perRows(5),
    summary: "The channels of an address, by key",
    query: { address: bytesParam("address"), ...channelPage },
    response: Channels,
    run: async ({ reads }, { query, request }) => {
      const page = { address: query.address, ...pageOf(query) };
      return show(await reads.channelsByAddress(page, INFOS, listReaderOf(request)), (found) =>
        pageStream("channels", found),
      );
    },
  }),
  hubRead({
    id: "hubChannelsByFid",
    path: "/channelsByFid",
    price: perRows(5),
    summary: "The channels of an fid, by the owner's address, then by key",
    query: { fid: fidParam(), ...channelPage },
    response: Channels,
    run: async ({ reads }, { query, request }) => {
      const page = { fid: query.fid, ...pageOf(query) };
      return show(await reads.channelsByFid(page, INFOS, listReaderOf(request)), (found) =>
        pageStream("channels", found),
      );
    },
  }),
  hubRead({
    id: "hubChannelMember",
    path: "/channelMember",
    summary: "What an fid is in a channel",
    query: { channelId: channelId(), fid: fidParam() },
    response: closedObject({ state: State, lastActionTs: Type.Optional(FollowedAt) }),
    run: ({ reads }, { query }) =>
      show(reads.channelMember(query), ({ state, lastActionTs }) => ({
        state: nameOf(CHANNEL_MEMBER_STATES, state),
        ...(lastActionTs !== undefined && { lastActionTs }),
      })),
  }),
  hubRead({
    id: "hubChannelMembers",
    path: "/channelMembers",
    price: perRows(5),
    summary: "The members of a channel in any state, or in one, by fid",
    query: {
      channelId: channelId(),
      stateFilter: optional(enumParam("state_filter", CHANNEL_MEMBER_STATES)),
      ...channelPage,
    },
    response: closedObject({
      members: Type.Array(closedObject({ fid: Type.Integer(), state: State })),
      nextPageToken,
    }),
    run: async ({ reads }, { query, request }) => {
      const { channelId, stateFilter } = query;
      const page = { channelId, stateFilter, ...pageOf(query) };
      return show(await reads.channelMembers(page, MEMBERS, listReaderOf(request)), (found) =>
        pageStream("members", found),
      );
    },
  }),
  hubRead({
    id: "hubChannelPin",
    path: "/channelPin",
    summary: "The pinned cast of a channel",
    query: { channelId: channelId() },
    response: closedObject({
      pin: Type.Union([closedObject({ castHash: Type.String(), authorFid: Type.Integer() }), Type.Null()]),
    }),
    run: ({ reads }, { query }) =>
      show(reads.channelPin(query), (pin) => ({
        pin: pin ? { castHash: hex(pin.castHash), authorFid: pin.authorFid } : null,
      })),
  }),
  hubRead({
    id: "hubChannelModerations",
    path: "/channelModerations",
    price: perRows(5),
    summary: "What moderators decided about casts, by the casts' hashes",
    query: { channelId: channelId(), ...channelPage },
    response: closedObject({
      moderations: Type.Array(
        closedObject({ castHash: Type.String(), action: Type.String(), authorFid: Type.Integer() }),
      ),
      nextPageToken,
    }),
    run: async ({ reads }, { query, request }) => {
      const page = { channelId: query.channelId, ...pageOf(query) };
      return show(await reads.channelModerations(page, MODERATIONS, listReaderOf(request)), (found) =>
        pageStream("moderations", found),
      );
    },
  }),
  hubRead({
    id: "hubChannelMetadata",
    path: "/channelMetadata",
    summary: "The settings of a channel, with the modes that are in force",
    query: { channelId: channelId() },
    response: closedObject({
      name: Text,
      description: Text,
      imageUrl: Text,
      header: Text,
      rules: Text,
      castingMode: Type.String(),
      membershipMode: Type.String(),
    }),
    run: ({ reads }, { query }) =>
      show(reads.channelMetadata(query), (metadata) => ({
        name: metadata.name ?? null,
        description: metadata.description ?? null,
        imageUrl: metadata.imageUrl ?? null,
        header: metadata.header ?? null,
        rules: metadata.rules ?? null,
        castingMode: nameOf(CASTING_MODES, metadata.castingMode),
        membershipMode: nameOf(MEMBERSHIP_MODES, metadata.membershipMode),
      })),
  }),
  hubRead({
    id: "hubChannelMembershipsByFid",
    path: "/channelMembershipsByFid",
    price: perRows(5),
    summary: "The channels in which an fid has a state, by id",
    query: { fid: fidParam(), ...channelPage },
    response: closedObject({
      memberships: Type.Array(closedObject({ channelId: Type.String(), state: State })),
      nextPageToken,
    }),
    run: async ({ reads }, { query, request }) => {
      const page = { fid: query.fid, ...pageOf(query) };
      return show(await reads.channelMembershipsByFid(page, MEMBERSHIPS, listReaderOf(request)), (found) =>
        pageStream("memberships", found),
      );
    },
  }),
  hubRead({
    id: "hubChannelFollowers",
    path: "/channelFollowers",
    price: perRows(5),
    summary: "The followers of a channel, oldest follow first",
    query: { channelId: channelId(), ...channelPage },
    response: closedObject({
      followers: Type.Array(closedObject({ fid: Type.Integer(), followedAt: FollowedAt })),
      nextPageToken,
    }),
    run: async ({ reads }, { query, request }) => {
      const page = { channelId: query.channelId, ...pageOf(query) };
      return show(await reads.channelFollowers(page, FOLLOWERS, listReaderOf(request)), (found) =>
        pageStream("followers", found),
      );
    },
  }),
  hubRead({
    id: "hubChannelFollowerCount",
    path: "/channelFollowerCount",
    summary: "The number of followers of a channel",
    query: { channelId: channelId() },
    response: closedObject({ count: Type.Integer() }),
    run: ({ reads }, { query }) => show(reads.channelFollowerCount(query), (count) => ({ count })),
  }),
  hubRead({
    id: "hubChannelFollows",
    path: "/channelFollows",
    price: perRows(5),
    summary: "The channels that an fid follows, by id",
    query: { fid: fidParam(), ...channelPage },
    response: closedObject({
      follows: Type.Array(closedObject({ channelId: Type.String(), followedAt: FollowedAt })),
      nextPageToken,
    }),
    run: async ({ reads }, { query, request }) => {
      const page = { fid: query.fid, ...pageOf(query) };
      return show(await reads.channelFollows(page, FOLLOWS, listReaderOf(request)), (found) =>
        pageStream("follows", found),
      );
    },
  }),
  hubRead({
    id: "hubIsFollowingChannel",
    path: "/isFollowingChannel",
    summary: "Whether an fid follows a channel, and since when",
    query: { fid: fidParam(), channelId: channelId() },
    response: closedObject({ following: Type.Boolean(), followedAt: Type.Optional(FollowedAt) }),
    run: ({ reads }, { query }) =>
      show(reads.isFollowingChannel(query), (followedAt) => ({
        following: followedAt !== undefined,
        ...(followedAt !== undefined && { followedAt }),
      })),
  }),
];
