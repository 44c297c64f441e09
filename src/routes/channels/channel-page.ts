import type { IndexDatabase } from "../../index/database.ts";
import { answer, type Reads } from "../../read/answers.ts";
import type { Page } from "../../read/cursor.ts";
import type { Viewer } from "../dialect.ts";

/** Answers one page of a list of channels; `find` may name ids of channels that are not there. */
export function answerChannelPage(
  reads: Reads,
  { viewer_fid: viewerFid }: Viewer,
  find: (db: IndexDatabase) => Page<{ readonly id: string }>,
): object {
  return answer(
    reads,
    find,
    ({ rows }) => ({ channelIds: rows.map(({ id }) => id), viewerFid }),
    reads.present.channelPage,
  );
}
