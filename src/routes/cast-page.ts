import type { IndexDatabase } from "../index/database.ts";
import { answer, type Reads } from "../read/answers.ts";
import type { Page } from "../read/cursor.ts";
import type { Hash } from "../read/hydrate/casts.ts";
import type { Viewer } from "./dialect.ts";

/** Answers one page of a list of casts; `find` names casts that are live. */
export function answerCastPage(
  reads: Reads,
  { viewer_fid: viewerFid }: Viewer,
  find: (db: IndexDatabase) => Page<{ readonly hash: Hash }>,
): object {
  return answer(
    reads,
    find,
    ({ rows }) => ({ hashes: rows.map(({ hash }) => hash), viewerFid }),
    reads.present.castPage,
  );
}
