import { setImmediate } from "node:timers/promises";
import type { IndexDatabase } from "../db/index/database.ts";
import type { Hash } from "./hydrate/casts.ts";
import type { Hydration } from "./hydrate/hydrate.ts";
import { type ReadSource, runQuery } from "./run-query.ts";

/** Casts that are hydrated together: a page of a feed, which takes some milliseconds. */
const SLICE_CASTS = 50;

/** Others get their turn after so long. To yield after each slice costs more than most slices. */
const MAX_TURN_MS = 5;

/** Casts in the order of `hashesOf`, a slice at a time; undefined stands for a cast that is gone. */
export type CastSlices<Shown> = AsyncIterable<readonly (Shown | undefined)[]>;

/** What the skeleton found, and its casts. */
interface SlicedCasts<Found, Shown> {
  readonly found: Found;
  readonly slices: CastSlices<Shown>;
  /** The first of all. */
  readonly first: Shown | undefined;
}

/**
 * Answers a read of many casts in slices, so that neither their hydration holds up other requests nor all of them are in
 * memory together. The skeleton and the first slice are read on one snapshot, each further slice on a later one when it is
 * asked for: a snapshot over all of them would last as long as a slow reader likes, and keep the write-ahead log from being
 * reset. A cast that was deleted meanwhile is left out.
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
      const wanted = sliceOf(hashes, slice);
      yield runQuery(
        reads,
        () => wanted,
        () => ({ hashes: wanted, viewerFid }),
        presentAll,
      );
    }
  }
  return { found, slices: slices(), first: firstSlice[0] };
}
