import { firstCastIdAt, timestampOfCastId } from "../../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import { type CursorCodec, cutPage, type Page } from "../../cursor.ts";
import { type CastRef, hashesOfCasts } from "../../hydrate/cast-ids.ts";
import type { Hash } from "../../hydrate/casts.ts";
import { hashesOfReactions, type ReactionKey } from "../casts/reaction-hashes.ts";
import { mergeNewest, mergeNewestCasts } from "../merge-newest.ts";
import { ABOVE_ALL_CASTS, orderedPage, type TimedKey } from "../ordered-page.ts";

/** A time after every recast. */
const END_OF_TIME_SECS = 2 ** 33;

/** The kinds of acts that a feed of authors may contain. */
export type Stream = "roots" | "replies" | "recasts";

/** A cast or recast of one of the authors. */
interface ActRow {
  /** The time of the cast or of the recast. */
  readonly timestamp: number;
  /** The cast to show. */
  readonly castId: number;
  /** Undefined for a cast. */
  readonly recast: ReactionKey | undefined;
  /** False for a recast whose target is not a live cast by the author that it names. */
  readonly isLive: boolean;
}

// The index has the casts of an author in two ranges: those with a parent cast, and the others.
const ownCasts = (name: string, isReply: 0 | 1) =>
  statement<CastRef, [fidsJson: string, below: number, limit: number]>(
    `skeleton.authors-feed.${name}`,
    mergeNewestCasts({
      sources: { key: ["j.value"], from: "json_each(?1) j" },
      rowsOf: (fid) => `casts WHERE fid = ${fid} AND (parent_id IS NOT NULL) = ${isReply}`,
      below: "?2",
      limit: "?3",
    }),
  );

const RECAST = ReactionType.REACTION_TYPE_RECAST;

interface RecastRow {
  fid: number;
  timestamp: number;
  targetFid: number;
  targetId: number;
  isLive: number;
}

const casts = { roots: ownCasts("roots", 0), replies: ownCasts("replies", 1) } as const;
const recasts = statement<RecastRow, [fidsJson: string, belowTimestamp: number, limit: number]>(
  "skeleton.authors-feed.recasts",
  `${mergeNewest({
    sources: { id: "j.value", from: "json_each(?1) j" },
    rowsOf: (fid) => `reactions WHERE fid = ${fid} AND type = ${RECAST}`,
    key: [
      { name: "timestamp", kind: "int" },
      { name: "targetFid", sql: "target_fid", kind: "int" },
      { name: "targetId", sql: "target_id", kind: "int" },
    ],
    below: "?2, -1, 0",
    limit: "?3",
  })}
   SELECT below.source AS fid, below.timestamp, below.targetFid, below.targetId, c.id IS NOT NULL AS isLive
   FROM merged below LEFT JOIN casts c ON c.id = below.targetId`,
);

/** The most later recasts of one cast that are searched for one by an author of the feed. */
const MAX_RECASTS = 1000;

/**
 * Selects those acts whose cast was recasted later by an author of the feed, or in the same second by another one, when the
 * hashes decide.
 */
const recastedSince = statement<{ at: number }, [fidsJson: string, actsJson: string]>(
  "skeleton.authors-feed.recasted-since",
  `SELECT j.key AS at FROM json_each(?2) j
   WHERE EXISTS (SELECT 1 FROM
     (SELECT r.fid, r.timestamp FROM reactions r
      WHERE r.target_id = j.value ->> 0 AND r.type = ${RECAST} AND r.timestamp >= j.value ->> 1
      LIMIT ${MAX_RECASTS}) below
     WHERE below.fid IN (SELECT value FROM json_each(?1))
       AND (below.fid != j.value ->> 2 OR below.timestamp > j.value ->> 1))`,
);
const recastedLater = statement<{ at: number }, [fidsJson: string, actsJson: string]>(
  "skeleton.authors-feed.recasted-later",
  `SELECT j.key AS at FROM json_each(?2) j
   WHERE EXISTS (SELECT 1 FROM
     (SELECT r.fid FROM reactions r
      WHERE r.target_id = j.value ->> 0 AND r.type = ${RECAST} AND r.timestamp > j.value ->> 1
      LIMIT ${MAX_RECASTS}) below
     WHERE below.fid IN (SELECT value FROM json_each(?1)))`,
);
const recastedInSameSecond = statement<ReactionKey & { at: number }, [fidsJson: string, actsJson: string]>(
  "skeleton.authors-feed.recasted-in-same-second",
  `SELECT j.key AS at, r.fid, r.target_fid AS targetFid, r.target_id AS targetId, r.type
   FROM json_each(?2) j CROSS JOIN reactions r ON r.target_id = j.value ->> 0 AND r.type = ${RECAST}
     AND r.timestamp = j.value ->> 1 AND r.fid != j.value ->> 2
   WHERE r.fid IN (SELECT value FROM json_each(?1))`,
);

/** The most rounds of one page. A page needs another round when too many entries of a round are hidden. */
const MAX_ROUNDS = 3;
/** Rows that a round reads beyond the missing ones, so that one round usually suffices. */
const SPARE_ROWS = 8;

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
): Page<CastRef> {
  const { limit } = query;
  const fidsJson = JSON.stringify(query.fids);
  const shown: ActRow[] = [];
  let after = query.after;
  for (let round = 0; round < MAX_ROUNDS && shown.length <= limit; round++) {
    const maxRows = limit + 1 - shown.length + SPARE_ROWS;
    const { rows, hasMore } = nextActs(db, { fidsJson, streams: query.streams, after, maxRows });
    shown.push(...visibleActs(db, fidsJson, rows, query.streams.includes("recasts")));
    const last = rows.at(-1);
    if (!last || !hasMore) return pageOf(db, shown, query);
    if (shown.length <= limit) after = positionOf(db, last);
  }
  if (shown.length > limit || !after) return pageOf(db, shown, query);
  return { rows: shown.map(({ castId: id }) => ({ id })), cursor: query.cursor.encode(after) };
}

function pageOf(
  db: IndexDatabase,
  acts: readonly ActRow[],
  { limit, cursor }: { limit: number; cursor: CursorCodec<readonly ["int", "hash"]> },
): Page<CastRef> {
  const page = cutPage(acts, limit, (last) => cursor.encode(positionOf(db, last)));
  return { rows: page.rows.map(({ castId: id }) => ({ id })), cursor: page.cursor };
}

function positionOf(db: IndexDatabase, act: ActRow): TimedKey {
  return [act.timestamp, hashesOfActs(db, [act])[0] ?? "0x"];
}

/** Returns the hashes of casts and of recasts. */
function hashesOfActs(db: IndexDatabase, acts: readonly ActRow[]): Hash[] {
  const keys = acts.flatMap(({ recast }) => recast ?? []);
  const hashes = hashesOfReactions(db, keys);
  const ids = acts.flatMap(({ recast, castId }) => (recast ? [] : [castId]));
  const castHashes = ids.length === 0 ? [] : hashesOfCasts(db, ids);
  return acts.map(({ recast }) => (recast ? hashes.shift() : castHashes.shift()) ?? "0x");
}

/** Returns the newest acts of all streams after a position. */
function nextActs(
  db: IndexDatabase,
  query: {
    fidsJson: string;
    streams: readonly Stream[];
    after: TimedKey | undefined;
    maxRows: number;
  },
): { rows: ActRow[]; hasMore: boolean } {
  const { fidsJson, after, maxRows } = query;
  return orderedPage<ActRow>({
    limit: maxRows,
    after: after && { hash: after[1], isTied: ({ timestamp }) => timestamp === after[0] },
    isTied: (a, b) => a.timestamp === b.timestamp,
    read: (max) =>
      query.streams
        .flatMap((stream) => actsOf(db, stream, { fidsJson, before: after && after[0] + 1, max }))
        .sort((a, b) => b.timestamp - a.timestamp)
        .slice(0, max),
    hashesOf: (acts) => hashesOfActs(db, acts),
  });
}

function actsOf(
  db: IndexDatabase,
  stream: Stream,
  { fidsJson, before, max }: { fidsJson: string; before: number | undefined; max: number },
): ActRow[] {
  if (stream === "recasts")
    return db
      .all(recasts, fidsJson, before ?? END_OF_TIME_SECS, max)
      .map(({ timestamp, isLive, ...key }) => ({
        timestamp,
        castId: key.targetId,
        recast: { ...key, type: RECAST },
        isLive: isLive === 1,
      }));
  const below = before === undefined ? ABOVE_ALL_CASTS : firstCastIdAt(before);
  return db
    .all(casts[stream], fidsJson, below, max)
    .map(({ id }) => ({ timestamp: timestampOfCastId(id), castId: id, recast: undefined, isLive: true }));
}

/** Returns the acts on live casts without those that a later recast of the same cast hides. */
function visibleActs(
  db: IndexDatabase,
  fidsJson: string,
  rows: readonly ActRow[],
  withRecasts: boolean,
): ActRow[] {
  const acts = rows.filter(({ isLive }) => isLive);
  if (!withRecasts) return acts;
  const jsonOf = (some: readonly ActRow[]) =>
    JSON.stringify(some.map(({ castId, timestamp, recast }) => [castId, timestamp, recast?.fid ?? 0]));
  const unsure = db.all(recastedSince, fidsJson, jsonOf(acts)).flatMap(({ at }) => acts[at] ?? []);
  if (unsure.length === 0) return acts;
  const hidden = hiddenActs(db, fidsJson, unsure, jsonOf(unsure));
  return acts.filter((act) => !hidden.has(act));
}

/** Returns the acts that a later recast hides. In one second the recast with the greater hash is later. */
function hiddenActs(
  db: IndexDatabase,
  fidsJson: string,
  acts: readonly ActRow[],
  actsJson: string,
): ReadonlySet<ActRow> {
  const hidden = new Set(db.all(recastedLater, fidsJson, actsJson).flatMap(({ at }) => acts[at] ?? []));
  const recasts = db.all(recastedInSameSecond, fidsJson, actsJson);
  const hashes = hashesOfReactions(db, recasts);
  const tied = [...new Set(recasts.flatMap(({ at }) => acts[at] ?? []))];
  const ownHashes = hashesOfActs(db, tied);
  const ownHashOf = new Map(tied.map((act, at) => [act, ownHashes[at] ?? "0x"]));
  recasts.forEach(({ at }, index) => {
    const act = acts[at];
    if (act && (hashes[index] ?? "0x") > (ownHashOf.get(act) ?? "0x")) hidden.add(act);
  });
  return hidden;
}
