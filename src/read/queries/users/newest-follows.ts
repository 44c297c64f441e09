import { LinkType } from "../../../db/index/messages/link-type.ts";

/**
 * Returns a query for the newest follows of the fid `?1` as (target_fid, at). It merges the links that have a display time and the
 * others: each of them has an index.
 */
export const newestFollowsSql = (limit: number) =>
  `SELECT target_fid, timestamp AS at FROM links
      WHERE fid = ?1 AND type = ${LinkType.Follow} AND displayed_at IS NULL
      UNION ALL
      SELECT target_fid, displayed_at FROM links
      WHERE fid = ?1 AND type = ${LinkType.Follow} AND displayed_at IS NOT NULL
      ORDER BY 2 DESC, 1 DESC LIMIT ${limit}`;
