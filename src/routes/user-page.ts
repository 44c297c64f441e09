import type { IndexDatabase } from "../index/database.ts";
import { answer, presentUsers, type Reads } from "../read/answers.ts";
import type { Page } from "../read/cursor.ts";

/** Answers one page of a list of users; `find` names fids that exist. */
export function answerUserPage(reads: Reads, find: (db: IndexDatabase) => Page<{ readonly fid: number }>) {
  return answer(
    reads,
    (db) => {
      const { rows, cursor } = find(db);
      return { fids: rows.map(({ fid }) => fid), cursor };
    },
    ({ fids }) => ({ fids }),
    ({ fids, cursor }, hydration) => ({ users: presentUsers(fids, hydration), next: { cursor } }),
  );
}
