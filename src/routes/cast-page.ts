import type { IndexDatabase } from "../index/database.ts";
import { answer, presentCasts, type Reads } from "../read/answers.ts";
import type { Page } from "../read/cursor.ts";
import type { Hash } from "../read/hydrate/casts.ts";

/** Answers one page of a list of casts; `find` names casts that are live. */
export function answerCastPage(reads: Reads, find: (db: IndexDatabase) => Page<{ readonly hash: Hash }>) {
  return answer(
    reads,
    (db) => {
      const { rows, cursor } = find(db);
      return { hashes: rows.map(({ hash }) => hash), cursor };
    },
    ({ hashes }) => ({ hashes }),
    ({ hashes, cursor }, hydration) => ({ casts: presentCasts(hashes, hydration), next: { cursor } }),
  );
}
