import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";

/** The most likes and recasts that are counted in each direction between two users. */
export const MAX_COUNTED = 200;

const count = (fid: string, targetFid: string) =>
  `(SELECT count(*) FROM
     (SELECT 1 FROM reactions r WHERE r.fid = ${fid} AND r.target_fid = ${targetFid} LIMIT ${MAX_COUNTED}))`;
const exchanged = statement<{ fid: number; sent: number; received: number }, [fid: number, fidsJson: string]>(
  "skeleton.affinity",
  `SELECT j.value AS fid, ${count("?1", "j.value")} AS sent, ${count("j.value", "?1")} AS received
   FROM json_each(?2) j`,
);

/**
 * Returns the mutual affinity of an fid and each of the others: m / (m + 1), where m is the smaller of the numbers of
 * likes and recasts in the two directions. It is 0 when one direction has none, and approaches 1 as m grows.
 */
export function mutualAffinity(
  db: IndexDatabase,
  fid: number,
  others: readonly number[],
): ReadonlyMap<number, number> {
  const rows = db.all(exchanged, fid, JSON.stringify(others));
  return new Map(
    rows.map(({ fid: other, sent, received }) => {
      const mutual = Math.min(sent, received);
      return [other, mutual / (mutual + 1)];
    }),
  );
}
