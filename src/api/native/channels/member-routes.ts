import { Elysia } from "elysia";
import { aliasOf } from "../../../http/operation.ts";
import { cursor, limit, text } from "../../../http/params.ts";
import { channelMembers, channelMembersCursor } from "../../../read/queries/channels/channels.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadParts, Viewer } from "../../shared/dialect.ts";
import { respondWithUserPage } from "../../shared/user-page.ts";

interface PageQuery extends Viewer {
  readonly limit: number;
  readonly cursor: string | undefined;
}

const tags = ["Channels"];

/** Who is active in a channel: `/channel/members` and its aliases. */
export function channelMemberRoutes({ reads, describe }: ReadParts) {
  const members = ({ query }: { query: PageQuery & { channel_id: string } }) => {
    const after = decodeCursor(channelMembersCursor, query.cursor);
    return respondWithUserPage(reads, query, (db) =>
      channelMembers(db, { channelId: query.channel_id, limit: query.limit, after }),
    );
  };
  const membersHook = describe({
    cache: "shared",
    operationId: "getChannelMembers",
    summary: "The users with casts directly in a channel, the most recently active first",
    description: "Replies do not count. The channel is named by its id or by one of its parent URLs.",
    tags,
    query: { channel_id: text({ examples: ["books"] }), limit: limit(), cursor: cursor() },
    answer: "userPage",
  });

  return new Elysia({ name: "channel-members" })
    .get("/channel/members", members, membersHook)
    .get("/channel/member/list", members, aliasOf("/channel/members", membersHook))
    .get("/channel/followers", members, aliasOf("/channel/members", membersHook))
    .get("/channel/followers/relevant", members, aliasOf("/channel/members", membersHook));
}
