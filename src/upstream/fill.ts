import type { IndexDatabase } from "../db/index/database.ts";
import { todoAfter } from "../db/index/upstream-work.ts";
import type { OpBatcher } from "./op-batcher.ts";
import { type FidReader, readFid } from "./read-fid.ts";
import { Backoff, type Timings } from "./timings.ts";

/** What working the list of fids off works with. */
export interface FillContext {
  readonly reader: Omit<FidReader, "emit">;
  readonly batcher: OpBatcher;
  readonly db: IndexDatabase;
  /** Fids that are read at a time, each with one call in flight. */
  readonly concurrency: number;
  readonly pace: Timings;
  readonly signal: AbortSignal;
  /** Told of a fault that is recovered from. */
  readonly onFault: (what: string, cause: unknown) => void;
}

const FIDS_PER_READ = 1000;
/** An fid that cannot be read so often in a row waits for the others. */
const TRIES_OF_A_FID = 3;

/**
 * Reads every fid on the list, those included that come onto it meanwhile; an fid leaves it in the transaction that
 * completes it. Resolves when the list is empty and everything is written.
 */
export async function runBackfill(context: FillContext): Promise<void> {
  const { db, batcher, concurrency, pace, signal } = context;
  const backoff = new Backoff(pace);
  for (;;) {
    const fids = todoFids(db);
    let failures = 0;
    const work = async () => {
      for (let next = fids.next(); !next.done && !signal.aborted; next = fids.next()) {
        if (!(await tryFid(context, next.value))) failures++;
      }
    };
    // All of them end before anything else does, also when one of them fails.
    for (const result of await Promise.allSettled(Array.from({ length: concurrency }, work)))
      if (result.status === "rejected") throw result.reason;
    await batcher.drained();
    if (signal.aborted || todoAfter(db, 0, 1).length === 0) return;
    if (failures > 0) await backoff.wait(signal);
  }
}

/** Number of fids that wait to be read. */
export function countTodo(db: IndexDatabase): number {
  let count = 0;
  for (const _ of todoFids(db)) count++;
  return count;
}

async function tryFid(
  { reader, batcher, pace, signal, onFault }: FillContext,
  fid: number,
): Promise<boolean> {
  const backoff = new Backoff(pace);
  for (let tries = 0; tries < TRIES_OF_A_FID && !signal.aborted; tries++) {
    if (tries > 0) await backoff.wait(signal);
    try {
      const isLastTry = tries === TRIES_OF_A_FID - 1;
      await readFid({ ...reader, emit: (ops, mentioned) => batcher.add(ops, mentioned) }, fid, isLastTry);
      return true;
    } catch (cause) {
      batcher.assertSound();
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
