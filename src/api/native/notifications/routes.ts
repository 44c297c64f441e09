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
  "Only mentions and replies in threads whose root cast is under one of the URLs; each is a separate entry.";

/** `/notifications`, `/notifications/channel`, `/notifications/parent_url`. */
export function notificationRoutes(reads: Reads) {
  const { notificationWindowSecs: windowSecs } = reads;
  return new Elysia({ name: "notifications" })
    .get(
      "/notifications",
      ({ query }) => {
        const key = decodeCursor(notificationsCursor, query.cursor);
        const after = key && decodePagingState(key);
        return respondWithPage(reads, (db) =>
          notificationPage(db, { fid: query.fid, limit: query.limit, windowSecs, after }),
        );
      },
      operation({
        cache: "shared",
        operationId: "getNotifications",
        summary: "Notifications of a user, newest first",
        description:
          "Reactions to one cast, and follows, are each grouped into one entry per time window, counted back from the newest. The user's own acts and those of users that the user blocked or muted are excluded.",
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
        return respondWithPage(reads, (db) => {
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
        summary: "Notifications of a user in channels, newest first",
        description: `${inThreads} A channel is identified by its id, or by a parent URL, which then matches only that URL.`,
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
        return respondWithPage(reads, (db) =>
          notificationsInThreads(db, { fid, urls, limit, after, cursors }),
        );
      },
      operation({
        cache: "shared",
        operationId: "getParentUrlNotifications",
        summary: "Notifications of a user in threads under parent URLs, newest first",
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

/** Returns the parent URLs of channels; an entry that is a URL stands for itself. */
export function urlsOf(db: IndexDatabase, channelIds: readonly string[]): string[] {
  const isUrl = (text: string) => text.startsWith("http") || text.startsWith("chain://");
  const ids = resolveChannelIds(
    db,
    channelIds.filter((id) => !isUrl(id)),
  );
  return [...channelIds.filter(isUrl), ...ids.flatMap(parentUrlsOf)];
}

function respondWithPage(reads: Reads, find: (db: IndexDatabase) => Page<NotificationEntry>) {
  return runQuery(
    reads,
    find,
    ({ rows }) => ({
      fids: rows.flatMap(({ acts }) => acts.map(({ actorFid }) => actorFid)),
      castIds: rows.flatMap(({ castId }) => castId ?? []),
    }),
    ({ rows, cursor: next }, hydration) => ({
      notifications: rows.flatMap((entry) => presentNotification(entry, hydration) ?? []),
      next: { cursor: next },
    }),
  );
}
