import { Type } from "@sinclair/typebox";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { ApiError } from "../../../http/errors.ts";
import { perIds, perRows } from "../../../http/limits/prices.ts";
import { choice, optional, text, textList } from "../../../http/request/params.ts";
import { channelIdOf } from "../../../protocol/channel-url.ts";
import { resolveChannelIds } from "../../../read/channel-names.ts";
import { listOf } from "../../../read/cursor.ts";
import { presentChannelActivity } from "../../../read/present/compat/channel.ts";
import { allChannels, countChannelCasts, MAX_COUNTED } from "../../../read/queries/channels/channel-lists.ts";
import { rankedChannels, rankingCursors } from "../../../read/queries/feeds/ranking.ts";
import { runQuery } from "../../../read/run-query.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import { compatPage } from "../../dialects/compat.ts";
import { CompatChannel } from "../../dialects/compat-objects.ts";
import { Next, object } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import { decodeCursor, respondWithChannelList, respondWithChannelPage } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Channels" });

const CastCount = (days: number) =>
  Type.String({
    pattern: "^[0-9]+$",
    description: `Live casts directly in the channel within ${days} days, counted up to ${MAX_COUNTED} under each of its URLs`,
  });

const ChannelActivity = object(
  {
    object: Type.Literal("channel_activity"),
    cast_count_1d: CastCount(1),
    cast_count_7d: CastCount(7),
    cast_count_30d: CastCount(30),
    channel: CompatChannel,
  },
  { $id: "FarcasterChannelActivity" },
);

const ChannelActivityResponse = object({ channels: Type.Array(ChannelActivity), next: Next });

/** The cost of a page grows with the number of counted casts. */
const MAX_TRENDING = 25;

export const channelOperations = [
  read({
    id: "getChannel",
    path: "/channel",
    summary: "One channel, by its id or by one of its parent URLs",
    query: {
      id: text({
        description: "With type `id`, a URL of the channel is accepted too",
        examples: ["books"],
      }),
      type: optional(choice(["id", "parent_url"]), "id"),
    },
    response: "channel",
    errors: ["notFound"],
    run: ({ reads }, { query }) =>
      runQuery(
        reads,
        (db) => channelOf(db, query.id, query.type),
        (id) => ({ channelIds: id === undefined ? [] : [id], viewerFid: query.viewer_fid }),
        (id, hydration) => {
          const body = id === undefined ? undefined : reads.present.channel(id, hydration);
          if (!body) throw new ApiError("notFound", "no such channel");
          return body;
        },
      ),
  }),
  read({
    id: "getChannels",
    path: "/channel/all",
    aliases: ["/channel/list"],
    price: perRows(2),
    summary: "All channels, by id",
    query: page(),
    response: "channelPage",
    run: ({ reads }, { query }) => respondWithChannelPage(reads, query, allChannels, {}),
  }),
  read({
    id: "getChannelsById",
    path: "/channel/bulk",
    price: perIds(2),
    summary: "Channels by id or parent URL, in the requested order; unknown channels are omitted",
    query: ({ reads }) => ({
      ids: textList({ maxItems: reads.maxIds }),
      type: optional(choice(["id", "parent_url"]), "id"),
    }),
    response: "channelPage",
    run: ({ reads }, { query }) =>
      respondWithChannelList(reads, query, (db) => ({
        rows: channelsOf(db, query.ids, query.type).map((id) => ({ id })),
        cursor: null,
      })),
  }),
  read({
    id: "getTrendingChannels",
    surface: "native",
    path: "/channel/trending",
    price: perRows(2),
    summary: "Channels ranked by active users and engagement of the last day",
    description: "The ranking is computed in the background; all pages of a cursor belong to one ranking.",
    query: page(),
    response: "channelPage",
    run: ({ reads }, { query }) =>
      respondWithChannelPage(
        reads,
        query,
        listOf(rankingCursors.channels, (db, _: object, page) => rankedChannels(db, page)),
        {},
      ),
  }),
  read({
    id: "getTrendingChannels",
    surface: "compat",
    path: "/channel/trending",
    price: perRows(2),
    summary: "Channels ranked by active users and engagement of the last day, with their recent casts",
    description: `At most ${MAX_TRENDING} a page. All pages of a cursor belong to one ranking.`,
    query: compatPage(),
    response: ChannelActivityResponse,
    run: ({ reads }, { query }) => {
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
  }),
];

function channelOf(db: IndexDatabase, name: string, type: "id" | "parent_url"): string | undefined {
  return channelsOf(db, [name], type)[0];
}

function channelsOf(db: IndexDatabase, names: readonly string[], type: "id" | "parent_url"): string[] {
  return type === "id" ? resolveChannelIds(db, names) : [...new Set(names.map(channelIdOf))];
}
