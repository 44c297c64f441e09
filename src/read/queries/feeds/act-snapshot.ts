import { setImmediate } from "node:timers/promises";
import { firstCastIdAt, timestampOfCastId } from "../../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";

/** Interval between snapshots in seconds. Snapshots are at multiples of it, on every node. */
export const GENERATION_SECS = 300;
/** Maximum age of casts and acts. */
const WINDOW_SECS = 48 * 3600;
/** Number of acts kept per actor, newest first. */
const ACTS_OF_ACTOR = 30;
/** Casts are read newest first, until there are this many acts, which take 52 MB. */
const MAX_ACTS = 4_000_000;
/** Casts per read, which takes a few milliseconds. */
const CASTS_PER_READ = 500;

/** What an account did with a cast. */
export const ActKind = { Cast: 0, Like: 1, Recast: 2, Reply: 3, Quote: 4 } as const;

/**
 * The acts of accounts on the parentless casts of the last two days before a time. Its arrays are in memory that all threads
 * share. There are arrays per cast, by its number, newest first; per actor, by fid; and for the acts of each actor, newest
 * first.
 */
export interface ActSnapshot {
  /** Unix seconds: a multiple of `GENERATION_SECS`. */
  readonly generation: number;
  readonly castIds: Float64Array;
  readonly castFids: Float64Array;
  /** Id of the parent URL; 0 for none. */
  readonly castUrls: Float64Array;
  /** The first six bytes of the hash. */
  readonly castHashes: Float64Array;
  readonly actorFids: Float64Array;
  /** Offset of the acts of each actor, with one more entry than there are actors. */
  readonly offsets: Uint32Array;
  readonly actCasts: Uint32Array;
  readonly actKinds: Uint8Array;
  /** Unix seconds. */
  readonly actTimes: Uint32Array;
}

/** Returns the newest generation that can exist at a time. */
export function generationAt(nowMs: number): number {
  return Math.floor(nowMs / 1000 / GENERATION_SECS) * GENERATION_SECS;
}

interface RootRow {
  readonly id: number;
  readonly fid: number;
  readonly urlId: number;
  readonly hash: Uint8Array;
}
interface ActRow {
  readonly castId: number;
  readonly fid: number;
  readonly kind: number;
  readonly at: number;
}

const rootsBelow = statement<RootRow, [below: number, from: number, limit: number]>(
  "for-you.roots",
  `SELECT id, fid, coalesce(parent_url_id, 0) AS urlId, hash FROM casts
   WHERE id < ? AND id >= ? AND parent_id IS NULL ORDER BY id DESC LIMIT ?`,
);
const reactionsOf = statement<ActRow, [idsJson: string, until: number]>(
  "for-you.reactions",
  `SELECT r.target_id AS castId, r.fid, iif(r.type = ${ReactionType.REACTION_TYPE_LIKE}, ${ActKind.Like}, ${ActKind.Recast}) AS kind,
     r.timestamp AS at
   FROM json_each(?1) j CROSS JOIN reactions r ON r.target_id = j.value
     AND r.type IN (${ReactionType.REACTION_TYPE_LIKE}, ${ReactionType.REACTION_TYPE_RECAST}) AND r.timestamp <= ?2`,
);
const repliesTo = statement<{ castId: number; fid: number; id: number }, [idsJson: string, below: number]>(
  "for-you.replies",
  `SELECT c.parent_id AS castId, c.fid, c.id FROM json_each(?1) j CROSS JOIN casts c ON c.parent_id = j.value AND c.id < ?2`,
);
const quotesOf = statement<{ castId: number; fid: number; id: number }, [idsJson: string, below: number]>(
  "for-you.quotes",
  `SELECT q.quoted_id AS castId, c.fid, c.id FROM json_each(?1) j
   CROSS JOIN cast_quotes q ON q.quoted_id = j.value AND q.cast_id < ?2 CROSS JOIN casts c ON c.id = q.cast_id`,
);

/** Builds the snapshot for a time. Other work of the thread gets a turn after each read. */
export async function buildActSnapshot(db: IndexDatabase, generation: number): Promise<ActSnapshot> {
  const end = firstCastIdAt(generation + 1);
  const start = firstCastIdAt(generation - WINDOW_SECS);
  const roots: RootRow[] = [];
  const byActor = new Map<number, Acts>();
  let acts = 0;
  for (let below = end; acts < MAX_ACTS; ) {
    const page = db.all(rootsBelow, below, start, CASTS_PER_READ);
    const numbers = new Map(page.map(({ id }, at) => [id, roots.length + at]));
    const json = JSON.stringify(page.map(({ id }) => id));
    const replies = db.all(repliesTo, json, end);
    const quotes = db.all(quotesOf, json, end);
    const found: ActRow[] = [
      ...page.map(({ id, fid }) => ({ castId: id, fid, kind: ActKind.Cast, at: timestampOfCastId(id) })),
      ...db.all(reactionsOf, json, generation),
      ...replies.map((row) => ({ ...row, kind: ActKind.Reply, at: timestampOfCastId(row.id) })),
      ...quotes.map((row) => ({ ...row, kind: ActKind.Quote, at: timestampOfCastId(row.id) })),
    ];
    for (const { castId, fid, kind, at } of found) {
      const cast = numbers.get(castId);
      if (cast === undefined) continue;
      const own = byActor.get(fid) ?? new Acts();
      if (!byActor.has(fid)) byActor.set(fid, own);
      own.add(cast, kind, at);
    }
    acts += found.length;
    for (const root of page) roots.push(root);
    const last = page.at(-1);
    if (last === undefined || page.length < CASTS_PER_READ) break;
    below = last.id;
    await setImmediate();
  }
  return layOut(generation, roots, byActor);
}

function layOut(
  generation: number,
  roots: readonly RootRow[],
  byActor: ReadonlyMap<number, Acts>,
): ActSnapshot {
  const actorFids = floats(byActor.size);
  actorFids.set([...byActor.keys()]);
  actorFids.sort();
  const newest = Array.from(actorFids, (fid) => byActor.get(fid)?.newest() ?? []);
  const acts = newest.reduce((sum, { length }) => sum + length, 0);
  const offsets = new Uint32Array(new SharedArrayBuffer(4 * (newest.length + 1)));
  const actCasts = new Uint32Array(new SharedArrayBuffer(4 * acts));
  const actTimes = new Uint32Array(new SharedArrayBuffer(4 * acts));
  const actKinds = new Uint8Array(new SharedArrayBuffer(acts));
  let at = 0;
  for (const [actor, own] of newest.entries()) {
    for (const act of own) {
      actCasts[at] = act.cast;
      actKinds[at] = act.kind;
      actTimes[at] = act.at;
      at += 1;
    }
    offsets[actor + 1] = at;
  }
  const castIds = floats(roots.length);
  const castFids = floats(roots.length);
  const castUrls = floats(roots.length);
  const castHashes = floats(roots.length);
  for (const [cast, { id, fid, urlId, hash }] of roots.entries()) {
    castIds[cast] = id;
    castFids[cast] = fid;
    castUrls[cast] = urlId;
    castHashes[cast] = Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).readUIntBE(0, 6);
  }
  return {
    generation,
    castIds,
    castFids,
    castUrls,
    castHashes,
    actorFids,
    offsets,
    actCasts,
    actKinds,
    actTimes,
  };
}

function floats(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(8 * length));
}

interface Act {
  readonly cast: number;
  readonly kind: number;
  readonly at: number;
}

/** The newest acts of an actor, while they are being collected. */
class Acts {
  #acts: Act[] = [];

  add(cast: number, kind: number, at: number): void {
    this.#acts.push({ cast, kind, at });
    if (this.#acts.length >= 4 * ACTS_OF_ACTOR) this.#acts = this.newest();
  }

  newest(): Act[] {
    return this.#acts
      .sort((a, b) => b.at - a.at || a.cast - b.cast || a.kind - b.kind)
      .slice(0, ACTS_OF_ACTOR);
  }
}

/** Returns the number of an actor in a snapshot; undefined if it has no acts. */
export function actorOf({ actorFids }: Pick<ActSnapshot, "actorFids">, fid: number): number | undefined {
  let low = 0;
  let high = actorFids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((actorFids[middle] ?? 0) < fid) low = middle + 1;
    else high = middle;
  }
  return actorFids[low] === fid ? low : undefined;
}
