import type { IndexDatabase } from "../../index/database.ts";
import { answer, type Reads } from "../../read/answers.ts";
import type { Page } from "../../read/cursor.ts";
import { presentChannels } from "../../read/present/channel.ts";

/** Answers one page of a list of channels; `find` may name ids of channels that are not there. */
export function answerChannelPage(reads: Reads, find: (db: IndexDatabase) => Page<{ readonly id: string }>) {
  return answer(
    reads,
    (db) => {
      const { rows, cursor } = find(db);
      return { ids: rows.map(({ id }) => id), cursor };
    },
    ({ ids }) => ({ channelIds: ids }),
    ({ ids, cursor }, hydration) => ({ channels: presentChannels(ids, hydration), next: { cursor } }),
  );
}
