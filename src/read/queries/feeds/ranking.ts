import type { IndexDatabase } from "../../../db/index/database.ts";
import { newestSnapshot, type RankingKind } from "../../../db/index/rankings.ts";
import { statement } from "../../../db/index/statement.ts";
import { cursorCodec, cutPage, type Page } from "../../cursor.ts";

interface Row {
  rank: number;
  /** The hash of a cast, or the UTF-8 of a channel's id. */
  ref: Uint8Array;
}

type From = [snapshot: number, afterRank: number, limit: number];

const liveRefs = {
  casts: statement<Row, From>(
    "skeleton.ranking.casts",
    `SELECT r.rank, r.ref FROM rankings r CROSS JOIN casts c ON c.hash = r.ref
     WHERE r.kind = 'casts' AND r.snapshot = ? AND r.rank > ? ORDER BY r.rank LIMIT ?`,
  ),
  channels: statement<Row, From>(
    "skeleton.ranking.channels",
    `SELECT r.rank, r.ref FROM rankings r CROSS JOIN channel_activity a ON a.id = CAST(r.ref AS TEXT)
     WHERE r.kind = 'channels' AND r.snapshot = ? AND r.rank > ? ORDER BY r.rank LIMIT ?`,
  ),
};

const castsUnder = statement<Row, [...From, urlsJson: string]>(
  "skeleton.ranking.casts-under",
  `SELECT r.rank, r.ref FROM rankings r CROSS JOIN casts c ON c.hash = r.ref
   WHERE r.kind = 'casts' AND r.snapshot = ?1 AND r.rank > ?2
     AND c.parent_url IN (SELECT value FROM json_each(?4))
   ORDER BY r.rank LIMIT ?3`,
);

/** Cursors into a ranking: the snapshot of the first page, and the last rank that was shown. */
export const rankingCursors = {
  casts: cursorCodec("trending casts", ["int", "int"]),
  channels: cursorCodec("trending channels", ["int", "int"]),
};

/**
 * Returns a page of the newest ranking, or of the snapshot in the cursor. Removed casts and channels without live casts
 * are skipped, and lower ranks fill the page. A snapshot may be deleted an hour after the previous page; the list then
 * ends. The length of a ranking bounds the work.
 */
export function rankingPage(
  db: IndexDatabase,
  query: { kind: RankingKind; limit: number; after: readonly [snapshot: number, rank: number] | undefined },
): Page<Row> {
  const { kind, limit, after } = query;
  const snapshot = after ? after[0] : newestSnapshot(db, kind);
  if (snapshot === undefined) return { rows: [], cursor: null };
  const rows = db.all(liveRefs[kind], snapshot, after ? after[1] : 0, limit + 1);
  return cutPage(rows, limit, (last) => rankingCursors[kind].encode([snapshot, last.rank]));
}

/** Returns a page of the ranked casts that are directly under one of the URLs. */
export function rankedCastsUnder(
  db: IndexDatabase,
  query: {
    urls: readonly string[];
    limit: number;
    after: readonly [snapshot: number, rank: number] | undefined;
  },
): Page<Row> {
  const { urls, limit, after } = query;
  const snapshot = after ? after[0] : newestSnapshot(db, "casts");
  if (snapshot === undefined) return { rows: [], cursor: null };
  const rows = db.all(castsUnder, snapshot, after ? after[1] : 0, limit + 1, JSON.stringify(urls));
  return cutPage(rows, limit, (last) => rankingCursors.casts.encode([snapshot, last.rank]));
}
