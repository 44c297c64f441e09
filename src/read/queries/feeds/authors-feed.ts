import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import { type CursorCodec, cutPage, type Page } from "../../cursor.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";
import { type TimedKey, upperBound } from "./time-order.ts";

/** What authors put into a feed. */
export type Stream = "roots" | "replies" | "recasts";

/** A cast or recast of one of the authors, at its own time. */
interface EntryRow {
  timestamp: number;
  /** The hash of the cast or of the recast. */
  hash: Uint8Array;
  /** What is shown; null where it is not there, or another author's than the recast says. */
  castHash: Uint8Array | null;
  castFid: number | null;
}

type Params = [belowTimestamp: number, belowHash: Uint8Array, fidsJson: string, limit: number];

const PLACE = "printf('%016d', timestamp) || hex(hash)";
const NEWEST = "ORDER BY timestamp DESC, hash DESC LIMIT 1";
const PLACED = "CAST(substr(b.place, 1, 16) AS INTEGER), unhex(substr(b.place, 17))";

/**
 * The newest acts of all authors together. A recursive query with an order is a priority queue: it takes the newest row
 * out and puts in that author's next one. Time and hash travel as one text that sorts as they do.
 */
const newestFirst = (acts: string) => `WITH RECURSIVE below (fid, place) AS (
     SELECT j.value, (SELECT ${PLACE} FROM ${acts} AND fid = j.value AND (timestamp, hash) < (?1, ?2) ${NEWEST})
     FROM json_each(?3) j
     UNION ALL
     SELECT b.fid, (SELECT ${PLACE} FROM ${acts} AND fid = b.fid AND (timestamp, hash) < (${PLACED}) ${NEWEST})
     FROM below b WHERE b.place IS NOT NULL
     ORDER BY 2 DESC LIMIT ?4
   ), acts (fid, timestamp, hash) AS (
     SELECT b.fid, ${PLACED} FROM below b WHERE b.place IS NOT NULL
   )`;

const ownCasts = (name: string, parent: "IS NULL" | "IS NOT NULL") =>
  statement<EntryRow, Params>(
    `skeleton.authors-feed.${name}`,
    `${newestFirst(`casts WHERE parent_hash ${parent}`)}
   SELECT timestamp, hash, hash AS castHash, fid AS castFid FROM acts below`,
  );

const RECAST = ReactionType.REACTION_TYPE_RECAST;

const streams = {
  roots: ownCasts("roots", "IS NULL"),
  replies: ownCasts("replies", "IS NOT NULL"),
  recasts: statement<EntryRow, Params>(
    "skeleton.authors-feed.recasts",
    `${newestFirst(`reactions WHERE type = ${RECAST}`)}
   SELECT below.timestamp, below.hash, c.hash AS castHash, c.fid AS castFid
   FROM acts below
   CROSS JOIN reactions r ON r.fid = below.fid AND r.type = ${RECAST} AND r.timestamp = below.timestamp
     AND r.hash = below.hash
   LEFT JOIN casts c ON c.hash = r.target_hash AND c.fid = r.target_fid`,
  ),
} as const;

/** Recasts of one cast that are looked at to know whether one of them is by an author of the feed. */
const MAX_RECASTS = 1000;

const recastedLater = statement<{ at: number }, [fidsJson: string, entriesJson: string]>(
  "skeleton.authors-feed.recasted-later",
  `SELECT j.key AS at FROM json_each(?2) j
   WHERE EXISTS (SELECT 1 FROM
     (SELECT r.fid FROM reactions r
      WHERE r.target_hash = unhex(j.value ->> 0) AND r.target_fid = j.value ->> 1 AND r.type = ${RECAST}
        AND (r.timestamp, r.hash) > (j.value ->> 2, unhex(j.value ->> 3))
      LIMIT ${MAX_RECASTS}) below
     WHERE below.fid IN (SELECT value FROM json_each(?1)))`,
);

/** Entries that are not shown make more rounds necessary, up to this number for a page. */
const MAX_ROUNDS = 3;
/** Rows that a round takes beyond those that are needed, so that one round mostly does. */
const SPARE_ROWS = 8;

interface Entry {
  readonly timestamp: number;
  readonly actHash: Hash;
  readonly hash: Hash;
  readonly castFid: number;
}

/**
 * What authors cast or recasted, by the time of the act, newest first; a cast that several of them recasted stands at
 * the latest of these acts. The work is a few lookups for each author and for each entry. Where most recasts are of
 * casts that are gone a page may be short before the end.
 */
export function authorsFeed(
  db: IndexDatabase,
  query: {
    fids: readonly number[];
    streams: readonly Stream[];
    limit: number;
    after: TimedKey | undefined;
    cursor: CursorCodec<readonly ["int", "hash"]>;
  },
): Page<{ hash: Hash }> {
  const { limit, cursor } = query;
  const fidsJson = JSON.stringify(query.fids);
  const shown: Entry[] = [];
  let after = query.after;
  for (let round = 0; round < MAX_ROUNDS && shown.length <= limit; round++) {
    const wanted = limit + 1 - shown.length + SPARE_ROWS;
    const rows = nextRows(db, { fidsJson, streams: query.streams, after, wanted });
    shown.push(...visibleEntries(db, fidsJson, rows, query.streams.includes("recasts")));
    const last = rows.at(-1);
    if (!last || rows.length < wanted) return pageOf(shown, limit, cursor);
    after = [last.timestamp, hex(last.hash)];
  }
  if (shown.length > limit || !after) return pageOf(shown, limit, cursor);
  return { rows: shown, cursor: cursor.encode(after) };
}

function pageOf(
  entries: readonly Entry[],
  limit: number,
  cursor: CursorCodec<readonly ["int", "hash"]>,
): Page<{ hash: Hash }> {
  return cutPage(entries, limit, (last) => cursor.encode([last.timestamp, last.actHash]));
}

/** The newest rows of all streams below a place. */
function nextRows(
  db: IndexDatabase,
  query: {
    fidsJson: string;
    streams: readonly Stream[];
    after: TimedKey | undefined;
    wanted: number;
  },
): EntryRow[] {
  const { fidsJson, after, wanted } = query;
  return query.streams
    .flatMap((stream) => db.all(streams[stream], ...upperBound(after), fidsJson, wanted))
    .sort((a, b) => b.timestamp - a.timestamp || Buffer.compare(b.hash, a.hash))
    .slice(0, wanted);
}

function visibleEntries(
  db: IndexDatabase,
  fidsJson: string,
  rows: readonly EntryRow[],
  withRecasts: boolean,
): Entry[] {
  const entries = rows.flatMap(({ timestamp, hash, castHash, castFid }): Entry[] =>
    castHash === null || castFid === null
      ? []
      : [{ timestamp, actHash: hex(hash), hash: hex(castHash), castFid }],
  );
  if (!withRecasts) return entries;
  const json = JSON.stringify(
    entries.map(({ hash, castFid, timestamp, actHash: place }) => [
      hash.slice(2),
      castFid,
      timestamp,
      place.slice(2),
    ]),
  );
  const hidden = new Set(db.all(recastedLater, fidsJson, json).map(({ at }) => at));
  return entries.filter((_, at) => !hidden.has(at));
}
