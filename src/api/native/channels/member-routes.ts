import { Elysia } from "elysia";
import { aliasOf } from "../../../http/operation.ts";
import { cursor, limit, text } from "../../../http/params.ts";
import { channelMembers, channelMembersCursor } from "../../../read/queries/channels/channels.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadDeps, Viewer } from "../../shared/dialect.ts";
import { respondWithUserPage } from "../../shared/user-page.ts";

interface PageQuery extends Viewer {
  readonly limit: number;
  readonly cursor: string | undefined;
}

const tags = ["Channels"];

/** `/channel/members` and its aliases: the users active in a channel. */
export function channelMemberRoutes({ reads, describe }: ReadDeps) {
  const members = ({ query }: { query: PageQuery & { channel_id: string } }) => {
    const after = decodeCursor(channelMembersCursor, query.cursor);
    return respondWithUserPage(reads, query, (db) =>
      channelMembers(db, { channelId: query.channel_id, limit: query.limit, after }),
    );
  };
  const membersHook = describe({
    cache: "shared",
    operationId: "getChannelMembers",
    summary: "Users with casts directly in a channel, most recently active first",
    description: "Replies do not count. The channel is identified by its id or by one of its parent URLs.",
    tags,
    query: { channel_id: text({ examples: ["books"] }), limit: limit(), cursor: cursor() },
    response: "userPage",
  });

  return new Elysia({ name: "channel-members" })
    .get("/channel/members", members, membersHook)
    .get("/channel/member/list", members, aliasOf("/channel/members", membersHook))
    .get("/channel/followers", members, aliasOf("/channel/members", membersHook))
    .get("/channel/followers/relevant", members, aliasOf("/channel/members", membersHook));
}
