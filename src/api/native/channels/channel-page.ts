import type { IndexDatabase } from "../../../db/index/database.ts";
import type { Page } from "../../../read/cursor.ts";
import { type Reads, runQuery } from "../../../read/run-query.ts";
import type { Viewer } from "../../shared/dialect.ts";

/** Responds with one page of a list of channels; `find` may return ids of unknown channels. */
export function respondWithChannelPage(
  reads: Reads,
  { viewer_fid: viewerFid }: Viewer,
  find: (db: IndexDatabase) => Page<{ readonly id: string }>,
): object {
  return runQuery(
    reads,
    find,
    ({ rows }) => ({ channelIds: rows.map(({ id }) => id), viewerFid }),
    reads.present.channelPage,
  );
}
