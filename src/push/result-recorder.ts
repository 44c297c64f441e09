import type { TokenResult } from "./store/notification-ledger.ts";

/** Limit of results in one write. */
const MAX_RESULTS = 1000;

interface Group {
  readonly results: TokenResult[];
  readonly stored: Promise<void>;
}

/** Stores results of tokens of one client host. Resolves when they are committed. */
export type RecordResults = (host: string, results: readonly TokenResult[]) => Promise<void>;

/**
 * Returns a function that stores results with `write`, one write of a host at a time. Results that arrive meanwhile share
 * the next one: a write costs about the same for one batch as for several. A write that fails fails all batches in it.
 */
export function createResultRecorder(write: RecordResults): RecordResults {
  /** The next write of each host, which more results can join. */
  const waiting = new Map<string, Group>();
  /** The last write of each host. */
  const last = new Map<string, Promise<unknown>>();

  return (host, results) => {
    const open = waiting.get(host);
    if (open && open.results.length + results.length <= MAX_RESULTS) {
      open.results.push(...results);
      return open.stored;
    }
    const own = [...results];
    const store = () => {
      if (waiting.get(host) === group) waiting.delete(host);
      return write(host, own);
    };
    const previous = last.get(host);
    const stored = previous ? previous.then(store) : Promise.resolve().then(store);
    const group: Group = { results: own, stored };
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
