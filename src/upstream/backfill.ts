import type { IndexDatabase } from "../db/index/database.ts";
import { todoAfter } from "../db/index/upstream-work.ts";
import type { FidOps } from "./op-batcher.ts";
import { type FidReaderDeps, readFid } from "./read-fid.ts";
import { Backoff, type Timings } from "./timings.ts";

/** Dependencies and settings of reading the fids of the todo list. */
export interface BackfillDeps {
  readonly reader: Omit<FidReaderDeps, "emit">;
  readonly batcher: FidOps;
  readonly db: IndexDatabase;
  /** Whether an fid of the list is left for later. Default: none. */
  readonly isLater?: (fid: number) => boolean;
  /** Fids that are read concurrently, each with one call in flight. */
  readonly concurrency: number;
  readonly timings: Timings;
  readonly signal: AbortSignal;
  /** Called for a fault that is retried. */
  readonly onFault: (what: string, cause: unknown) => void;
}

const FIDS_PER_READ = 1000;
/** After so many failures in a row, an fid waits until the others have been read. */
const TRIES_OF_A_FID = 3;

/**
 * Reads every fid of the todo list, including those that are added meanwhile. An fid is removed from the list in the
 * transaction that completes it. Resolves when the list is empty, but for fids that are left for later, and everything is written.
 */
export async function runBackfill(deps: BackfillDeps): Promise<void> {
  const { db, batcher, concurrency, timings, signal } = deps;
  const isNow = (fid: number) => !deps.isLater?.(fid) && !batcher.isLater?.(fid);
  const backoff = new Backoff(timings);
  for (;;) {
    const fids = todoFids(db).filter(isNow);
    let failures = 0;
    const work = async () => {
      for (let next = fids.next(); !next.done && !signal.aborted; next = fids.next()) {
        if (!(await tryFid(deps, next.value))) failures++;
      }
    };
    // Wait for all of them, also when one fails.
    for (const result of await Promise.allSettled(Array.from({ length: concurrency }, work)))
      if (result.status === "rejected") throw result.reason;
    await batcher.flush();
    if (signal.aborted || !todoFids(db).some(isNow)) return;
    if (failures > 0) await backoff.wait(signal);
  }
}

/** Returns the number of fids on the todo list. */
export function countTodo(db: IndexDatabase): number {
  let count = 0;
  for (const _ of todoFids(db)) count++;
  return count;
}

async function tryFid(
  { reader, batcher, timings, signal, onFault }: BackfillDeps,
  fid: number,
): Promise<boolean> {
  const backoff = new Backoff(timings);
  for (let tries = 0; tries < TRIES_OF_A_FID && !signal.aborted; tries++) {
    if (tries > 0) await backoff.wait(signal);
    try {
      const isLastTry = tries === TRIES_OF_A_FID - 1;
      await readFid({ ...reader, emit: batcher.ofFid(fid) }, fid, isLastTry);
      return true;
    } catch (cause) {
      batcher.throwIfFailed();
      // It stays on the list.
      if (batcher.isLater?.(fid)) return true;
      if (!signal.aborted) onFault(`fid ${fid} could not be read`, cause);
    }
  }
  return false;
}

function* todoFids(db: IndexDatabase): Generator<number> {
  for (let page = todoAfter(db, 0, FIDS_PER_READ); page.length > 0; ) {
    yield* page;
    page = todoAfter(db, page.at(-1) ?? 0, FIDS_PER_READ);
  }
}
