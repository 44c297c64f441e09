import type { IndexDatabase } from "../../../db/index/database.ts";
import type { NotificationKind } from "../../../db/index/project/notifications.ts";
import { statement } from "../../../db/index/statement.ts";
import { cursorCodec, type Key, type Page } from "../../cursor.ts";
import { hashesOfCasts } from "../../hydrate/casts.ts";
import { mergeNewest, orderedPage } from "../ordered-page.ts";
import type { NotificationEntry, NotificationRow } from "./notification-groups.ts";
import { FROM_THE_NEWEST, isSilenced, isTied, type Position, positionFrom } from "./notification-rows.ts";

const rowsInThreads = statement<NotificationRow, [fid: number, ...Position, limit: number, urlsJson: string]>(
  "skeleton.notifications.in-threads",
  `${mergeNewest({
    sources: { id: "u.id", from: "json_each(?7) j CROSS JOIN urls u ON u.url = j.value" },
    rowsOf: (url) => `thread_notifications n
      WHERE n.fid = ?1 AND n.root_url_id = ${url} AND NOT ${isSilenced("n.actor_fid")}`,
    key: [
      { name: "timestamp", sql: "n.timestamp", kind: "int" },
      { name: "kind", sql: "n.kind", kind: "digit" },
      { name: "actorFid", sql: "n.actor_fid", kind: "int" },
      { name: "ref", sql: "n.ref", kind: "int" },
    ],
    below: "?2, ?3, ?4, ?5",
    limit: "?6",
  })}
   SELECT timestamp, kind, actorFid, ref FROM merged below`,
);

export type ThreadShape = readonly ["int", "int", "int", "hash"];

const threadShape: ThreadShape = ["int", "int", "int", "hash"];
export const channelNotificationsCursor = cursorCodec("notifications/channel", threadShape);
export const parentUrlNotificationsCursor = cursorCodec("notifications/parent_url", threadShape);

/** Returns the mentions and replies in threads whose root has one of `urls` as its parent, newest first, one entry each. */
export function notificationsInThreads(
  db: IndexDatabase,
  query: {
    fid: number;
    urls: readonly string[];
    limit: number;
    after: Key<ThreadShape> | undefined;
    cursors: typeof channelNotificationsCursor;
  },
): Page<NotificationEntry> {
  const { fid, urls, limit, after, cursors } = query;
  const from = after
    ? positionFrom({ timestamp: after[0], kind: kindOf(after[1]), actorFid: after[2] })
    : FROM_THE_NEWEST;
  // A repeated URL would repeat its rows.
  const urlsJson = JSON.stringify([...new Set(urls)]);
  const hashesOf = (rows: readonly NotificationRow[]) =>
    hashesOfCasts(
      db,
      rows.map(({ ref }) => ref),
    );
  const cursorAfter = ({ newest: last }: NotificationEntry) => {
    const [hash = "0x"] = hashesOf([last]);
    return cursors.encode([last.timestamp, last.kind, last.actorFid, hash]);
  };
  const { rows, hasMore } = orderedPage<NotificationRow>({
    limit,
    after: after && {
      hash: after[3],
      isTied: (row) => isTied(row, { timestamp: after[0], kind: kindOf(after[1]), actorFid: after[2] }),
    },
    isTied,
    read: (maxRows) => db.all(rowsInThreads, fid, ...from, maxRows, urlsJson),
    hashesOf,
  });
  const entries = rows.map((row) => ({ newest: row, castId: row.ref, acts: [row], count: 1 }));
  const last = hasMore ? entries.at(-1) : undefined;
  return { rows: entries, cursor: last ? cursorAfter(last) : null, cursorAfter };
}

function kindOf(kind: number): NotificationKind {
  return kind as NotificationKind;
}
