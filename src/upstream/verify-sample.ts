import type { IndexDatabase } from "../db/index/database.ts";
import type { UpstreamClient } from "./client.ts";
import { compareFid, type FidDifferences, inBoth } from "./compare-fid.ts";
import { walkFids } from "./pages.ts";
import { UpstreamPositions } from "./positions.ts";
import { registeredFidsAfter } from "./stored.ts";

/** What a comparison works with. */
export interface Comparison {
  readonly client: UpstreamClient;
  /** May be of an index that another process writes to. */
  readonly db: IndexDatabase;
  /** Fids that are compared at a time. */
  readonly concurrency: number;
  /** Lets the index follow for a while before what differed is looked at again. */
  readonly settle: () => Promise<void>;
}

export interface ComparisonReport {
  /** Fids that were compared. */
  readonly compared: number;
  /** Those that differ, by fid. */
  readonly differences: readonly FidDifferences[];
  readonly shards: readonly {
    readonly shard: number;
    readonly appliedBlock: number;
    readonly headBlock: number;
  }[];
}

const LOOKS = 3;
const FIDS_PER_PAGE = 10_000;

/**
 * Compares fids with the upstream. Both sides go on meanwhile, so what differs is looked at again, and only what differs
 * each time is a difference.
 *
 * @throws what the calls throw.
 */
export async function compareFids(
  comparison: Comparison,
  fids: readonly number[],
): Promise<ComparisonReport> {
  let differences = await compareAll(comparison, fids);
  for (let look = 1; look < LOOKS && differences.length > 0; look += 1) {
    await comparison.settle();
    const before = new Map(differences.map((one) => [one.fid, one]));
    const again = await compareAll(comparison, [...before.keys()]);
    differences = again
      .map((one) => inBoth(before.get(one.fid) ?? one, one))
      .filter(({ missing, extra }) => missing.length + extra.length > 0);
  }
  return {
    compared: fids.length,
    differences: differences.toSorted((a, b) => a.fid - b.fid),
    shards: await shardsOf(comparison),
  };
}

/** Compares a few fids at a time; answers those that differ. */
async function compareAll(comparison: Comparison, fids: readonly number[]): Promise<FidDifferences[]> {
  const left = [...fids];
  const found: FidDifferences[] = [];
  const work = async () => {
    for (let fid = left.pop(); fid !== undefined; fid = left.pop()) {
      const one = await compareFid(comparison, fid);
      if (one.missing.length + one.extra.length > 0) found.push(one);
    }
  };
  await Promise.all(Array.from({ length: Math.min(comparison.concurrency, fids.length) }, work));
  return found;
}

/** Every fid that the upstream lists or the index holds. */
export async function knownFids({ client, db }: Pick<Comparison, "client" | "db">): Promise<number[]> {
  const fids = new Set<number>();
  for (const { shardId, numFidRegistrations } of (await client.info()).shardInfos) {
    if (shardId === 0) continue;
    await walkFids(
      (token) => client.fids(shardId, token),
      numFidRegistrations,
      async (page) => {
        for (const fid of page) fids.add(fid);
      },
    );
  }
  for (let page = registeredFidsAfter(db, 0, FIDS_PER_PAGE); page.length > 0; ) {
    for (const fid of page) fids.add(fid);
    page = registeredFidsAfter(db, page.at(-1) ?? 0, FIDS_PER_PAGE);
  }
  return [...fids];
}

/**
 * As many of `fids` as are asked for, each as likely as any other.
 *
 * @param random 0 to 1, as `Math.random` gives it.
 */
export function sampleOf(fids: readonly number[], size: number, random: () => number): number[] {
  const drawn = [...fids];
  const count = Math.min(size, drawn.length);
  for (let at = 0; at < count; at += 1) {
    const other = at + Math.floor(random() * (drawn.length - at));
    [drawn[at], drawn[other]] = [drawn[other] as number, drawn[at] as number];
  }
  return drawn.slice(0, count);
}

async function shardsOf({ client, db }: Comparison): Promise<ComparisonReport["shards"]> {
  const { shardInfos } = await client.info();
  const positions = new UpstreamPositions(db);
  return shardInfos.map(({ shardId, maxHeight }) => ({
    shard: shardId,
    appliedBlock: positions.applied(shardId) ?? 0,
    headBlock: maxHeight,
  }));
}
