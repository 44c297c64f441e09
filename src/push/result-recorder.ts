import type { BatchResults } from "./store/notification-ledger.ts";

/** Limit of batches in one write. */
const MAX_BATCHES = 10;

interface Group {
  readonly batches: BatchResults[];
  readonly stored: Promise<void>;
}

/** Stores the results of a batch of one client host. Resolves when they are committed. */
export type RecordResults = (host: string, results: BatchResults) => Promise<void>;

/**
 * Returns a function that stores results with `write`, one write of a host at a time. Results that arrive meanwhile share
 * the next one: a write costs about the same for one batch as for several. A write that fails fails all batches in it.
 */
export function createResultRecorder(
  write: (host: string, batches: readonly BatchResults[]) => Promise<void>,
): RecordResults {
  /** The next write of each host, which more results can join. */
  const waiting = new Map<string, Group>();
  /** The last write of each host. */
  const last = new Map<string, Promise<unknown>>();

  return (host, results) => {
    const open = waiting.get(host);
    if (open && open.batches.length < MAX_BATCHES) {
      open.batches.push(results);
      return open.stored;
    }
    const batches = [results];
    const store = () => {
      if (waiting.get(host) === group) waiting.delete(host);
      return write(host, batches);
    };
    const previous = last.get(host);
    const stored = previous ? previous.then(store) : Promise.resolve().then(store);
    const group: Group = { batches, stored };
    waiting.set(host, group);
    const ended = stored
      .catch(() => undefined)
      .then(() => {
        if (last.get(host) === ended) last.delete(host);
      });
    last.set(host, ended);
    return stored;
  };
}
