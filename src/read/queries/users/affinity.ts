import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";

/** Likes and recasts between two users are counted up to so many each way. */
export const MAX_COUNTED = 200;

const count = (fid: string, targetFid: string) =>
  `(SELECT count(*) FROM
     (SELECT 1 FROM reactions r WHERE r.fid = ${fid} AND r.target_fid = ${targetFid} LIMIT ${MAX_COUNTED}))`;
const exchanged = statement<{ fid: number; given: number; got: number }, [fid: number, fidsJson: string]>(
  "skeleton.affinity",
  `SELECT j.value AS fid, ${count("?1", "j.value")} AS given, ${count("j.value", "?1")} AS got
   FROM json_each(?2) j`,
);

/**
 * How much an fid and each of the others give back to each other: m / (m + 1), where m is the smaller of the numbers of
 * likes and recasts that each gave to casts of the other. 0 where one of them gave none; it grows towards 1.
 */
export function mutualAffinity(
  db: IndexDatabase,
  fid: number,
  others: readonly number[],
): ReadonlyMap<number, number> {
  const rows = db.all(exchanged, fid, JSON.stringify(others));
  return new Map(
    rows.map(({ fid: other, given, got }) => {
      const mutual = Math.min(given, got);
      return [other, mutual / (mutual + 1)];
    }),
  );
}
