import type { IndexDatabase } from "../../db/index/database.ts";
import type { Page } from "../../read/cursor.ts";
import type { CastRef } from "../../read/hydrate/cast-ids.ts";
import type { Hash } from "../../read/hydrate/casts.ts";
import { hashesOf } from "../../read/hydrate/hydrate.ts";
import { type Reads, runQuery } from "../../read/run-query.ts";
import type { Viewer } from "./dialect.ts";

/** Responds with the casts of a list of hashes, in its order; unknown casts are omitted. */
export function respondWithCasts(
  reads: Reads,
  { viewer_fid: viewerFid }: Viewer,
  hashes: readonly Hash[],
): object {
  return runQuery(
    reads,
    () => hashes,
    () => ({ hashes, viewerFid }),
    reads.present.casts,
  );
}

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
