import type { IndexDatabase } from "../../db/index/database.ts";
import type { Page } from "../../read/cursor.ts";
import type { CastRef } from "../../read/hydrate/cast-ids.ts";
import { hashesOf } from "../../read/hydrate/hydrate.ts";
import { type Reads, runQuery } from "../../read/run-query.ts";
import type { Viewer } from "./dialect.ts";

/** Responds with one page of a list of casts; `find` returns live casts. */
export function respondWithCastPage(
  reads: Reads,
  { viewer_fid: viewerFid }: Viewer,
  find: (db: IndexDatabase) => Page<CastRef>,
): object {
  return runQuery(
    reads,
    find,
    ({ rows }) => ({ castIds: rows.map(({ id }) => id), viewerFid }),
    ({ rows, cursor }, hydration) =>
      reads.present.castPage(
        { rows: hashesOf(rows, hydration).map((hash) => ({ hash })), cursor },
        hydration,
      ),
  );
}
