import type { SideFile } from "../../db/side/side-file.ts";
import { MAX_RANKED, type MiniApp, rankedApps, sharersOf, type TimeWindow } from "./catalog-store.ts";

/**
 * The catalog changes only every ten minutes, and parsing a thousand manifests per request would cost more than everything else in it.
 */
const KEPT_MS = 10_000;
/** Number of an app's newest sharers that are compared with the users that a viewer follows. */
const MAX_COMPARED = 500;

type Listed = MiniApp & { readonly rank: number };

/** Reads the catalog for the requests of a thread, and caches it for a few seconds. */
export function createCatalogReads({
  file,
  nowMs,
}: {
  readonly file: SideFile;
  /** Monotonic. */
  readonly nowMs: () => number;
}) {
  const lists = new Map<TimeWindow, readonly Listed[]>();
  const sharers = new Map<string, readonly number[]>();
  let readAtMs = Number.NEGATIVE_INFINITY;

  function forgetOld(): void {
    if (nowMs() - readAtMs < KEPT_MS) return;
    readAtMs = nowMs();
    lists.clear();
    sharers.clear();
  }

  function listOf(timeWindow: TimeWindow): readonly Listed[] {
    forgetOld();
    const known = lists.get(timeWindow);
    if (known) return known;
    const read = file.read((db) => rankedApps(db, { timeWindow, after: 0, limit: MAX_RANKED }));
    const list = read.ok ? read.value.map(({ rank, app }) => ({ rank, ...app })) : [];
    lists.set(timeWindow, list);
    return list;
  }

  return {
    ranked: ({ timeWindow, after, limit }: { timeWindow: TimeWindow; after: number; limit: number }) =>
      listOf(timeWindow)
        .filter(({ rank }) => rank > after)
        .slice(0, limit),

    sharersOf(domain: string): readonly number[] {
      forgetOld();
      const known = sharers.get(domain);
      if (known) return known;
      const read = file.read((db) => sharersOf(db, domain));
      const all = read.ok ? read.value.toSorted((a, b) => b.at - a.at) : [];
      const fids = all.slice(0, MAX_COMPARED).map(({ fid }) => fid);
      sharers.set(domain, fids);
      return fids;
    },
  };
}
