import type { StateDatabase } from "../database.ts";

/** Runs work inside a transaction that it shares with others; settles once that is committed. */
export type GroupCommit = <T>(work: () => T) => Promise<T>;

interface Waiting {
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Every commit is synced to the disk, which costs more than most work in it, so decisions that come up in the same
 * turn of the event loop share one.
 */
export function createGroupCommit(db: StateDatabase): GroupCommit {
  let waiting: Waiting[] = [];

  function commit(): void {
    const group = waiting;
    waiting = [];
    let results: unknown[];
    try {
      results = db.transaction(() => group.map(({ work }) => work()));
    } catch {
      // All of it was rolled back. One by one, only the one at fault fails.
      for (const { work, resolve, reject } of group) {
        try {
          resolve(db.transaction(work));
        } catch (cause) {
          reject(cause);
        }
      }
      return;
    }
    for (const [at, { resolve }] of group.entries()) resolve(results[at]);
  }

  return <T>(work: () => T) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
      if (waiting.length === 1) setImmediate(commit);
    });
}
