import { Type } from "@sinclair/typebox";
import { perRows } from "../../../http/limits/prices.ts";
import { fid, optional, renamed, text } from "../../../http/request/params.ts";
import { presentChannelMembers } from "../../../read/present/compat/channel.ts";
import {
  channelMember,
  channelMembers,
  channelMembersCursor,
  channelsOfUser,
  channelsOfUserCursor,
  resolveChannelIds,
} from "../../../read/queries/channels.ts";
import { runQuery } from "../../../read/run-query.ts";
import { CompatMember, CompatUserPage, compatPage } from "../../dialects/compat.ts";
import { closed, Next } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import { decodeCursor, respondWithChannelPage, respondWithUserPage } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Channels", price: perRows(2) });

const MembersResponse = Type.Object({ members: Type.Array(CompatMember), next: Next }, closed);

export const memberOperations = [
  read({
    id: "getChannelMembers",
    surface: "native",
    path: "/channel/members",
    aliases: ["/channel/member/list", "/channel/followers", "/channel/followers/relevant"],
    summary: "Users with casts directly in a channel, most recently active first",
    description: "Replies do not count. The channel is identified by its id or by one of its parent URLs.",
    query: { channel_id: text({ examples: ["books"] }), ...page() },
    response: "userPage",
    run: ({ reads }, { query }) =>
      respondWithUserPage(reads, query, channelMembersCursor, (db, page) =>
        channelMembers(db, { channelId: query.channel_id, ...page }),
      ),
  }),
  read({
    id: "getChannelMembers",
    surface: "compat",
    path: "/channel/members",
    aliases: ["/channel/member/list"],
    summary: "Users with casts directly in a channel, most recently active first",
    query: {
      channel_id: renamed(text(), "channel_id", "id"),
      fid: optional(fid({ description: "Only this user, if they are a member" })),
      ...compatPage(),
    },
    response: MembersResponse,
    run: ({ reads }, { query }) => {
      const after = decodeCursor(channelMembersCursor, query.cursor);
      const { channel_id: requestedId, fid, limit, viewer_fid: viewerFid } = query;
      return runQuery(
        reads,
        (db) => {
          const [channelId = requestedId] = resolveChannelIds(db, [requestedId]);
          const page =
            fid === undefined
              ? channelMembers(db, { channelId, limit, after })
              : channelMember(db, channelId, fid);
          return { ...page, channelId };
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
    summary: "Followers of a channel, which are its members",
    query: { id: renamed(text(), "id", "channel_id"), ...compatPage() },
    response: CompatUserPage,
    run: ({ reads }, { query }) =>
      respondWithUserPage(reads, query, channelMembersCursor, (db, page) =>
        channelMembers(db, { channelId: query.id, ...page }),
      ),
  }),
  read({
    id: "getActiveChannelsOfUser",
    path: "/channel/user-active",
    aliases: ["/channel/user", "/user/channels"],
    summary: "Channels in which a user has casts, most recent first",
    query: { fid: fid(), ...page() },
    response: "channelPage",
    run: ({ reads }, { query }) =>
      respondWithChannelPage(reads, query, channelsOfUserCursor, (db, page) =>
        channelsOfUser(db, { fid: query.fid, ...page }),
      ),
  }),
  read({
    id: "getUserMemberships",
    path: "/user/memberships/list",
    summary: "The same channels, each with the user as its member",
    query: { fid: fid(), ...page() },
    response: "membershipPage",
    run: ({ reads }, { query }) => {
      const after = decodeCursor(channelsOfUserCursor, query.cursor);
      const { fid, limit, viewer_fid: viewerFid } = query;
      return runQuery(
        reads,
        (db) => ({ fid, ...channelsOfUser(db, { fid, limit, after }) }),
        ({ rows }) => ({ fids: [fid], channelIds: rows.map(({ id }) => id), viewerFid }),
        reads.present.membershipPage,
      );
    },
  }),
];
