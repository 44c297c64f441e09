import { Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { operation } from "../../http/operation.ts";
import { choice, cursor, limit, optional, text, textList } from "../../http/params.ts";
import type { IndexDatabase } from "../../index/database.ts";
import { channelIdOf } from "../../protocol/channel-url.ts";
import { answer, type Reads } from "../../read/answers.ts";
import { presentChannel } from "../../read/present/channel.ts";
import { channelSearchCursor, searchChannels } from "../../read/skeleton/channel-search.ts";
import { allChannels, allChannelsCursor, resolveChannelIds } from "../../read/skeleton/channels.ts";
import { rankingCursors, rankingPage } from "../../read/skeleton/ranking.ts";
import { decodeCursor } from "../cursor-param.ts";
import { answerChannelPage } from "./channel-page.ts";
import { ChannelPageResponse, ChannelResponse } from "./objects.ts";

const tags = ["Channels"];

/** `/channel`, `/channel/all`, `/channel/list`, `/channel/bulk`, `/channel/search`, `/channel/trending`. */
export function channelRoutes(reads: Reads) {
  const list = ({ query }: { query: { limit: number; cursor: string | undefined } }) => {
    const after = decodeCursor(allChannelsCursor, query.cursor);
    return answerChannelPage(reads, (db) => allChannels(db, { limit: query.limit, after }));
  };
  const listHook = (operationId: string) =>
    operation({
      operationId,
      summary: "All channels, by id",
      tags,
      query: { limit: limit(), cursor: cursor() },
      response: ChannelPageResponse,
    });

  return new Elysia({ name: "channels" })
    .get(
      "/channel",
      ({ query }) => ({
        channel: answer(
          reads,
          (db) => channelOf(db, query.id, query.type),
          (id) => ({ channelIds: id === undefined ? [] : [id] }),
          (id, hydration) => {
            const channel = id === undefined ? undefined : presentChannel(id, hydration);
            if (!channel) throw new ApiError("notFound", "no such channel");
            return channel;
          },
        ),
      }),
      operation({
        operationId: "getChannel",
        summary: "One channel, by its id or by one of its parent URLs",
        tags,
        query: {
          id: text({
            description: "With type `id` a URL of the channel is taken as well",
            examples: ["books"],
          }),
          type: optional(choice(["id", "parent_url"]), "id"),
        },
        response: ChannelResponse,
        errors: ["notFound"],
      }),
    )
    .get("/channel/all", list, listHook("getChannels"))
    .get("/channel/list", list, listHook("getChannelsAlias"))
    .get(
      "/channel/bulk",
      ({ query }) =>
        answerChannelPage(reads, (db) => ({
          rows: channelsOf(db, query.ids, query.type).map((id) => ({ id })),
          cursor: null,
        })),
      operation({
        operationId: "getChannelsById",
        summary: "Channels by id or parent URL, in the order asked; those that do not exist are left out",
        tags,
        query: {
          ids: textList({ maxItems: reads.maxIds }),
          type: optional(choice(["id", "parent_url"]), "id"),
        },
        response: ChannelPageResponse,
      }),
    )
    .get(
      "/channel/search",
      ({ query }) => {
        const after = decodeCursor(channelSearchCursor, query.cursor);
        return answerChannelPage(reads, (db) =>
          searchChannels(db, { text: query.q, limit: query.limit, after }),
        );
      },
      operation({
        operationId: "searchChannels",
        summary: "Channels whose id or name begins with a text, the one with the most members first",
        tags,
        query: { q: text({ description: "In any case" }), limit: limit(), cursor: cursor() },
        response: ChannelPageResponse,
      }),
    )
    .get(
      "/channel/trending",
      ({ query }) => {
        const after = decodeCursor(rankingCursors.channels, query.cursor);
        return answerChannelPage(reads, (db) => {
          const page = rankingPage(db, { kind: "channels", limit: query.limit, after });
          const rows = page.rows.map(({ ref }) => ({ id: Buffer.from(ref).toString("utf8") }));
          return { rows, cursor: page.cursor };
        });
      },
      operation({
        operationId: "getTrendingChannels",
        summary: "Channels by the people and the engagement of the last day",
        description: "The ranking is made in the background; a walk by cursor stays within one ranking.",
        tags,
        query: { limit: limit(), cursor: cursor() },
        response: ChannelPageResponse,
      }),
    );
}

function channelOf(db: IndexDatabase, asked: string, type: "id" | "parent_url"): string | undefined {
  return channelsOf(db, [asked], type)[0];
}

function channelsOf(db: IndexDatabase, asked: readonly string[], type: "id" | "parent_url"): string[] {
  return type === "id" ? resolveChannelIds(db, asked) : [...new Set(asked.map(channelIdOf))];
}
