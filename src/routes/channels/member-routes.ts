import { Elysia } from "elysia";
import { operation } from "../../http/operation.ts";
import { cursor, fid, limit, text } from "../../http/params.ts";
import { answer, type Reads } from "../../read/answers.ts";
import { presentChannels } from "../../read/present/channel.ts";
import { presentUser } from "../../read/present/user.ts";
import {
  channelMembers,
  channelMembersCursor,
  channelsOfUser,
  channelsOfUserCursor,
} from "../../read/skeleton/channels.ts";
import { decodeCursor } from "../cursor-param.ts";
import { UserPageResponse } from "../objects.ts";
import { answerUserPage } from "../user-page.ts";
import { answerChannelPage } from "./channel-page.ts";
import { ChannelPageResponse, MembershipPageResponse } from "./objects.ts";

const tags = ["Channels"];

interface PageQuery {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** Who is active in a channel and in which channels a user is: `/channel/members`, `/channel/user-active` and aliases. */
export function channelMemberRoutes(reads: Reads) {
  const members = ({ query }: { query: PageQuery & { channel_id: string } }) => {
    const after = decodeCursor(channelMembersCursor, query.cursor);
    return answerUserPage(reads, (db) =>
      channelMembers(db, { channelId: query.channel_id, limit: query.limit, after }),
    );
  };
  const membersHook = (operationId: string) =>
    operation({
      operationId,
      summary: "Who has casts directly in a channel, the most recently active first",
      description: "Replies do not count. The channel may be given by its id or by one of its parent URLs.",
      tags,
      query: { channel_id: text({ examples: ["books"] }), limit: limit(), cursor: cursor() },
      response: UserPageResponse,
    });

  const channels = ({ query }: { query: PageQuery & { fid: number } }) => {
    const after = decodeCursor(channelsOfUserCursor, query.cursor);
    return answerChannelPage(reads, (db) =>
      channelsOfUser(db, { fid: query.fid, limit: query.limit, after }),
    );
  };
  const channelsHook = (operationId: string) =>
    operation({
      operationId,
      summary: "The channels in which a user has casts, the most recent first",
      tags,
      query: { fid: fid(), limit: limit(), cursor: cursor() },
      response: ChannelPageResponse,
    });

  return new Elysia({ name: "channel-members" })
    .get("/channel/members", members, membersHook("getChannelMembers"))
    .get("/channel/member/list", members, membersHook("getChannelMembersAlias"))
    .get("/channel/followers", members, membersHook("getChannelFollowers"))
    .get("/channel/followers/relevant", members, membersHook("getRelevantChannelFollowers"))
    .get("/channel/user-active", channels, channelsHook("getActiveChannelsOfUser"))
    .get("/channel/user", channels, channelsHook("getActiveChannelsOfUserAlias"))
    .get("/user/channels", channels, channelsHook("getUserChannels"))
    .get(
      "/user/memberships/list",
      ({ query }) => {
        const after = decodeCursor(channelsOfUserCursor, query.cursor);
        return answer(
          reads,
          (db) => channelsOfUser(db, { fid: query.fid, limit: query.limit, after }),
          ({ rows }) => ({ fids: [query.fid], channelIds: rows.map(({ id }) => id) }),
          ({ rows, cursor: next }, hydration) => {
            const user = presentUser(query.fid, hydration);
            const found = presentChannels(
              rows.map(({ id }) => id),
              hydration,
            );
            const membership = { object: "member" as const, role: "member" as const };
            return {
              members: user ? found.map((channel) => ({ ...membership, user, channel })) : [],
              channels: found,
              next: { cursor: next },
            };
          },
        );
      },
      operation({
        operationId: "getUserMemberships",
        summary: "The same channels, each with the user as its member",
        tags,
        query: { fid: fid(), limit: limit(), cursor: cursor() },
        response: MembershipPageResponse,
      }),
    );
}
