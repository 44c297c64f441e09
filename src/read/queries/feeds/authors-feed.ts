import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import { type CursorCodec, cutPage, type Page } from "../../cursor.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";
import { mergeNewest, TIME_AND_HASH } from "../merge-newest.ts";
import { type TimedKey, upperBound } from "./time-order.ts";

/** The kinds of acts that a feed of authors may contain. */
export type Stream = "roots" | "replies" | "recasts";

/** A cast or recast of one of the authors, with its own time. */
interface EntryRow {
  timestamp: number;
  /** The hash of the cast or of the recast. */
  hash: Uint8Array;
  /** The cast to show; null when it does not exist or its author is not the one that the recast names. */
  castHash: Uint8Array | null;
  castFid: number | null;
}

type Params = [belowTimestamp: number, belowHash: Uint8Array, fidsJson: string, limit: number];

/** Merges the acts of all authors, newest first. `acts` is the table with the condition of its rows. */
const mergeActs = (acts: string) =>
  mergeNewest({
    sources: { id: "j.value", from: "json_each(?3) j" },
    rowsOf: (fid) => `${acts} AND fid = ${fid}`,
    key: TIME_AND_HASH,
    below: "?1, ?2",
    limit: "?4",
  });

const ownCasts = (name: string, parent: "IS NULL" | "IS NOT NULL") =>
  statement<EntryRow, Params>(
    `skeleton.authors-feed.${name}`,
    `${mergeActs(`casts WHERE parent_hash ${parent}`)}
   SELECT timestamp, hash, hash AS castHash, source AS castFid FROM merged below`,
  );

const RECAST = ReactionType.REACTION_TYPE_RECAST;

const streams = {
  roots: ownCasts("roots", "IS NULL"),
  replies: ownCasts("replies", "IS NOT NULL"),
  recasts: statement<EntryRow, Params>(
    "skeleton.authors-feed.recasts",
    `${mergeActs(`reactions WHERE type = ${RECAST}`)}
   SELECT below.timestamp, below.hash, c.hash AS castHash, c.fid AS castFid
   FROM merged below
   CROSS JOIN reactions r ON r.fid = below.source AND r.type = ${RECAST} AND r.timestamp = below.timestamp
     AND r.hash = below.hash
   LEFT JOIN casts c ON c.hash = r.target_hash AND c.fid = r.target_fid`,
  ),
} as const;

/** The most later recasts of one cast that are searched for one by an author of the feed. */
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

/** The most rounds of one page. A page needs another round when too many entries of a round are hidden. */
const MAX_ROUNDS = 3;
/** Rows that a round reads beyond the missing ones, so that one round usually suffices. */
const SPARE_ROWS = 8;

interface Entry {
  readonly timestamp: number;
  /** The hash of the cast or of the recast. */
  readonly actHash: Hash;
  readonly hash: Hash;
  readonly castFid: number;
}

/**
 * Returns the casts and recasts of authors by the time of the act, newest first. A cast that several of them recasted
 * appears once, at the time of the latest of these acts. The work is a few lookups for each author and for each entry. A
 * page before the last may be short when most recasts are of deleted casts.
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
    const maxRows = limit + 1 - shown.length + SPARE_ROWS;
    const rows = nextRows(db, { fidsJson, streams: query.streams, after, maxRows });
    shown.push(...visibleEntries(db, fidsJson, rows, query.streams.includes("recasts")));
    const last = rows.at(-1);
    if (!last || rows.length < maxRows) return pageOf(shown, limit, cursor);
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

/** Returns the newest rows of all streams after a position. */
function nextRows(
  db: IndexDatabase,
  query: {
    fidsJson: string;
    streams: readonly Stream[];
    after: TimedKey | undefined;
    maxRows: number;
  },
): EntryRow[] {
  const { fidsJson, after, maxRows } = query;
  return query.streams
    .flatMap((stream) => db.all(streams[stream], ...upperBound(after), fidsJson, maxRows))
    .sort((a, b) => b.timestamp - a.timestamp || Buffer.compare(b.hash, a.hash))
    .slice(0, maxRows);
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
    entries.map(({ hash, castFid, timestamp, actHash }) => [
      hash.slice(2),
      castFid,
      timestamp,
      actHash.slice(2),
    ]),
  );
  const hidden = new Set(db.all(recastedLater, fidsJson, json).map(({ at }) => at));
  return entries.filter((_, at) => !hidden.has(at));
}
