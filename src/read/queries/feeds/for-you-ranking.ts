import { timestampOfCastId } from "../../../db/index/cast-id.ts";
import { ActKind, type ActSnapshot } from "./act-snapshot.ts";

const HOUR_SECS = 3600;
/** Indexed by `ActKind`. */
const KIND_WEIGHTS: readonly number[] = [1, 1, 2, 3, 3];
const ACT_HALF_LIFE_SECS = 12 * HOUR_SECS;
const CAST_HALF_LIFE_SECS = 24 * HOUR_SECS;
/** Number of casts with the highest values from which the list is made. */
export const MAX_CANDIDATES = 1_000;
const MAX_LISTED = 300;
const AUTHOR_FACTOR = 0.5;
const CHANNEL_FACTOR = 0.7;
/** Number of a channel's casts in the list after which further ones count less. */
const FULL_CHANNEL_CASTS = 3;
/** Maximum number of casts by one author among any `AUTHOR_SPAN` consecutive ones. */
const MAX_OF_AUTHOR = 3;
const AUTHOR_SPAN = 50;
const MAX_REASON_FIDS = 3;

/** The accounts that a viewer trusts, as actors of a snapshot. The viewer follows the first `followed` of them. */
export interface Trusted {
  readonly actors: Uint32Array;
  /** In the same order. */
  readonly weights: Float64Array;
  readonly followed: number;
}

/** A cast of a snapshot, by its number. */
export interface Candidate {
  readonly cast: number;
  readonly value: number;
}

type ActKindNumber = (typeof ActKind)[keyof typeof ActKind];

/** Why a cast is in the list: what trusted accounts did with it. */
export interface Reason {
  readonly kind: ActKindNumber;
  /** Accounts whose acts count most, at most three. */
  readonly fids: readonly number[];
  /** Number of all such accounts. */
  readonly count: number;
  /** Whether the viewer follows all of `fids`. */
  readonly isFollowed: boolean;
}

/**
 * Yields the strongest act of each trusted actor on each cast. The value of a cast is their sum, weighted by its age.
 * Authors' acts on their own casts do not count, except for casting.
 */
function* strongestActs(
  snapshot: ActSnapshot,
  { actors, weights }: Trusted,
): Generator<{ cast: number; place: number; kind: ActKindNumber; value: number }> {
  const { generation, offsets, actCasts, actKinds, actTimes, actorFids, castFids } = snapshot;
  for (const [place, actor] of actors.entries()) {
    const weight = weights[place] ?? 0;
    const strongest = new Map<number, { kind: ActKindNumber; value: number }>();
    for (let at = offsets[actor] ?? 0; at < (offsets[actor + 1] ?? 0); at++) {
      const cast = actCasts[at] ?? 0;
      const kind = (actKinds[at] ?? 0) as ActKindNumber;
      if (kind !== ActKind.Cast && castFids[cast] === actorFids[actor]) continue;
      const age = Math.max(0, generation - (actTimes[at] ?? 0));
      const value = weight * (KIND_WEIGHTS[kind] ?? 0) * 2 ** (-age / ACT_HALF_LIFE_SECS);
      if (value > (strongest.get(cast)?.value ?? 0)) strongest.set(cast, { kind, value });
    }
    for (const [cast, { kind, value }] of strongest) yield { cast, place, kind, value };
  }
}

/**
 * Returns the casts on which trusted accounts acted, highest value first, then by hash.
 *
 * @param viewerFid the viewer, whose own casts do not count.
 */
export function valuedCasts(snapshot: ActSnapshot, trusted: Trusted, viewerFid: number): Candidate[] {
  const { generation, castIds, castFids, castHashes } = snapshot;
  const sums = new Map<number, number>();
  for (const { cast, value } of strongestActs(snapshot, trusted)) {
    if (castFids[cast] !== viewerFid) sums.set(cast, (sums.get(cast) ?? 0) + value);
  }
  const valued = [...sums].map(([cast, sum]) => {
    const age = Math.max(0, generation - timestampOfCastId(castIds[cast] ?? 0));
    return { cast, value: sum * 2 ** (-age / CAST_HALF_LIFE_SECS) };
  });
  const hash = (cast: number) => castHashes[cast] ?? 0;
  return valued
    .sort((a, b) => b.value - a.value || hash(a.cast) - hash(b.cast) || a.cast - b.cast)
    .slice(0, MAX_CANDIDATES);
}

/**
 * Orders candidates so that no author or channel dominates the list. Each position takes the cast with the highest value,
 * halved for each earlier cast by its author, and multiplied by 0.7 for each cast of its channel after the third. Any 50
 * consecutive casts contain at most three by one author.
 *
 * @param candidates highest value first.
 */
export function diversified(snapshot: ActSnapshot, candidates: readonly Candidate[]): number[] {
  const { castFids, castUrls } = snapshot;
  const listed: number[] = [];
  const ofAuthor = new Map<number, number>();
  const ofChannel = new Map<number, number>();
  const left = new Set(candidates);
  const factorOf = ({ cast }: Candidate): number => {
    const channel = ofChannel.get(castUrls[cast] ?? 0) ?? 0;
    return (
      AUTHOR_FACTOR ** (ofAuthor.get(castFids[cast] ?? 0) ?? 0) *
      CHANNEL_FACTOR ** Math.max(0, channel - FULL_CHANNEL_CASTS + 1)
    );
  };
  const isFull = (author: number) =>
    listed.slice(1 - AUTHOR_SPAN).filter((cast) => castFids[cast] === author).length >= MAX_OF_AUTHOR;
  while (listed.length < MAX_LISTED) {
    const full = new Map<number, boolean>();
    let best: Candidate | undefined;
    let greatest = 0;
    for (const candidate of left) {
      // No later candidate can be greater, because factors are at most 1.
      if (candidate.value <= greatest) break;
      const value = candidate.value * factorOf(candidate);
      if (value <= greatest) continue;
      const author = castFids[candidate.cast] ?? 0;
      if ((ofAuthor.get(author) ?? 0) >= MAX_OF_AUTHOR) {
        if (!full.has(author)) full.set(author, isFull(author));
        if (full.get(author)) continue;
      }
      best = candidate;
      greatest = value;
    }
    if (!best) break;
    const { cast } = best;
    left.delete(best);
    listed.push(cast);
    const author = castFids[cast] ?? 0;
    const url = castUrls[cast] ?? 0;
    ofAuthor.set(author, (ofAuthor.get(author) ?? 0) + 1);
    if (url !== 0) ofChannel.set(url, (ofChannel.get(url) ?? 0) + 1);
  }
  return listed;
}

/** The order in which one of two equally strong kinds is preferred. */
const KIND_ORDER = [ActKind.Recast, ActKind.Reply, ActKind.Quote, ActKind.Like, ActKind.Cast] as const;

/** Returns why casts are in the list. */
export function reasonsFor(
  snapshot: ActSnapshot,
  trusted: Trusted,
  casts: ReadonlySet<number>,
): ReadonlyMap<number, Reason> {
  const actsOf = new Map<number, { place: number; kind: ActKindNumber; value: number }[]>();
  for (const { cast, ...act } of strongestActs(snapshot, trusted)) {
    if (!casts.has(cast)) continue;
    const acts = actsOf.get(cast);
    if (acts) acts.push(act);
    else actsOf.set(cast, [act]);
  }
  const reasons = new Map<number, Reason>();
  for (const [cast, acts] of actsOf) {
    const sums = KIND_ORDER.map((kind) => {
      const own = acts.filter((act) => act.kind === kind);
      return { kind, own, sum: own.reduce((sum, { value }) => sum + value, 0) };
    });
    const strongest = sums.reduce((best, one) => (one.sum > best.sum ? one : best));
    const fidOf = (place: number) => snapshot.actorFids[trusted.actors[place] ?? 0] ?? 0;
    const shown = strongest.own
      .toSorted((a, b) => b.value - a.value || fidOf(a.place) - fidOf(b.place))
      .slice(0, MAX_REASON_FIDS);
    reasons.set(cast, {
      kind: strongest.kind,
      fids: shown.map(({ place }) => fidOf(place)),
      count: strongest.own.length,
      isFollowed: shown.every(({ place }) => place < trusted.followed),
    });
  }
  return reasons;
}
