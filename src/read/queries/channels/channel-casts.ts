import { firstCastIdAt } from "../../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { parentUrlsOf } from "../../../protocol/channel-url.ts";

/** The most casts that are counted under each URL of a channel. */
export const MAX_COUNTED = 10_000;

const DAY_SECS = 86_400;

interface CountRow {
  id: string;
  day: number;
  week: number;
  month: number;
}

const countSince = (start: string) =>
  `sum((SELECT count(*) FROM (SELECT 1 FROM casts c
     WHERE c.parent_url_id = (SELECT id FROM urls WHERE url = j.value ->> 1) AND c.id >= ${start}
     LIMIT ${MAX_COUNTED})))`;
const counts = statement<
  CountRow,
  [dayStartId: number, weekStartId: number, monthStartId: number, urlsJson: string]
>(
  "skeleton.channel-casts.counts",
  `SELECT j.value ->> 0 AS id, ${countSince("?1")} AS day, ${countSince("?2")} AS week,
     ${countSince("?3")} AS month
   FROM json_each(?4) j GROUP BY j.value ->> 0`,
);

/** The numbers of live casts directly in a channel in the last 1, 7 and 30 days. */
export interface ChannelCasts {
  readonly day: number;
  readonly week: number;
  readonly month: number;
}

/** Counts the recent casts of channels in one statement. */
export function countChannelCasts(
  db: IndexDatabase,
  ids: readonly string[],
  nowSecs: number,
): ReadonlyMap<string, ChannelCasts> {
  const urls = ids.flatMap((id) => parentUrlsOf(id).map((url) => [id, url]));
  const since = (days: number) => firstCastIdAt(nowSecs - days * DAY_SECS);
  const rows = db.all(counts, since(1), since(7), since(30), JSON.stringify(urls));
  return new Map(rows.map(({ id, ...casts }) => [id, casts]));
}
