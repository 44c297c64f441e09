import type { IndexDatabase } from "../../../db/index/database.ts";
import { NotificationKind } from "../../../db/index/project/notifications.ts";
import { perRows } from "../../../http/limits/prices.ts";
import { fid, textList } from "../../../http/request/params.ts";
import { choiceList } from "../../../http/request/word-params.ts";
import { parentUrlsOfChannels, resolveChannelIds } from "../../../read/channel-names.ts";
import type { Page } from "../../../read/cursor.ts";
import { presentNotifications } from "../../../read/present/compat/notification.ts";
import { presentNotification } from "../../../read/present/native/notification.ts";
import { type CastRules, openCastRules } from "../../../read/queries/channels/cast-rules.ts";
import {
  byKind,
  castOfAct,
  decodePagingState,
  type NotificationEntry,
  type NotificationRow,
  notificationsCursor,
} from "../../../read/queries/notifications/notification-groups.ts";
import {
  countUnseen,
  countUnseenAmong,
  notificationPage,
} from "../../../read/queries/notifications/notifications.ts";
import {
  channelNotificationsCursor,
  notificationsInThreads,
  parentUrlNotificationsCursor,
} from "../../../read/queries/notifications/thread-notifications.ts";
import { type ListRules, openListRules } from "../../../read/rules/list-rules.ts";
import { visiblePage } from "../../../read/rules/visible-page.ts";
import { type Reads, runQuery } from "../../../read/run-query.ts";
import type { ApiDeps, Viewer } from "../../deps.ts";
import { compatPage } from "../../dialects/compat.ts";
import { page } from "../../dialects/native.ts";
import { decodeCursor } from "../../respond.ts";
import { topic } from "../../topic.ts";
import { CompatNotifications, NotificationPageResponse } from "./responses.ts";
import { seenBy } from "./seen.ts";

const { read, op } = topic({ tag: "Notifications", price: perRows(10) });

const inThreads =
  "Only mentions and replies in threads whose root cast is under one of the URLs; each is a separate entry.";

const KINDS = {
  follows: [NotificationKind.Follow],
  recasts: [NotificationKind.Recast],
  likes: [NotificationKind.Like],
  mentions: [NotificationKind.Mention],
  replies: [NotificationKind.Reply],
  // Quotes cause notifications only through mentions.
  quotes: [],
} as const;

export const NOTIFICATION_TYPES = Object.keys(KINDS) as (keyof typeof KINDS)[];

export const notificationOperations = [
  read({
    id: "getNotifications",
    surface: "native",
    path: "/notifications",
    summary: "Notifications of a user, newest first",
    description:
      "Reactions to one cast, and follows, are each grouped into one entry per time window, counted back from the newest. The user's own acts and those of users that the user blocked or muted are excluded.",
    query: { fid: fid(), ...page() },
    response: NotificationPageResponse,
    run: ({ reads }, { query }) => {
      const key = decodeCursor(notificationsCursor, query.cursor);
      const after = key && decodePagingState(key);
      return respondWithPage(reads, (db) =>
        notificationPage(db, {
          fid: query.fid,
          limit: query.limit,
          windowSecs: reads.notificationWindowSecs,
          after,
        }),
      );
    },
  }),
  read({
    id: "getChannelNotifications",
    surface: "native",
    path: "/notifications/channel",
    summary: "Notifications of a user in channels, newest first",
    description: `${inThreads} A channel is identified by its id, or by a parent URL, which then matches only that URL.`,
    query: ({ reads }) => ({
      fid: fid(),
      channel_ids: textList({ maxItems: reads.maxIds }),
      ...page(),
    }),
    response: NotificationPageResponse,
    run: ({ reads }, { query }) => {
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
  }),
  read({
    id: "getParentUrlNotifications",
    surface: "native",
    path: "/notifications/parent_url",
    summary: "Notifications of a user in threads under parent URLs, newest first",
    description: inThreads,
    query: ({ reads }) => ({
      fid: fid(),
      parent_urls: textList({ maxItems: reads.maxIds }),
      ...page(),
    }),
    response: NotificationPageResponse,
    run: ({ reads }, { query }) => {
      const after = decodeCursor(parentUrlNotificationsCursor, query.cursor);
      const { fid, limit, parent_urls: urls } = query;
      const cursors = parentUrlNotificationsCursor;
      return respondWithPage(reads, (db) => notificationsInThreads(db, { fid, urls, limit, after, cursors }));
    },
  }),
  op({
    id: "getNotifications",
    surface: "compat",
    path: "/notifications",
    cache: "sharedWithoutKey",
    summary: "Notifications of a user, newest first",
    description:
      "Likes of one cast, its recasts, and follows are each grouped into one entry per time window, counted back from " +
      "the newest of them. The user's own acts and those of users that the user blocked or muted are excluded. Quotes are " +
      "included only if they mention the user. With a selection of types, " +
      "a page may be short, or empty, before the end.",
    query: { fid: fid(), type: choiceList(NOTIFICATION_TYPES), ...compatPage() },
    response: CompatNotifications,
    run: (deps, call) => {
      const { query } = call;
      const key = decodeCursor(notificationsCursor, query.cursor);
      const after = key && decodePagingState(key);
      const { fid, limit, type: types } = query;
      const isAll = types.length === NOTIFICATION_TYPES.length;
      const kinds = isAll ? undefined : types.flatMap((type) => KINDS[type]);
      return respondWithCompatPage(deps, call, (db, rules) =>
        notificationPage(db, {
          fid,
          limit,
          windowSecs: deps.reads.notificationWindowSecs,
          after,
          grouping: byKind,
          ...(kinds && { kinds }),
          ...(rules && { visible: shownActs(rules) }),
        }),
      );
    },
  }),
  op({
    id: "getChannelNotifications",
    surface: "compat",
    path: "/notifications/channel",
    cache: "sharedWithoutKey",
    summary: "Mentions and replies in the threads of some channels, newest first",
    query: ({ reads }) => ({
      fid: fid(),
      channel_ids: textList({ maxItems: reads.maxIds }),
      ...compatPage(),
    }),
    response: CompatNotifications,
    run: (deps, call) => {
      const { query } = call;
      const cursors = channelNotificationsCursor;
      const after = decodeCursor(cursors, query.cursor);
      const { fid, limit, channel_ids: ids } = query;
      return respondWithCompatPage(deps, call, (db, rules) => {
        const urls = urlsOf(db, ids);
        const channelRules = openCastRules(db, resolveChannelIds(db, ids), {});
        return inThreadsPage(db, { fid, urls, limit, after, cursors, rules, channelRules });
      });
    },
  }),
  op({
    id: "getParentUrlNotifications",
    surface: "compat",
    path: "/notifications/parent_url",
    cache: "sharedWithoutKey",
    summary: "Mentions and replies in the threads under some parent URLs, newest first",
    query: ({ reads }) => ({
      fid: fid(),
      parent_urls: textList({ maxItems: reads.maxIds }),
      ...compatPage(),
    }),
    response: CompatNotifications,
    run: (deps, call) => {
      const { query } = call;
      const cursors = parentUrlNotificationsCursor;
      const after = decodeCursor(cursors, query.cursor);
      const { fid, limit, parent_urls: urls } = query;
      return respondWithCompatPage(deps, call, (db, rules) =>
        inThreadsPage(db, { fid, urls, limit, after, cursors, rules }),
      );
    },
  }),
];

/** Selects the notifications that the user's relations do not hide. */
const shownActs =
  ({ acts }: ListRules) =>
  (rows: readonly NotificationRow[]): readonly NotificationRow[] =>
    acts(rows.map((row) => ({ actorFid: row.actorFid, castId: castOfAct(row), row }))).map(({ row }) => row);

/** Returns a page of notifications in threads, without those hidden by rules of channels or the user's relations. */
function inThreadsPage(
  db: IndexDatabase,
  {
    rules,
    channelRules,
    ...query
  }: Parameters<typeof notificationsInThreads>[1] & {
    readonly rules: ListRules | undefined;
    readonly channelRules?: CastRules | undefined;
  },
): Page<NotificationEntry> {
  const { limit, after, cursors: cursor } = query;
  const selects = [...(rules ? [shownActs(rules)] : []), ...(channelRules ? [inChannels(channelRules)] : [])];
  const visible = (entries: readonly NotificationEntry[]) => {
    let rows: readonly NotificationRow[] = entries.map(({ newest }) => newest);
    for (const select of selects) rows = select(rows);
    const kept = new Set(rows);
    return entries.filter(({ newest }) => kept.has(newest));
  };
  return visiblePage({ limit, after, cursor }, selects.length === 0 ? undefined : visible, (page) =>
    notificationsInThreads(db, { ...query, ...page }),
  );
}

const inChannels =
  ({ visible }: CastRules) =>
  (rows: readonly NotificationRow[]): readonly NotificationRow[] =>
    visible(rows.map((row) => ({ id: row.ref, row }))).map(({ row }) => row);

/** Returns the parent URLs of channels; an entry that is a URL is returned unchanged. */
function urlsOf(db: IndexDatabase, channelIds: readonly string[]): string[] {
  const isUrl = (text: string) => text.startsWith("http") || text.startsWith("chain://");
  const ids = resolveChannelIds(
    db,
    channelIds.filter((id) => !isUrl(id)),
  );
  return [...channelIds.filter(isUrl), ...parentUrlsOfChannels(db, ids)];
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

async function respondWithCompatPage(
  { reads, publish }: Pick<ApiDeps, "reads" | "publish">,
  {
    request,
    query: { fid, viewer_fid: viewerFid },
  }: { readonly request: Request; readonly query: Partial<Viewer> & { readonly fid: number } },
  find: (db: IndexDatabase, rules: ListRules | undefined) => Page<NotificationEntry>,
) {
  const seen = await seenBy(request, publish.seen, fid);
  return runQuery(
    reads,
    (db) => {
      const rules = openListRules(reads, { viewerFid: fid });
      const unseen = rules
        ? countUnseenAmong(db, { fid, seen, visible: shownActs(rules) })
        : countUnseen(db, fid, seen);
      return { ...find(db, rules), seen, unseen };
    },
    ({ rows }) => ({
      fids: rows.flatMap(({ acts }) => acts.map(({ actorFid }) => actorFid)),
      castIds: rows.flatMap(({ castId }) => castId ?? []),
      viewerFid,
    }),
    presentNotifications,
  );
}
