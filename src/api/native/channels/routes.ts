import { Elysia } from "elysia";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { ApiError } from "../../../http/errors.ts";
import { aliasOf } from "../../../http/operation.ts";
import { choice, cursor, limit, optional, text, textList } from "../../../http/params.ts";
import { channelIdOf } from "../../../protocol/channel-url.ts";
import { channelSearchCursor, searchChannels } from "../../../read/queries/channels/channel-search.ts";
import {
  allChannels,
  allChannelsCursor,
  resolveChannelIds,
} from "../../../read/queries/channels/channels.ts";
import { runQuery } from "../../../read/run-query.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadDeps, Viewer } from "../../shared/dialect.ts";
import { respondWithChannelPage } from "./channel-page.ts";

const tags = ["Channels"];

/** `/channel`, `/channel/all`, `/channel/list`, `/channel/bulk`, `/channel/search`. */
export function channelRoutes({ reads, describe }: ReadDeps) {
  const list = ({ query }: { query: Viewer & { limit: number; cursor: string | undefined } }) => {
    const after = decodeCursor(allChannelsCursor, query.cursor);
    return respondWithChannelPage(reads, query, (db) => allChannels(db, { limit: query.limit, after }));
  };
  const listHook = describe({
    cache: "shared",
    operationId: "getChannels",
    summary: "All channels, by id",
    tags,
    query: { limit: limit(), cursor: cursor() },
    response: "channelPage",
  });

  return new Elysia({ name: "channels" })
    .get(
      "/channel",
      ({ query }) =>
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
      describe({
        cache: "shared",
        operationId: "getChannel",
        summary: "One channel, by its id or by one of its parent URLs",
        tags,
        query: {
          id: text({
            description: "With type `id`, a URL of the channel is accepted too",
            examples: ["books"],
          }),
          type: optional(choice(["id", "parent_url"]), "id"),
        },
        response: "channel",
        errors: ["notFound"],
      }),
    )
    .get("/channel/all", list, listHook)
    .get("/channel/list", list, aliasOf("/channel/all", listHook))
    .get(
      "/channel/bulk",
      ({ query }) =>
        respondWithChannelPage(reads, query, (db) => ({
          rows: channelsOf(db, query.ids, query.type).map((id) => ({ id })),
          cursor: null,
        })),
      describe({
        cache: "shared",
        operationId: "getChannelsById",
        summary: "Channels by id or parent URL, in the requested order; unknown channels are omitted",
        tags,
        query: {
          ids: textList({ maxItems: reads.maxIds }),
          type: optional(choice(["id", "parent_url"]), "id"),
        },
        response: "channelPage",
      }),
    )
    .get(
      "/channel/search",
      ({ query }) => {
        const after = decodeCursor(channelSearchCursor, query.cursor);
        return respondWithChannelPage(reads, query, (db) =>
          searchChannels(db, { text: query.q, limit: query.limit, after }),
        );
      },
      describe({
        cache: "shared",
        operationId: "searchChannels",
        summary: "Channels whose id or name starts with a text, most members first",
        tags,
        query: { q: text({ description: "Case-insensitive" }), limit: limit(), cursor: cursor() },
        response: "channelPage",
      }),
    );
}

function channelOf(db: IndexDatabase, name: string, type: "id" | "parent_url"): string | undefined {
  return channelsOf(db, [name], type)[0];
}

function channelsOf(db: IndexDatabase, names: readonly string[], type: "id" | "parent_url"): string[] {
  return type === "id" ? resolveChannelIds(db, names) : [...new Set(names.map(channelIdOf))];
}
