import type { IndexDatabase } from "../../../db/index/database.ts";
import { rankedCasts, rankedCastsUnder } from "../../../read/queries/feeds/ranking.ts";
import { rankingCursors } from "../../../read/queries/feeds/ranking-cursor.ts";
import type { Reads } from "../../../read/run-query.ts";
import { respondWithCastPage } from "../../shared/cast-page.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { Viewer } from "../../shared/dialect.ts";

export const TRENDING =
  "Ranked by likes, recasts and replies relative to age, over a rolling window. The ranking is refreshed every minute; all pages " +
  "of a cursor belong to one ranking.";

/**
 * Responds with a page of the trending feed.
 * @param urlsOf parent URLs of the casts; all casts if omitted
 */
export function respondWithTrending(
  reads: Reads,
  query: Viewer & { readonly limit: number; readonly cursor: string | undefined },
  urlsOf?: (db: IndexDatabase) => readonly string[],
): object {
  const after = decodeCursor(rankingCursors.casts, query.cursor);
  const { limit } = query;
  return respondWithCastPage(reads, query, (db) =>
    urlsOf ? rankedCastsUnder(db, { urls: urlsOf(db), limit, after }) : rankedCasts(db, { limit, after }),
  );
}
