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

/** Cursors into a ranking: the snapshot in which the walk began, and the last rank that was shown. */
export const rankingCursors = {
  casts: cursorCodec("trending casts", ["int", "int"]),
  channels: cursorCodec("trending channels", ["int", "int"]),
};

/**
 * A page of the newest ranking, or of the one in which the walk began. What has gone since then is left out and the
 * page filled from below: of casts the removed ones, of channels those without any live cast. A walk that rests for
 * more than an hour may find its ranking gone, and ends. The work is bounded by the length of a ranking.
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

/** The same of casts, those directly under one of the URLs alone. */
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
