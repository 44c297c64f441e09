import { Elysia } from "elysia";
import type { IndexDatabase } from "../../db/index/database.ts";
import { NotificationKind } from "../../db/index/project/notifications.ts";
import { operation } from "../../http/operation.ts";
import { cursor, fid, textList } from "../../http/params.ts";
import { choiceList } from "../../http/word-params.ts";
import type { Page } from "../../read/cursor.ts";
import { presentNotifications } from "../../read/present/compat/notification.ts";
import {
  decodePagingState,
  notificationsCursor,
} from "../../read/queries/notifications/notification-cursor.ts";
import { byKind, type NotificationEntry } from "../../read/queries/notifications/notification-groups.ts";
import {
  channelNotificationsCursor,
  notificationPage,
  notificationsInThreads,
  parentUrlNotificationsCursor,
} from "../../read/queries/notifications/notifications.ts";
import { countUnseen } from "../../read/queries/notifications/unseen.ts";
import { type Reads, runQuery } from "../../read/run-query.ts";
import { urlsOf } from "../native/notifications/routes.ts";
import { decodeCursor } from "../shared/cursor-param.ts";
import type { Viewer } from "../shared/dialect.ts";
import { pageLimit, viewerFid } from "./dialect.ts";
import { NotificationsResponse } from "./notification-schemas.ts";
import type { SeenMarks } from "./write-routes/seen-marks.ts";

const tags = ["Notifications"];

const KINDS = {
  follows: [NotificationKind.Follow],
  recasts: [NotificationKind.Recast],
  likes: [NotificationKind.Like],
  mentions: [NotificationKind.Mention],
  replies: [NotificationKind.Reply],
  // A quote causes a notification only if it mentions its author, as a mention.
  quotes: [],
} as const;

export const NOTIFICATION_TYPES = Object.keys(KINDS) as (keyof typeof KINDS)[];

/** `/notifications`, `/notifications/channel`, `/notifications/parent_url`. */
export function notificationListRoutes(reads: Reads, marks: SeenMarks) {
  const { notificationWindowSecs: windowSecs } = reads;
  const respondWithPage = async (
    { request, query }: { readonly request: Request; readonly query: Viewer & { readonly fid: number } },
    find: (db: IndexDatabase) => Page<NotificationEntry>,
  ) => {
    const { fid, viewer_fid: viewerFid } = query;
    const seen = await marks.seenBy(request, fid);
    return runQuery(
      reads,
      (db) => ({ ...find(db), seen, unseen: countUnseen(db, fid, seen) }),
      ({ rows }) => ({
        fids: rows.flatMap(({ acts }) => acts.map(({ actorFid }) => actorFid)),
        castIds: rows.flatMap(({ castId }) => castId ?? []),
        viewerFid,
      }),
      presentNotifications,
    );
  };
  const page = () => ({ limit: pageLimit(), cursor: cursor(), viewer_fid: viewerFid() });
  return new Elysia({ name: "farcaster-notifications" })
    .get(
      "/notifications",
      (context) => {
        const { query } = context;
        const key = decodeCursor(notificationsCursor, query.cursor);
        const after = key && decodePagingState(key);
        const { fid, limit, type: types } = query;
        const isAll = types.length === NOTIFICATION_TYPES.length;
        const kinds = isAll ? undefined : types.flatMap((type) => KINDS[type]);
        return respondWithPage(context, (db) =>
          notificationPage(db, { fid, limit, windowSecs, after, grouping: byKind, ...(kinds && { kinds }) }),
        );
      },
      operation({
        cache: "sharedWithoutKey",
        operationId: "getNotifications",
        summary: "Notifications of a user, newest first",
        description:
          "Likes of one cast, its recasts, and follows are each grouped into one entry per time window, counted back from " +
          "the newest of them. The user's own acts and those of users that the user blocked or muted are excluded. Quotes are " +
          "included only if they mention the user. With a selection of types, " +
          "a page may be short, or empty, before the end.",
        tags,
        query: { fid: fid(), type: choiceList(NOTIFICATION_TYPES), ...page() },
        response: NotificationsResponse,
      }),
    )
    .get(
      "/notifications/channel",
      (context) => {
        const { query } = context;
        const cursors = channelNotificationsCursor;
        const after = decodeCursor(cursors, query.cursor);
        const { fid, limit, channel_ids: ids } = query;
        return respondWithPage(context, (db) =>
          notificationsInThreads(db, { fid, urls: urlsOf(db, ids), limit, after, cursors }),
        );
      },
      operation({
        cache: "sharedWithoutKey",
        operationId: "getChannelNotifications",
        summary: "Mentions and replies in the threads of some channels, newest first",
        tags,
        query: { fid: fid(), channel_ids: textList({ maxItems: reads.maxIds }), ...page() },
        response: NotificationsResponse,
      }),
    )
    .get(
      "/notifications/parent_url",
      (context) => {
        const { query } = context;
        const cursors = parentUrlNotificationsCursor;
        const after = decodeCursor(cursors, query.cursor);
        const { fid, limit, parent_urls: urls } = query;
        return respondWithPage(context, (db) =>
          notificationsInThreads(db, { fid, urls, limit, after, cursors }),
        );
      },
      operation({
        cache: "sharedWithoutKey",
        operationId: "getParentUrlNotifications",
        summary: "Mentions and replies in the threads under some parent URLs, newest first",
        tags,
        query: { fid: fid(), parent_urls: textList({ maxItems: reads.maxIds }), ...page() },
        response: NotificationsResponse,
      }),
    );
}
