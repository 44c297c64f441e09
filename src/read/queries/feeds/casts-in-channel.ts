import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Page } from "../../cursor.ts";
import type { CastRef } from "../../hydrate/cast-ids.ts";
import { mergeNewestCasts } from "../merge-newest.ts";
import { castPage, type TimedKey } from "../ordered-page.ts";
import { timedCursor } from "./time-order.ts";

const castsUnder = statement<CastRef, [fid: number, urlsJson: string, below: number, limit: number]>(
  "skeleton.casts-in-channel",
  mergeNewestCasts({
    sources: { key: ["u.id"], from: "json_each(?2) j CROSS JOIN urls u ON u.url = j.value" },
    rowsOf: (urlId) => `casts WHERE fid = ?1 AND parent_url_id = ${urlId}`,
    below: "?3",
    limit: "?4",
  }),
);

export const castsInChannelCursor = timedCursor("feed/user/casts under URLs");

/** Returns the live casts of an fid directly under any of the URLs, newest first. */
export function castsInChannel(
  db: IndexDatabase,
  query: { fid: number; urls: readonly string[]; limit: number; after: TimedKey | undefined },
): Page<CastRef> {
  const { fid, urls, ...page } = query;
  const json = JSON.stringify([...new Set(urls)]);
  return castPage(db, { ...page, cursor: castsInChannelCursor }, (below, maxRows) =>
    db.all(castsUnder, fid, json, below, maxRows),
  );
}
