import { Elysia } from "elysia";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { operation } from "../../../http/operation.ts";
import { cursor, fid, limit, textList } from "../../../http/params.ts";
import { parentUrlsOf } from "../../../protocol/channel-url.ts";
import type { Page } from "../../../read/cursor.ts";
import { presentNotification } from "../../../read/present/native/notification.ts";
import { resolveChannelIds } from "../../../read/queries/channels/channels.ts";
import {
  decodePagingState,
  notificationsCursor,
} from "../../../read/queries/notifications/notification-cursor.ts";
import type { NotificationEntry } from "../../../read/queries/notifications/notification-groups.ts";
import {
  channelNotificationsCursor,
  notificationPage,
  notificationsInThreads,
  parentUrlNotificationsCursor,
} from "../../../read/queries/notifications/notifications.ts";
import { type Reads, runQuery } from "../../../read/run-query.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import { NotificationPageResponse } from "./schemas.ts";

const tags = ["Notifications"];

const inThreads =
  "Only mentions and replies whose thread begins with a cast under one of the URLs; each is an entry of its own.";

/** `/notifications`, `/notifications/channel`, `/notifications/parent_url`. */
export function notificationRoutes(reads: Reads) {
  const { notificationWindowSecs: windowSecs } = reads;
  return new Elysia({ name: "notifications" })
    .get(
      "/notifications",
      ({ query }) => {
        const key = decodeCursor(notificationsCursor, query.cursor);
        const after = key && decodePagingState(key);
        return answerPage(reads, (db) =>
          notificationPage(db, { fid: query.fid, limit: query.limit, windowSecs, after }),
        );
      },
      operation({
        cache: "shared",
        operationId: "getNotifications",
        summary: "What a user is told of, newest first",
        description:
          "Reactions to one cast, and follows, are one entry for each window of time, counted back from the newest of them. Own acts and those of users whom the user blocked or muted are left out.",
        tags,
        query: { fid: fid(), limit: limit(), cursor: cursor() },
        response: NotificationPageResponse,
      }),
    )
    .get(
      "/notifications/channel",
      ({ query }) => {
        const after = decodeCursor(channelNotificationsCursor, query.cursor);
        const { fid, limit } = query;
        return answerPage(reads, (db) => {
          const urls = urlsOf(db, query.channel_ids);
          return notificationsInThreads(db, {
            fid,
            urls,
            limit,
            after,
            cursors: channelNotificationsCursor,
          });
        });
      },
      operation({
        cache: "shared",
        operationId: "getChannelNotifications",
        summary: "What a user is told of in some channels, newest first",
        description: `${inThreads} A channel may be given by its id, or by a parent URL, which then stands for itself alone.`,
        tags,
        query: {
          fid: fid(),
          channel_ids: textList({ maxItems: reads.maxIds }),
          limit: limit(),
          cursor: cursor(),
        },
        response: NotificationPageResponse,
      }),
    )
    .get(
      "/notifications/parent_url",
      ({ query }) => {
        const after = decodeCursor(parentUrlNotificationsCursor, query.cursor);
        const { fid, limit, parent_urls: urls } = query;
        const cursors = parentUrlNotificationsCursor;
        return answerPage(reads, (db) => notificationsInThreads(db, { fid, urls, limit, after, cursors }));
      },
      operation({
        cache: "shared",
        operationId: "getParentUrlNotifications",
        summary: "What a user is told of in threads under some parent URLs, newest first",
        description: inThreads,
        tags,
        query: {
          fid: fid(),
          parent_urls: textList({ maxItems: reads.maxIds }),
          limit: limit(),
          cursor: cursor(),
        },
        response: NotificationPageResponse,
      }),
    );
}

/** The parent URLs that ids of channels, or URLs as they are, stand for. */
export function urlsOf(db: IndexDatabase, channelIds: readonly string[]): string[] {
  const isUrl = (text: string) => text.startsWith("http") || text.startsWith("chain://");
  const ids = resolveChannelIds(
    db,
    channelIds.filter((id) => !isUrl(id)),
  );
  return [...channelIds.filter(isUrl), ...ids.flatMap(parentUrlsOf)];
}

function answerPage(reads: Reads, find: (db: IndexDatabase) => Page<NotificationEntry>) {
  return runQuery(
    reads,
    find,
    ({ rows }) => ({
      fids: rows.flatMap(({ acts }) => acts.map(({ actorFid }) => actorFid)),
      hashes: rows.flatMap(({ hash }) => hash ?? []),
    }),
    ({ rows, cursor: next }, hydration) => ({
      notifications: rows.flatMap((entry) => presentNotification(entry, hydration) ?? []),
      next: { cursor: next },
    }),
  );
}
