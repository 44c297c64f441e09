import type { IndexDatabase } from "../../../db/index/database.ts";
import { newestSnapshot, type RankingKind } from "../../../db/index/rankings.ts";
import { statement } from "../../../db/index/statement.ts";
import { cutPage, type Page } from "../../cursor.ts";
import { encodePosition, findPosition, type RankingKey } from "./ranking-cursor.ts";

/** A ranked cast or channel. */
interface Ranked<Id> {
  readonly rank: number;
  readonly id: Id;
  readonly ref: Uint8Array;
}

type From = [snapshot: number, afterRank: number, limit: number];

// The ranking has hashes. The index of casts has the first 6 bytes of a hash, and the row has the others.
const RANKED_CASTS = `SELECT r.rank, c.id, r.ref FROM rankings r
     CROSS JOIN casts c ON substr(c.hash, 1, 6) = substr(r.ref, 1, 6) AND c.hash = r.ref
     WHERE r.kind = 'casts' AND r.snapshot = ?1 AND r.rank > ?2`;
const liveCasts = statement<Ranked<number>, From>(
  "skeleton.ranking.casts",
  `${RANKED_CASTS} ORDER BY r.rank LIMIT ?3`,
);
const liveChannels = statement<Ranked<string>, From>(
  "skeleton.ranking.channels",
  `SELECT r.rank, a.id, r.ref FROM rankings r CROSS JOIN channel_activity a ON a.id = CAST(r.ref AS TEXT)
   WHERE r.kind = 'channels' AND r.snapshot = ? AND r.rank > ? ORDER BY r.rank LIMIT ?`,
);
const castsUnder = statement<Ranked<number>, [...From, urlsJson: string]>(
  "skeleton.ranking.casts-under",
  `${RANKED_CASTS}
     AND c.parent_url_id IN (SELECT u.id FROM json_each(?4) j CROSS JOIN urls u ON u.url = j.value)
     ORDER BY r.rank LIMIT ?3`,
);

interface RankingQuery {
  readonly limit: number;
  readonly after: RankingKey | undefined;
}

/**
 * Returns a page of the newest ranking of casts, or of the ranking that the cursor names. Removed casts are skipped, and lower
 * ranks fill the page. An hour after its first page the list may end early. The length of a ranking bounds the work.
 */
export function rankedCasts(db: IndexDatabase, query: RankingQuery): Page<Ranked<number>> {
  return rankingPage(db, "casts", query, (...from) => db.all(liveCasts, ...from));
}

/** Returns a page of the ranked channels, as `rankedCasts`. Channels without live casts are skipped. */
export function rankedChannels(db: IndexDatabase, query: RankingQuery): Page<Ranked<string>> {
  return rankingPage(db, "channels", query, (...from) => db.all(liveChannels, ...from));
}

/** Returns a page of the ranked casts that are directly under one of the URLs. */
export function rankedCastsUnder(
  db: IndexDatabase,
  { urls, ...query }: RankingQuery & { readonly urls: readonly string[] },
): Page<Ranked<number>> {
  const json = JSON.stringify(urls);
  return rankingPage(db, "casts", query, (...from) => db.all(castsUnder, ...from, json));
}

function rankingPage<Id>(
  db: IndexDatabase,
  kind: RankingKind,
  { limit, after }: RankingQuery,
  read: (...from: From) => Ranked<Id>[],
): Page<Ranked<Id>> {
  const newest = () => ({ snapshot: newestSnapshot(db, kind), afterRank: 0, drift: 0 });
  const { snapshot, afterRank, drift } = after ? findPosition(db, kind, after) : newest();
  if (snapshot === undefined) return { rows: [], cursor: null };
  return cutPage(read(snapshot, afterRank, limit + 1), limit, ({ rank, ref }) =>
    encodePosition[kind](snapshot, { rank: rank + drift, ref }),
  );
}
