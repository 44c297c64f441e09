import { firstCastIdAt, timestampOfCastId } from "../../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { type CursorCodec, cutPage, type Page } from "../../cursor.ts";
import { type Hash, hashesOfCasts, hashOfCast } from "../../hydrate/casts.ts";
import type { ListedCast } from "../../rules/list-rules.ts";
import { hashesOfReactions, type ReactionKey } from "../casts/reactions.ts";
import { ABOVE_ALL_CASTS, orderedPage, type TimedKey } from "../ordered-page.ts";
import { type AuthorReads, type Authors, RECAST, type RecastRow, readsOf } from "./author-reads.ts";

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

/** Maximum number of rounds per page. A page needs another round if too many entries of a round are hidden. */
const MAX_ROUNDS = 3;
/** Rows that a round reads beyond those missing, so that one round usually suffices. */
const SPARE_ROWS = 8;
/** Up to this many recasts per row of a page, reading them all is faster than the merge. */
const RECASTS_PER_ROW = 4;

/**
 * Returns the casts and recasts of authors by the time of the act, newest first. A cast that several of them recasted
 * appears once, at the time of the latest of these acts. The work is a few look-ups per author and per entry. A page before
 * the last may be short if most recasts are of deleted casts.
 */
export function authorsFeed(
  db: IndexDatabase,
  query: {
    authors: Authors;
    streams: readonly Stream[];
    limit: number;
    after: TimedKey | undefined;
    cursor: CursorCodec<readonly ["int", "hash"]>;
  },
): Page<ListedCast> {
  const { limit, streams } = query;
  const reads = readsOf(db, query.authors);
  if (!query.after && streams.length > 1 && streams.includes("recasts")) {
    const first = firstActs(db, reads, query);
    if (first) return pageOf(db, first, query);
  }
  const shown: ActRow[] = [];
  let after = query.after;
  for (let round = 0; round < MAX_ROUNDS && shown.length <= limit; round++) {
    const maxRows = limit + 1 - shown.length + SPARE_ROWS;
    const { rows, hasMore } = nextActs(db, reads, { streams, after, maxRows });
    const acts = rows.filter(({ isLive }) => isLive);
    shown.push(...(streams.includes("recasts") ? withoutHidden(db, acts, storedRecasts(reads, acts)) : acts));
    const last = rows.at(-1);
    if (!last || !hasMore) return pageOf(db, shown, query);
    if (shown.length <= limit) after = positionOf(db, last);
  }
  if (shown.length > limit || !after) return pageOf(db, shown, query);
  return { rows: shown.map(listedCast), cursor: query.cursor.encode(after) };
}

/** A cast of the list, with the act for which it is shown. */
interface ShownAct extends ListedCast {
  readonly act: ActRow;
}

function listedCast(act: ActRow): ShownAct {
  return { id: act.castId, recasterFid: act.recast?.fid, act };
}

function pageOf(
  db: IndexDatabase,
  acts: readonly ActRow[],
  { limit, cursor }: { limit: number; cursor: CursorCodec<readonly ["int", "hash"]> },
): Page<ListedCast> {
  return cutPage(acts.map(listedCast), limit, ({ act }) => cursor.encode(positionOf(db, act)));
}

function positionOf(db: IndexDatabase, { timestamp, castId, recast }: ActRow): TimedKey {
  const hash = recast ? hashesOfReactions(db, [recast])[0] : hashOfCast(db, castId);
  return [timestamp, hash ?? "0x"];
}

/** Returns the hashes of casts and of recasts. */
function hashesOfActs(db: IndexDatabase, acts: readonly ActRow[]): Hash[] {
  const keys = acts.flatMap(({ recast }) => recast ?? []);
  const hashes = hashesOfReactions(db, keys);
  const ids = acts.flatMap(({ recast, castId }) => (recast ? [] : [castId]));
  const castHashes = ids.length === 0 ? [] : hashesOfCasts(db, ids);
  return acts.map(({ recast }) => (recast ? hashes.shift() : castHashes.shift()) ?? "0x");
}

/**
 * Returns the first visible acts of a list, one more than `limit` unless the list ends, or undefined if the authors recast
 * much more than they cast.
 *
 * Reads the newest casts, then all recasts since the oldest of them. It is then known, without a further query, which of
 * these acts a later recast hides. There are at least as many visible acts as casts, because a cast is only hidden by a
 * recast that shows it.
 */
function firstActs(
  db: IndexDatabase,
  reads: AuthorReads,
  { streams, limit }: { streams: readonly Stream[]; limit: number },
): ActRow[] | undefined {
  let tooManyRecasts = false;
  const { rows } = orderedPage<ActRow>({
    limit: limit + 1,
    after: undefined,
    isTied,
    read: (max) => {
      const casts = newestCastsOf(reads, streams, ABOVE_ALL_CASTS, max);
      const since = casts.length === max ? (casts.at(-1)?.timestamp ?? 0) : 0;
      const maxRecasts = max * RECASTS_PER_ROW;
      const found = reads.recastsSince(since, END_OF_TIME_SECS, maxRecasts);
      tooManyRecasts = found.length === maxRecasts;
      if (tooManyRecasts) return [];
      const recasts = actsOfRecasts(found).filter(({ isLive }) => isLive);
      if (recasts.length === 0) return casts;
      const acts = mergedByTime(casts, recasts, casts.length + recasts.length);
      return withoutHidden(db, acts, recastsAmong(acts, recasts)).slice(0, max);
    },
    hashesOf: (acts) => hashesOfActs(db, acts),
  });
  return tooManyRecasts ? undefined : rows;
}

/** Returns the newest acts of all streams after a position. */
function nextActs(
  db: IndexDatabase,
  reads: AuthorReads,
  query: { streams: readonly Stream[]; after: TimedKey | undefined; maxRows: number },
): { rows: ActRow[]; hasMore: boolean } {
  const { streams, after, maxRows } = query;
  const before = after && after[0] + 1;
  const below = before === undefined ? ABOVE_ALL_CASTS : firstCastIdAt(before);
  return orderedPage<ActRow>({
    limit: maxRows,
    after: after && { hash: after[1], isTied: ({ timestamp }) => timestamp === after[0] },
    isTied,
    read: (max) => {
      const casts = newestCastsOf(reads, streams, below, max);
      if (!streams.includes("recasts")) return casts;
      const since = casts.length === max ? casts.at(-1)?.timestamp : undefined;
      return mergedByTime(casts, recastsBefore(reads, before ?? END_OF_TIME_SECS, since, max), max);
    },
    hashesOf: (acts) => hashesOfActs(db, acts),
  });
}

function isTied(a: ActRow, b: ActRow): boolean {
  return a.timestamp === b.timestamp;
}

function newestCastsOf(reads: AuthorReads, streams: readonly Stream[], below: number, max: number): ActRow[] {
  let newest: ActRow[] = [];
  for (const stream of streams) {
    if (stream === "recasts") continue;
    const casts = reads.casts(stream, below, max).map(actOfCast);
    newest = newest.length === 0 ? casts : mergedByTime(newest, casts, max);
  }
  return newest;
}

/** Merges two lists sorted by time, newest first. */
function mergedByTime(a: readonly ActRow[], b: readonly ActRow[], max: number): ActRow[] {
  const merged: ActRow[] = [];
  for (let atA = 0, atB = 0; merged.length < max; ) {
    const [nextA, nextB] = [a[atA], b[atB]];
    if (nextA && (!nextB || nextA.timestamp >= nextB.timestamp)) {
      merged.push(nextA);
      atA += 1;
    } else if (nextB) {
      merged.push(nextB);
      atB += 1;
    } else break;
  }
  return merged;
}

function actOfCast({ id }: ListedCast): ActRow {
  return { timestamp: timestampOfCastId(id), castId: id, recast: undefined, isLive: true };
}

/**
 * Returns the newest recasts before a time, `max` of them unless the list ends or older ones are before `since`. The recasts
 * since a time are one range per author, which costs a fifth of the merge while they are few.
 */
function recastsBefore(reads: AuthorReads, before: number, since: number | undefined, max: number): ActRow[] {
  if (since !== undefined) {
    const maxRecasts = max * RECASTS_PER_ROW;
    const found = reads.recastsSince(since, before, maxRecasts);
    if (found.length < maxRecasts) return actsOfRecasts(found);
  }
  return actsOfRecasts(reads.recasts(before, max));
}

/** Returns recasts in the order of time, newest first. */
function actsOfRecasts(recasts: readonly RecastRow[]): ActRow[] {
  return recasts.map(actOfRecast).sort((a, b) => b.timestamp - a.timestamp);
}

function actOfRecast({ fid, timestamp, targetFid, targetId, isLive }: RecastRow): ActRow {
  const recast = { fid, targetFid, targetId, type: RECAST };
  return { timestamp, castId: targetId, recast, isLive: isLive === 1 };
}

/**
 * Returns the acts without those that a later recast of the same cast hides. Within one second, the recast with the greater
 * hash is later.
 */
function withoutHidden(db: IndexDatabase, acts: ActRow[], { hidden, ties }: LaterRecasts): ActRow[] {
  if (ties.length > 0) {
    const hashes = hashesOfReactions(
      db,
      ties.map(({ recast }) => recast),
    );
    const tied = [...new Set(ties.map(({ act }) => act))];
    const ownHashes = hashesOfActs(db, tied);
    const ownHashOf = new Map(tied.map((act, at) => [act, ownHashes[at] ?? "0x"]));
    ties.forEach(({ act }, at) => {
      if ((hashes[at] ?? "0x") > (ownHashOf.get(act) ?? "0x")) hidden.add(act);
    });
  }
  return hidden.size === 0 ? acts : acts.filter((act) => !hidden.has(act));
}

/** Acts that later recasts hide. */
interface LaterRecasts {
  /** Acts whose cast was recasted in a later second. */
  readonly hidden: Set<ActRow>;
  /** Other recasts of an act's cast in the same second, among which the hashes decide. */
  readonly ties: { readonly act: ActRow; readonly recast: ReactionKey }[];
}

function recastsAmong(acts: readonly ActRow[], recasts: readonly ActRow[]): LaterRecasts {
  const later: LaterRecasts = { hidden: new Set(), ties: [] };
  const recastsOf = Map.groupBy(recasts, ({ castId }) => castId);
  for (const act of acts) {
    const ofCast = recastsOf.get(act.castId);
    if (ofCast === undefined) continue;
    for (const { timestamp, recast } of ofCast) {
      if (timestamp > act.timestamp) later.hidden.add(act);
      else if (timestamp === act.timestamp && recast && recast.fid !== act.recast?.fid)
        later.ties.push({ act, recast });
    }
  }
  return later;
}

function storedRecasts(reads: AuthorReads, acts: readonly ActRow[]): LaterRecasts {
  const unsure = reads.recastedSince(jsonOf(acts)).flatMap(({ at }) => acts[at] ?? []);
  if (unsure.length === 0) return { hidden: new Set(), ties: [] };
  const actsJson = jsonOf(unsure);
  return {
    hidden: new Set(reads.recastedLater(actsJson).flatMap(({ at }) => unsure[at] ?? [])),
    ties: reads.recastedInSameSecond(actsJson).flatMap(({ at, ...recast }) => {
      const act = unsure[at];
      return act ? [{ act, recast }] : [];
    }),
  };
}

function jsonOf(acts: readonly ActRow[]): string {
  return JSON.stringify(acts.map(({ castId, timestamp, recast }) => [castId, timestamp, recast?.fid ?? 0]));
}
