import type { IndexDatabase } from "../../../db/index/database.ts";
import type { NotificationKind } from "../../../db/index/project/notifications.ts";
import { statement } from "../../../db/index/statement.ts";
import { cursorCodec, type Key, type Page } from "../../cursor.ts";
import { hashesOfCasts } from "../../hydrate/casts.ts";
import type { CastRules } from "../channels/cast-rules.ts";
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

/** Returns the mentions and replies in threads whose root has one of `urls` as parent, newest first, one entry each. */
export function notificationsInThreads(
  db: IndexDatabase,
  query: {
    fid: number;
    urls: readonly string[];
    limit: number;
    after: Key<ThreadShape> | undefined;
    cursors: typeof channelNotificationsCursor;
    /** Hides casts of channels; undefined where nothing is hidden. */
    rules?: CastRules | undefined;
  },
): Page<NotificationEntry> {
  const { fid, urls, limit, after, cursors, rules } = query;
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
  let stoppedAt: NotificationRow | undefined;
  const { rows, hasMore } = orderedPage<NotificationRow>({
    limit,
    after: after && {
      hash: after[3],
      isTied: (row) => isTied(row, { timestamp: after[0], kind: kindOf(after[1]), actorFid: after[2] }),
    },
    isTied,
    read(maxRows) {
      const found = visibleRows(rules, maxRows, (count) =>
        db.all(rowsInThreads, fid, ...from, count, urlsJson),
      );
      stoppedAt = found.stoppedAt;
      return found.rows;
    },
    hashesOf,
  });
  const entries = rows.map((row) => ({ newest: row, castId: row.ref, acts: [row], count: 1 }));
  const last = hasMore ? rows.at(-1) : stoppedAt;
  if (last === undefined) return { rows: entries, cursor: null };
  const [hash = "0x"] = hashesOf([last]);
  return { rows: entries, cursor: cursors.encode([last.timestamp, last.kind, last.actorFid, hash]) };
}

/** Rows that are looked at for a page of which some are hidden. */
const MAX_EXAMINED = 2000;

/**
 * Returns the first visible rows: fewer than asked for at the end of the list, or where almost all are hidden. `stoppedAt` is then the
 * last row that was looked at.
 */
function visibleRows(
  rules: CastRules | undefined,
  maxRows: number,
  read: (maxRows: number) => readonly NotificationRow[],
): { readonly rows: readonly NotificationRow[]; readonly stoppedAt: NotificationRow | undefined } {
  if (!rules) return { rows: read(maxRows), stoppedAt: undefined };
  for (let size = 2 * maxRows; ; size *= 2) {
    const found = read(size);
    const isAtEnd = found.length < size;
    // Rows of the last rank may be missing.
    const whole = isAtEnd
      ? found
      : found.slice(
          0,
          found.findIndex((row) => isTied(row, found.at(-1) ?? row)),
        );
    const shown = new Set(rules.visible(whole.map(({ ref }) => ({ id: ref }))).map(({ id }) => id));
    const rows = whole.filter(({ ref }) => shown.has(ref)).slice(0, maxRows);
    if (isAtEnd || rows.length === maxRows) return { rows, stoppedAt: undefined };
    if (size >= MAX_EXAMINED && whole.length > 0) return { rows, stoppedAt: whole.at(-1) };
  }
}

function kindOf(kind: number): NotificationKind {
  return kind as NotificationKind;
}
