import { setImmediate } from "node:timers/promises";
import type { IndexDatabase } from "../db/index/database.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { HydrationCache } from "./hydrate/cache.ts";
import type { CastRef, Hash } from "./hydrate/casts.ts";
import { type Hydration, type HydrationRequest, hydrate } from "./hydrate/hydrate.ts";
import type { PreviewSource } from "./hydrate/previews.ts";
import type { OwnerRules } from "./hydrate/relations.ts";
import type { Presenters } from "./present/presenters.ts";

/** Dependencies of reads in every dialect: connection, clock, and the settings that limit or shape responses. */
export interface ReadSource {
  readonly db: IndexDatabase;
  /** Object states that earlier reads of this connection loaded. */
  readonly cache: HydrationCache;
  readonly clock: Clock;
  /** Maximum length of the list of ids in a request. */
  readonly maxIds: number;
  /** The window, in seconds, that groups reactions to one cast, or follows, into one notification. */
  readonly notificationWindowSecs: number;
  /** Whether the words of casts are indexed. */
  readonly fullText: boolean;
  /** The private lists of the owner of the request's API key, if there are any. */
  readonly owner?: OwnerRules | undefined;
  /** Looks up the previews of embedded URLs; undefined while they are off. */
  readonly previews?: PreviewSource | undefined;
  /** Whether the dialect shows the relations of authors to the channels of their casts. Default: no. */
  readonly withAuthorRelations?: boolean;
  /** Whether the dialect leaves out casts by hidden accounts where others quote them. Default: no. */
  readonly withoutHiddenQuotes?: boolean;
}

/** The dependencies of the reads of one dialect. */
export interface Reads extends ReadSource {
  /** The presenters of the dialect of the prefix. */
  readonly present: Presenters;
}

/**
 * Runs a read on one snapshot of the index. `skeleton` finds ids and their order. `requestOf` names the objects to hydrate,
 * which a few statements load. `present` builds the result from them without reading the database again.
 */
export function runQuery<Skeleton, Result>(
  reads: ReadSource,
  skeleton: (db: IndexDatabase) => Skeleton,
  requestOf: (skeleton: Skeleton) => HydrationRequest,
  present: (skeleton: Skeleton, hydration: Hydration) => Result,
): Result {
  const {
    db,
    cache,
    clock,
    owner,
    previews,
    withAuthorRelations = false,
    withoutHiddenQuotes = false,
  } = reads;
  const read = () => {
    const found = skeleton(db);
    const request = { ...requestOf(found), owner, previews, withAuthorRelations, withoutHiddenQuotes };
    return { found, hydration: hydrate(db, request, nowSecs(clock), cache) };
  };
  // Most reads do not follow a commit. A read that finds all objects in the cache then runs no statement.
  let result = cache.isCurrent() ? db.snapshot(read) : undefined;
  if (!result || !cache.isCurrent()) {
    result = db.snapshot(() => {
      cache.sync(db);
      return read();
    });
  }
  return present(result.found, result.hydration);
}

/** Number of casts hydrated together: a page of a feed, which takes a few milliseconds. */
const SLICE_CASTS = 50;

/**
 * Time in milliseconds after which the event loop runs other work. Yielding after every slice would cost more than most
 * slices.
 */
const MAX_TURN_MS = 5;

/** Casts in the order of `castsOf`, one slice at a time; undefined for a cast that was deleted. */
export type CastSlices<Shown> = AsyncIterable<readonly (Shown | undefined)[]>;

/** The skeleton with its casts. */
interface SlicedCasts<Found, Shown> {
  readonly found: Found;
  readonly slices: CastSlices<Shown>;
  /** The first cast. */
  readonly first: Shown | undefined;
}

/**
 * Reads many casts in slices, so that their hydration does not delay other requests and they are never all in memory at
 * once. The skeleton and the first slice are from one snapshot. Each further slice is from a later snapshot, opened when the
 * consumer requests the slice: a snapshot over all slices would last as long as the slowest client and would prevent the
 * write-ahead log from being reset. A cast that is deleted in between is omitted.
 */
export function readCastsInSlices<Found, Shown>(
  reads: ReadSource,
  {
    find,
    castsOf,
    viewerFid,
    present,
  }: {
    readonly find: (db: IndexDatabase) => Found;
    readonly castsOf: (found: Found) => readonly CastRef[];
    readonly viewerFid?: number | undefined;
    readonly present: (hash: Hash, hydration: Hydration) => Shown | undefined;
  },
): SlicedCasts<Found, Shown> {
  const sliceOf = (casts: readonly CastRef[], slice: number) =>
    casts.slice(slice * SLICE_CASTS, (slice + 1) * SLICE_CASTS);
  const requestOf = (casts: readonly CastRef[]) => ({ castIds: casts.map(({ id }) => id), viewerFid });
  const presentAll = (casts: readonly CastRef[], hydration: Hydration) =>
    casts.map(({ id }) => {
      const cast = hydration.castsById.get(id);
      return cast && present(cast.hash, hydration);
    });
  const { found, casts, firstSlice } = runQuery(
    reads,
    (db) => {
      const found = find(db);
      return { found, casts: castsOf(found) };
    },
    ({ casts }) => requestOf(sliceOf(casts, 0)),
    ({ found, casts }, hydration) => ({
      found,
      casts,
      firstSlice: presentAll(sliceOf(casts, 0), hydration),
    }),
  );
  async function* slices() {
    let turnAtMs = performance.now();
    yield firstSlice;
    for (let slice = 1; slice * SLICE_CASTS < casts.length; slice++) {
      if (performance.now() - turnAtMs > MAX_TURN_MS) {
        await setImmediate();
        turnAtMs = performance.now();
      }
      const next = sliceOf(casts, slice);
      yield runQuery(reads, () => next, requestOf, presentAll);
    }
  }
  return { found, slices: slices(), first: firstSlice[0] };
}
