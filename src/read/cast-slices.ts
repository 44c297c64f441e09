import { setImmediate } from "node:timers/promises";
import type { IndexDatabase } from "../db/index/database.ts";
import type { Hash } from "./hydrate/casts.ts";
import type { Hydration } from "./hydrate/hydrate.ts";
import { type ReadSource, runQuery } from "./run-query.ts";

/** The number of casts that are hydrated together: a page of a feed, which takes a few milliseconds. */
const SLICE_CASTS = 50;

/** Time after which the event loop runs other work. Yielding after every slice costs more than most slices. */
const MAX_TURN_MS = 5;

/** Casts in the order of `hashesOf`, one slice at a time; undefined stands for a cast that was deleted. */
export type CastSlices<Shown> = AsyncIterable<readonly (Shown | undefined)[]>;

/** The skeleton and its casts. */
interface SlicedCasts<Found, Shown> {
  readonly found: Found;
  readonly slices: CastSlices<Shown>;
  /** The first cast. */
  readonly first: Shown | undefined;
}

/**
 * Reads many casts in slices, so that their hydration does not delay other requests and they are never in memory all at
 * once. The skeleton and the first slice come from one snapshot. Each further slice comes from a later snapshot, opened
 * when the consumer requests the slice: a snapshot over all slices would last as long as the slowest client and would
 * prevent the write-ahead log from being reset. A cast that is deleted in between is omitted.
 */
export function readCastsInSlices<Found, Shown>(
  reads: ReadSource,
  {
    find,
    hashesOf,
    viewerFid,
    present,
  }: {
    readonly find: (db: IndexDatabase) => Found;
    readonly hashesOf: (found: Found) => readonly Hash[];
    readonly viewerFid?: number | undefined;
    readonly present: (hash: Hash, hydration: Hydration) => Shown | undefined;
  },
): SlicedCasts<Found, Shown> {
  const sliceOf = (hashes: readonly Hash[], slice: number) =>
    hashes.slice(slice * SLICE_CASTS, (slice + 1) * SLICE_CASTS);
  const presentAll = (hashes: readonly Hash[], hydration: Hydration) =>
    hashes.map((hash) => present(hash, hydration));
  const { found, hashes, firstSlice } = runQuery(
    reads,
    (db) => {
      const found = find(db);
      return { found, hashes: hashesOf(found) };
    },
    ({ hashes }) => ({ hashes: sliceOf(hashes, 0), viewerFid }),
    ({ found, hashes }, hydration) => ({
      found,
      hashes,
      firstSlice: presentAll(sliceOf(hashes, 0), hydration),
    }),
  );
  async function* slices() {
    let turnAtMs = performance.now();
    yield firstSlice;
    for (let slice = 1; slice * SLICE_CASTS < hashes.length; slice++) {
      if (performance.now() - turnAtMs > MAX_TURN_MS) {
        await setImmediate();
        turnAtMs = performance.now();
      }
      const sliceHashes = sliceOf(hashes, slice);
      yield runQuery(
        reads,
        () => sliceHashes,
        () => ({ hashes: sliceHashes, viewerFid }),
        presentAll,
      );
    }
  }
  return { found, slices: slices(), first: firstSlice[0] };
}
