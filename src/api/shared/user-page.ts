import type { IndexDatabase } from "../../db/index/database.ts";
import type { Page } from "../../read/cursor.ts";
import type { Hydration } from "../../read/hydrate/hydrate.ts";
import { type Reads, runQuery } from "../../read/run-query.ts";
import type { Viewer } from "./dialect.ts";

interface Row {
  readonly fid: number;
}

/**
 * Responds with one page of a list of users; `find` returns existing fids.
 * @param present for lists with a shape of their own
 */
export function respondWithUserPage<R extends Row>(
  reads: Reads,
  { viewer_fid: viewerFid }: Viewer,
  find: (db: IndexDatabase) => Page<R>,
  present: (page: Page<R>, hydration: Hydration) => object = reads.present.userPage,
): object {
  return runQuery(reads, find, ({ rows }) => ({ fids: rows.map(({ fid }) => fid), viewerFid }), present);
}
