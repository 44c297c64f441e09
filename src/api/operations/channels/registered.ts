import { Type } from "@sinclair/typebox";
import { isChannelHistoryDue } from "../../../db/index/channels/history.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { ApiError } from "../../../http/errors.ts";
import { perRows } from "../../../http/limits/prices.ts";
import { fid, text } from "../../../http/request/params.ts";
import { flag } from "../../../http/request/word-params.ts";
import { type RegisteredChannel, registeredChannel } from "../../../read/channel-names.ts";
import {
  presentChannelBans,
  presentModerations,
  presentPin,
  presentRoles,
} from "../../../read/present/native/channel-roles.ts";
import { channelFollowers, followedChannels } from "../../../read/queries/channels/follows.ts";
import { channelModerations, channelPin } from "../../../read/queries/channels/moderation.ts";
import {
  channelBans,
  channelRoles,
  rolesOfUser,
  rolesOfUserCursor,
} from "../../../read/queries/channels/roles.ts";
import { channelFeed } from "../../../read/queries/feeds/url-feeds.ts";
import { runQuery } from "../../../read/run-query.ts";
import { Hash, Next, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import { Cast, Member, User } from "../../dialects/native-objects.ts";
import {
  decodeCursor,
  respondWithCastPage,
  respondWithChannelPage,
  respondWithUserPage,
} from "../../respond.ts";
import { topic } from "../../topic.ts";
import { HIDDEN, moderationParams, rulesOf } from "./moderation-params.ts";

/** Lists of registered channels in the protocol's sense. */

const { read } = topic({ tag: "Channels", surface: "native", price: perRows(2) });

const id = () =>
  text({ description: "Id, URL, or the id of the protocol in hex", examples: ["night-trains"] });

const ONLY_REGISTERED = "404 for a channel that is not registered.";

const RolesResponse = object({ members: Type.Array(Member), next: Next });

const By = (description: string) => nullable(object(User.properties, { description }));

const PinResponse = object({
  pin: nullable(
    object({
      cast_hash: Hash,
      cast: nullable(Cast),
      pinned_by: By("Null where it is not known"),
      pinned_at: nullable(UnixSecs("When the message was signed")),
    }),
  ),
});

const ModerationsResponse = object({
  moderations: Type.Array(
    object({
      object: Type.Literal("moderation"),
      cast_hash: Hash,
      cast: nullable(Cast),
      state: Type.Union([Type.Literal("hidden"), Type.Literal("visible")], {
        description: "`visible`: hidden once, and shown again",
      }),
      moderated_by: By("Null where it is not known"),
      moderated_at: nullable(UnixSecs("When the message was signed")),
    }),
  ),
  next: Next,
});

const BansResponse = object({
  bans: Type.Array(
    object({
      object: Type.Literal("ban"),
      user: User,
      banned_by: By("Null where it is not known"),
      banned_at: nullable(UnixSecs("When the message was signed")),
    }),
  ),
  next: Next,
});

export const registeredChannelOperations = [
  read({
    id: "getChannelFeed",
    tag: "Feeds",
    path: "/channel/feed",
    price: perRows(5),
    summary: "Casts directly in a channel as its moderators show it, newest first",
    description: `${HIDDEN} Of a channel that is not registered, all casts.`,
    query: {
      id: id(),
      ...moderationParams(),
      with_hidden: flag(false, { description: "Also casts that are left out otherwise" }),
      ...page(),
    },
    response: "castPage",
    run: ({ reads }, { query }) => {
      const rules = { ...rulesOf(query), withHidden: query.with_hidden };
      return respondWithCastPage(reads, query, channelFeed, (db) => {
        requireHistory(db);
        return { channels: [query.id], rules };
      });
    },
  }),
  read({
    id: "getChannelRoles",
    path: "/channel/roles",
    summary:
      "The owner, moderators and members of a registered channel, whose role changed last first after the owner",
    description: ONLY_REGISTERED,
    query: { id: id(), ...page() },
    response: RolesResponse,
    errors: ["notFound"],
    run: ({ reads }, { query }) => {
      const after = decodeCursor(channelRoles.cursor, query.cursor);
      return runQuery(
        reads,
        (db) => {
          const channel = required(db, query.id);
          return { channelId: channel.id, ...channelRoles(db, { channel, limit: query.limit, after }) };
        },
        ({ rows, channelId }) => ({ fids: rows.map(({ fid }) => fid), channelIds: [channelId] }),
        presentRoles,
      );
    },
  }),
  read({
    id: "getFollowersOfChannel",
    path: "/channel/follows",
    summary: "Users who follow a registered channel, newest first",
    description: ONLY_REGISTERED,
    query: { id: id(), ...page() },
    response: "userPage",
    errors: ["notFound"],
    run: ({ reads }, { query }) =>
      respondWithUserPage(reads, query, channelFollowers, (db) => ({ channel: required(db, query.id) })),
  }),
  read({
    id: "getChannelPin",
    path: "/channel/pin",
    summary: "The pinned cast of a registered channel",
    description: `\`cast\` is null where this node does not have it. ${ONLY_REGISTERED}`,
    query: { id: id() },
    response: PinResponse,
    errors: ["notFound"],
    run: ({ reads }, { query }) =>
      runQuery(
        reads,
        (db) => channelPin(db, required(db, query.id)),
        (pin) => (pin ? { hashes: [pin.hash], fids: [pin.pinnedByFid] } : {}),
        presentPin,
      ),
  }),
  read({
    id: "getChannelModerations",
    path: "/channel/moderations",
    summary: "Casts that moderators of a registered channel have hidden, by their hashes",
    description: `Public, as all messages of the protocol. ${ONLY_REGISTERED}`,
    query: { id: id(), ...page() },
    response: ModerationsResponse,
    errors: ["notFound"],
    run: ({ reads }, { query }) => {
      const after = decodeCursor(channelModerations.cursor, query.cursor);
      return runQuery(
        reads,
        (db) => channelModerations(db, { channel: required(db, query.id), limit: query.limit, after }),
        ({ rows }) => ({
          hashes: rows.map(({ hash }) => hash),
          fids: rows.map(({ moderatorFid }) => moderatorFid),
        }),
        presentModerations,
      );
    },
  }),
  read({
    id: "getChannelBans",
    path: "/channel/bans",
    summary: "Users who are banned from a registered channel, the latest ban first",
    description: `Public, as all messages of the protocol. ${ONLY_REGISTERED}`,
    query: { id: id(), ...page() },
    response: BansResponse,
    errors: ["notFound"],
    run: ({ reads }, { query }) => {
      const after = decodeCursor(channelBans.cursor, query.cursor);
      return runQuery(
        reads,
        (db) => channelBans(db, { channel: required(db, query.id), limit: query.limit, after }),
        ({ rows }) => ({ fids: rows.flatMap((row) => [row.fid, row.bannedBy]) }),
        presentChannelBans,
      );
    },
  }),
  read({
    id: "getFollowedChannels",
    path: "/user/channel/follows",
    summary: "Registered channels that a user follows, newest first",
    query: { fid: fid(), ...page() },
    response: "channelPage",
    run: ({ reads }, { query }) =>
      respondWithChannelPage(reads, query, followedChannels, (db) => {
        requireHistory(db);
        return { fid: query.fid };
      }),
  }),
  read({
    id: "getChannelRolesOfUser",
    path: "/user/channel/roles",
    summary: "Registered channels that a user owns, then those in which the user is moderator or member",
    query: { fid: fid(), ...page() },
    response: "membershipPage",
    run: ({ reads }, { query }) => {
      const after = decodeCursor(rolesOfUserCursor, query.cursor);
      const { fid, limit } = query;
      return runQuery(
        reads,
        (db) => {
          requireHistory(db);
          return { fid, ...rolesOfUser(db, { fid, limit, after }) };
        },
        ({ rows }) => ({ fids: [fid], channelIds: rows.map(({ id }) => id) }),
        reads.present.membershipPage,
      );
    },
  }),
];

/** @throws ApiError `unavailable` while an index from before V21 lacks shard 0's decisions about channels */
function requireHistory(db: IndexDatabase): void {
  if (isChannelHistoryDue(db))
    throw new ApiError("unavailable", "the channels of the followed node are still being read");
}

function required(db: IndexDatabase, name: string): RegisteredChannel {
  requireHistory(db);
  const channel = registeredChannel(db, name);
  if (!channel) throw new ApiError("notFound", "no registered channel has this name");
  return channel;
}
