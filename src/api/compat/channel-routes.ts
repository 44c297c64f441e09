import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { aliasOf, operation } from "../../http/operation.ts";
import { cursor, fid, optional, renamed, text } from "../../http/params.ts";
import { presentChannelActivity, presentChannelMembers } from "../../read/present/compat/channel-lists.ts";
import { countChannelCasts, MAX_COUNTED } from "../../read/queries/channels/channel-casts.ts";
import {
  channelMember,
  channelMembers,
  channelMembersCursor,
  resolveChannelIds,
} from "../../read/queries/channels/channels.ts";
import { rankedChannels } from "../../read/queries/feeds/ranking.ts";
import { rankingCursors } from "../../read/queries/feeds/ranking-cursor.ts";
import { type Reads, runQuery } from "../../read/run-query.ts";
import { nowSecs } from "../../runtime/clock.ts";
import { decodeCursor } from "../shared/cursor-param.ts";
import type { Viewer } from "../shared/dialect.ts";
import { type Assignable, closed, Next } from "../shared/schemas.ts";
import { respondWithUserPage } from "../shared/user-page.ts";
import { pageLimit, viewerFid } from "./dialect.ts";
import { Member, UserPageResponse } from "./response-schemas.ts";
import { Channel } from "./schemas.ts";

const CastCount = (days: number) =>
  Type.String({
    pattern: "^[0-9]+$",
    description: `Live casts directly in the channel within ${days} days, counted up to ${MAX_COUNTED} under each of its URLs`,
  });

const ChannelActivity = Type.Object(
  {
    object: Type.Literal("channel_activity"),
    cast_count_1d: CastCount(1),
    cast_count_7d: CastCount(7),
    cast_count_30d: CastCount(30),
    channel: Channel,
  },
  { ...closed, $id: "FarcasterChannelActivity" },
);

const ChannelActivityResponse = Type.Object({ channels: Type.Array(ChannelActivity), next: Next }, closed);
const MembersResponse = Type.Object({ members: Type.Array(Member), next: Next }, closed);

export type ObjectTypeCheck = Assignable<
  ReturnType<typeof presentChannelActivity>,
  Static<typeof ChannelActivityResponse>
> &
  Assignable<ReturnType<typeof presentChannelMembers>, Static<typeof MembersResponse>>;

/** The cost of a page grows with the casts that it counts. */
const MAX_TRENDING = 25;

const tags = ["Channels"];

interface MembersQuery extends Viewer {
  readonly channel_id: string;
  readonly fid: number | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** Trending channels with their activity, members and followers. Followers are the members. */
export function channelListRoutes(reads: Reads) {
  const members = ({ query }: { query: MembersQuery }) => {
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
  };
  const page = () => ({ limit: pageLimit(), cursor: cursor(), viewer_fid: viewerFid() });
  const membersHook = operation({
    cache: "shared",
    operationId: "getChannelMembers",
    summary: "Users with casts directly in a channel, most recently active first",
    tags,
    query: {
      channel_id: renamed(text(), "channel_id", "id"),
      fid: optional(fid({ description: "Only this user, if they are a member" })),
      ...page(),
    },
    response: MembersResponse,
  });
  return new Elysia({ name: "farcaster-channels" })
    .get("/channel/members", members, membersHook)
    .get("/channel/member/list", members, aliasOf("/channel/members", membersHook))
    .get(
      "/channel/followers",
      ({ query }) => {
        const after = decodeCursor(channelMembersCursor, query.cursor);
        const { id: channelId, limit } = query;
        return respondWithUserPage(reads, query, (db) => channelMembers(db, { channelId, limit, after }));
      },
      operation({
        cache: "shared",
        operationId: "getChannelFollowers",
        summary: "Followers of a channel, which are its members",
        tags,
        query: { id: renamed(text(), "id", "channel_id"), ...page() },
        response: UserPageResponse,
      }),
    )
    .get(
      "/channel/trending",
      ({ query }) => {
        const after = decodeCursor(rankingCursors.channels, query.cursor);
        const limit = Math.min(query.limit, MAX_TRENDING);
        return runQuery(
          reads,
          (db) => {
            const { rows, cursor } = rankedChannels(db, { limit, after });
            const ids = rows.map(({ id }) => id);
            return { rows, cursor, casts: countChannelCasts(db, ids, nowSecs(reads.clock)) };
          },
          ({ rows }) => ({ channelIds: rows.map(({ id }) => id), viewerFid: query.viewer_fid }),
          presentChannelActivity,
        );
      },
      operation({
        cache: "shared",
        operationId: "getTrendingChannels",
        summary: "Channels ranked by active users and engagement of the last day, with their recent casts",
        description: `At most ${MAX_TRENDING} a page. All pages of a cursor belong to one ranking.`,
        tags,
        query: page(),
        response: ChannelActivityResponse,
      }),
    );
}
