import type { IndexDatabase } from "../db/index/database.ts";
import type { UpstreamClient } from "./client.ts";
import { compareFid, type FidDifferences, inBoth } from "./compare-fid.ts";
import { listFids } from "./pages.ts";
import { UpstreamPositions } from "./positions.ts";
import { registeredFidsAfter } from "./stored.ts";

/** Dependencies and settings of a comparison. */
export interface ComparisonDeps {
  readonly client: UpstreamClient;
  /** Another process may be writing to this index. */
  readonly db: IndexDatabase;
  /** Fids that are compared concurrently. */
  readonly concurrency: number;
  /** Waits for the index to follow for a while before differing fids are compared again. */
  readonly settle: () => Promise<void>;
}

export interface ComparisonReport {
  /** Number of compared fids. */
  readonly compared: number;
  /** The fids that differ, in order. */
  readonly differences: readonly FidDifferences[];
  readonly shards: readonly {
    readonly shard: number;
    readonly appliedBlock: number;
    readonly headBlock: number;
  }[];
}

const ROUNDS = 3;
const FIDS_PER_PAGE = 10_000;

/**
 * Compares fids with the upstream. Both sides change meanwhile, so fids that differ are compared again, and only what
 * differs in every round is reported.
 *
 * @throws the errors of the calls.
 */
export async function compareFids(
  comparison: ComparisonDeps,
  fids: readonly number[],
): Promise<ComparisonReport> {
  let differences = await compareAll(comparison, fids);
  for (let round = 1; round < ROUNDS && differences.length > 0; round += 1) {
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

/** Compares a few fids at a time. Returns those that differ. */
async function compareAll(comparison: ComparisonDeps, fids: readonly number[]): Promise<FidDifferences[]> {
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

/** Returns every fid that the upstream lists or the index has registered. */
export async function knownFids({ client, db }: Pick<ComparisonDeps, "client" | "db">): Promise<number[]> {
  const fids = await upstreamFids(client);
  for (let page = registeredFidsAfter(db, 0, FIDS_PER_PAGE); page.length > 0; ) {
    for (const fid of page) fids.add(fid);
    page = registeredFidsAfter(db, page.at(-1) ?? 0, FIDS_PER_PAGE);
  }
  return [...fids];
}

/** Returns every fid that the upstream lists. */
export async function upstreamFids(client: UpstreamClient): Promise<Set<number>> {
  const fids = new Set<number>();
  for (const { shardId, numFidRegistrations } of (await client.info()).shardInfos) {
    if (shardId === 0) continue;
    await listFids(
      (token) => client.fids(shardId, token),
      numFidRegistrations,
      async (page) => {
        for (const fid of page) fids.add(fid);
      },
    );
  }
  return fids;
}

/**
 * Returns a random sample of `size` of the fids, all equally likely.
 *
 * @param random returns 0 to 1, like `Math.random`.
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

async function shardsOf({ client, db }: ComparisonDeps): Promise<ComparisonReport["shards"]> {
  const { shardInfos } = await client.info();
  const positions = new UpstreamPositions(db);
  return shardInfos.map(({ shardId, maxHeight }) => ({
    shard: shardId,
    appliedBlock: positions.applied(shardId) ?? 0,
    headBlock: maxHeight,
  }));
}
