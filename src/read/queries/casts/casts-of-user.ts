import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Page } from "../../cursor.ts";
import type { CastRef } from "../../hydrate/cast-ids.ts";
import { timedCursor } from "../feeds/time-order.ts";
import { castPage, type TimedKey } from "../ordered-page.ts";

type From = [fid: number, below: number, limit: number];

// The index has the casts of an author in two ranges: those with a parent cast, and the others.
const castsOf = statement<CastRef, From>(
  "skeleton.casts-of-user",
  `SELECT id FROM casts WHERE fid = ?1 AND (parent_id IS NOT NULL) = 0 AND id < ?2
   UNION ALL
   SELECT id FROM casts WHERE fid = ?1 AND (parent_id IS NOT NULL) = 1 AND id < ?2
   ORDER BY id DESC LIMIT ?3`,
);
const repliesOf = statement<CastRef, From>(
  "skeleton.replies-of-user",
  `SELECT id FROM casts WHERE fid = ? AND (parent_id IS NOT NULL) = 1 AND id < ?
   ORDER BY id DESC LIMIT ?`,
);

interface UserQuery {
  readonly fid: number;
  readonly limit: number;
  readonly after: TimedKey | undefined;
}

export const castsOfUserCursor = timedCursor("feed/user/casts");
export const repliesOfUserCursor = timedCursor("feed/user/replies_and_recasts");

/** Returns all live casts of an fid, replies included, newest first. */
export function castsOfUser(db: IndexDatabase, { fid, ...page }: UserQuery): Page<CastRef> {
  return castPage(db, { ...page, cursor: castsOfUserCursor }, (below, maxRows) =>
    newestCastsOf(db, fid, below, maxRows),
  );
}

/** Returns the live replies of an fid to casts, newest first. */
export function repliesOfUser(db: IndexDatabase, { fid, ...page }: UserQuery): Page<CastRef> {
  return castPage(db, { ...page, cursor: repliesOfUserCursor }, (below, maxRows) =>
    db.all(repliesOf, fid, below, maxRows),
  );
}

/** Returns the live casts of an fid below an id, the greatest id first. */
export function newestCastsOf(db: IndexDatabase, fid: number, below: number, maxRows: number): CastRef[] {
  return db.all(castsOf, fid, below, maxRows);
}
