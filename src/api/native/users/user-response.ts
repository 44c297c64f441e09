import type { IndexDatabase } from "../../../db/index/database.ts";
import { ApiError } from "../../../http/errors.ts";
import { type Reads, runQuery } from "../../../read/run-query.ts";
import type { Viewer } from "../../shared/dialect.ts";

/**
 * Responds with the user whose fid `find` returns.
 * @throws ApiError `notFound` with the message, if `find` returns no fid or an unknown one
 */
export function respondWithUser(
  reads: Reads,
  { viewer_fid: viewerFid }: Viewer,
  find: (db: IndexDatabase) => number | undefined,
  message: string,
  present = reads.present.user,
): object {
  return runQuery(
    reads,
    find,
    (fid) => ({ fids: fid === undefined ? [] : [fid], viewerFid }),
    (fid, hydration) => {
      const body = fid === undefined ? undefined : present(fid, hydration);
      if (!body) throw new ApiError("notFound", message);
      return body;
    },
  );
}
