import { Type } from "@sinclair/typebox";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { perRows } from "../../../http/limits/prices.ts";
import { fid, optional, renamed, text } from "../../../http/request/params.ts";
import { countingChannel, resolveChannelIds } from "../../../read/channel-names.ts";
import type { Page } from "../../../read/cursor.ts";
import { type ChannelMemberRow, presentChannelMembers } from "../../../read/present/compat/channel.ts";
import {
  channelMember,
  channelMembers,
  channelsOfUser,
} from "../../../read/queries/channels/channel-lists.ts";
import {
  channelFollowers,
  followedChannels,
  hasRegisteredChannels,
} from "../../../read/queries/channels/follows.ts";
import {
  channelRoleOf,
  channelRoles,
  rolesOfUser,
  rolesOfUserCursor,
} from "../../../read/queries/channels/roles.ts";
import { openListRules, ruledPage } from "../../../read/rules/list-rules.ts";
import { runQuery } from "../../../read/run-query.ts";
import { CompatMember, CompatUserPage, compatPage } from "../../dialects/compat.ts";
import { Next, object } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import {
  decodeCursor,
  decodeCursorOfEither,
  respondWithChannelList,
  respondWithChannelPage,
  respondWithUserPage,
} from "../../respond.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Channels", price: perRows(2) });

const MembersResponse = object({ members: Type.Array(CompatMember), next: Next });

const NOT_REGISTERED =
  "Of a channel that is not registered, these are the users with casts directly in it, most recently active first.";

export const memberOperations = [
  read({
    id: "getChannelMembers",
    surface: "native",
    path: "/channel/members",
    aliases: ["/channel/member/list", "/channel/followers", "/channel/followers/relevant"],
    summary: "Users with casts directly in a channel, most recently active first",
    description:
      "Replies do not count. The channel is identified by its id or by one of its parent URLs. `/channel/roles` has the members of " +
      "a registered channel.",
    query: { channel_id: text({ examples: ["books"] }), ...page() },
    response: "userPage",
    run: ({ reads }, { query }) =>
      respondWithUserPage(reads, query, channelMembers, { channelId: query.channel_id }),
  }),
  read({
    id: "getChannelMembers",
    surface: "compat",
    path: "/channel/members",
    aliases: ["/channel/member/list"],
    summary: "The owner, moderators and members of a channel, whose role changed last first after the owner",
    description: NOT_REGISTERED,
    query: {
      channel_id: renamed(text(), "channel_id", "id"),
      fid: optional(fid({ description: "Only this user, if they are a member" })),
      ...compatPage(),
    },
    response: MembersResponse,
    run: ({ reads }, { query }) => {
      const after = decodeCursorOfEither([channelRoles.cursor, channelMembers.cursor], query.cursor);
      const { channel_id: requestedId, fid, limit, viewer_fid: viewerFid } = query;
      return runQuery(
        reads,
        (db): Page<ChannelMemberRow> & { readonly channelId: string } => {
          const [channelId = requestedId] = resolveChannelIds(db, [requestedId]);
          const channel = after.b ? undefined : countingChannel(db, channelId);
          const rules = openListRules(reads, { viewerFid });
          const found = channel
            ? ruledPage(
                rules,
                { limit, after: after.a, cursor: channelRoles.cursor },
                (page) =>
                  fid === undefined
                    ? channelRoles(db, { channel, ...page })
                    : channelRoleOf(db, channel, fid),
                ({ accounts }) => accounts,
              )
            : ruledPage(
                rules,
                { limit, after: after.b, cursor: channelMembers.cursor },
                (page) => activeMembers(db, { channelId, fid, ...page }),
                ({ accounts }) => accounts,
              );
          return { ...found, channelId };
        },
        ({ rows, channelId }) => ({ fids: rows.map((row) => row.fid), channelIds: [channelId], viewerFid }),
        presentChannelMembers,
      );
    },
  }),
  read({
    id: "getChannelFollowers",
    surface: "compat",
    path: "/channel/followers",
    summary: "Followers of a channel, newest first",
    description: NOT_REGISTERED,
    query: { id: renamed(text(), "id", "channel_id"), ...compatPage() },
    response: CompatUserPage,
    run: ({ reads }, { query }) => {
      const after = decodeCursorOfEither([channelFollowers.cursor, channelMembers.cursor], query.cursor);
      const { id, limit, viewer_fid: viewerFid } = query;
      return runQuery(
        reads,
        (db): Page<{ readonly fid: number }> => {
          const channel = after.b ? undefined : countingChannel(db, id);
          const rules = openListRules(reads, { viewerFid });
          return channel
            ? ruledPage(
                rules,
                { limit, after: after.a, cursor: channelFollowers.cursor },
                (page) => channelFollowers(db, { channel, ...page }),
                ({ accounts }) => accounts,
              )
            : ruledPage(
                rules,
                { limit, after: after.b, cursor: channelMembers.cursor },
                (page) => channelMembers(db, { channelId: id, ...page }),
                ({ accounts }) => accounts,
              );
        },
        ({ rows }) => ({ fids: rows.map(({ fid }) => fid), viewerFid }),
        reads.present.userPage,
      );
    },
  }),
  read({
    id: "getActiveChannelsOfUser",
    path: "/channel/user-active",
    aliases: { native: ["/channel/user", "/user/channels"], compat: ["/channel/user"] },
    summary: "Channels in which a user has casts, most recent first",
    query: { fid: fid(), ...page() },
    response: "channelPage",
    run: ({ reads }, { query }) => respondWithChannelPage(reads, query, channelsOfUser, { fid: query.fid }),
  }),
  read({
    id: "getChannelsOfUser",
    surface: "compat",
    path: "/user/channels",
    summary: "Channels that a user follows, newest first",
    description:
      "While no channel of the network is registered, these are the channels in which the user has casts, most recent first.",
    query: { fid: fid(), ...compatPage() },
    response: "channelPage",
    run: ({ reads }, { query }) => {
      const after = decodeCursorOfEither([followedChannels.cursor, channelsOfUser.cursor], query.cursor);
      const { fid, limit } = query;
      return respondWithChannelList(reads, query, (db) =>
        !after.b && hasRegisteredChannels(db)
          ? followedChannels(db, { fid, limit, after: after.a })
          : channelsOfUser(db, { fid, limit, after: after.b }),
      );
    },
  }),
  read({
    id: "getUserMemberships",
    surface: "native",
    path: "/user/memberships/list",
    summary: "The channels in which a user has casts, each with the user as its member",
    description: "`/user/channel/roles` has the roles of a user in registered channels.",
    query: { fid: fid(), ...page() },
    response: "membershipPage",
    run: ({ reads }, { query }) => {
      const after = decodeCursor(channelsOfUser.cursor, query.cursor);
      const { fid, limit } = query;
      return runQuery(
        reads,
        (db) => ({ fid, ...activeIn(db, { fid, limit, after }) }),
        ({ rows }) => ({ fids: [fid], channelIds: rows.map(({ id }) => id) }),
        reads.present.membershipPage,
      );
    },
  }),
  read({
    id: "getUserMemberships",
    surface: "compat",
    path: "/user/memberships/list",
    summary: "Channels that a user owns, then those in which the user is moderator or member",
    description:
      "While no channel of the network is registered, these are the channels in which the user has casts, most recent first.",
    query: { fid: fid(), ...compatPage() },
    response: "membershipPage",
    run: ({ reads }, { query }) => {
      const after = decodeCursorOfEither([rolesOfUserCursor, channelsOfUser.cursor], query.cursor);
      const { fid, limit, viewer_fid: viewerFid } = query;
      return runQuery(
        reads,
        (db) => {
          const isTrue = !after.b && hasRegisteredChannels(db);
          const found = isTrue
            ? rolesOfUser(db, { fid, limit, after: after.a })
            : activeIn(db, { fid, limit, after: after.b });
          return { fid, ...found };
        },
        ({ rows }) => ({ fids: [fid], channelIds: rows.map(({ id }) => id), viewerFid }),
        reads.present.membershipPage,
      );
    },
  }),
];

const MEMBER = { role: "member" as const };

/** Returns the users with casts in a channel, as its members. */
function activeMembers(
  db: IndexDatabase,
  query: Parameters<typeof channelMembers>[1] & { readonly fid: number | undefined },
): Page<ChannelMemberRow> {
  const { fid, ...list } = query;
  const { rows, cursor } =
    fid === undefined ? channelMembers(db, list) : channelMember(db, list.channelId, fid);
  return { rows: rows.map((row) => ({ fid: row.fid, ...MEMBER })), cursor };
}

/** Returns the channels in which a user has casts, as memberships. */
function activeIn(db: IndexDatabase, query: Parameters<typeof channelsOfUser>[1]) {
  const { rows, cursor } = channelsOfUser(db, query);
  return { rows: rows.map(({ id }) => ({ id, ...MEMBER })), cursor };
}
