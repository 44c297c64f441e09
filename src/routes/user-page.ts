import type { IndexDatabase } from "../index/database.ts";
import { answer, type Reads } from "../read/answers.ts";
import type { Page } from "../read/cursor.ts";
import type { Hydration } from "../read/hydrate/hydrate.ts";
import type { Viewer } from "./dialect.ts";

interface Row {
  readonly fid: number;
}

/**
 * Answers one page of a list of users; `find` names fids that exist.
 * @param present where the list has a shape of its own
 */
export function answerUserPage<R extends Row>(
  reads: Reads,
  { viewer_fid: viewerFid }: Viewer,
  find: (db: IndexDatabase) => Page<R>,
  present: (page: Page<R>, hydration: Hydration) => object = reads.present.userPage,
): object {
  return answer(reads, find, ({ rows }) => ({ fids: rows.map(({ fid }) => fid), viewerFid }), present);
}
