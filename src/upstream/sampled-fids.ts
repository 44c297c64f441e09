import { OnChainEventType } from "../protocol/wire/generated/on-chain.ts";
import type { UpstreamClient } from "./client.ts";
import { sampleOf, upstreamFids } from "./verify-sample.ts";

/** How many fids there are, and a random sample of them. */
export interface SampledFids {
  readonly count: number;
  readonly sample: readonly number[];
}

/** Up to so many fids are listed, a page of 1000 at a time. */
const MAX_LISTED = 20_000;
/** Draws for each fid of the sample. The registry numbers fids from 1 on, over all shards. */
const DRAWS = 10;
/** Draws that are asked for at a time. */
const CONCURRENCY = 8;

/**
 * Samples the fids of the followed node. A large network is not listed, which takes over a thousand calls: the node counts its registrations,
 * and numbers up to its highest fid are drawn until enough of them are registered.
 *
 * @throws the errors of the calls; Error for a node that counts fids and has none of those that were drawn.
 */
export async function sampleFids(
  client: UpstreamClient,
  size: number,
  { random = Math.random, maxListed = MAX_LISTED }: { random?: () => number; maxListed?: number } = {},
): Promise<SampledFids> {
  const shards = (await client.info()).shardInfos.filter(({ shardId }) => shardId !== 0);
  const count = shards.reduce((sum, { numFidRegistrations }) => sum + numFidRegistrations, 0);
  if (count <= maxListed) {
    const fids = await upstreamFids(client);
    return { count: fids.size, sample: sampleOf([...fids], size, random) };
  }
  const highest = await Promise.all(shards.map(({ shardId }) => client.highestFids(shardId)));
  const sample = await drawRegistered(client, size, Math.max(0, ...highest.flat()), random);
  if (sample.length === 0) throw new Error(`the upstream counts ${count} fids, and has none of those drawn`);
  return { count, sample };
}

async function drawRegistered(
  client: UpstreamClient,
  size: number,
  highest: number,
  random: () => number,
): Promise<number[]> {
  const drawn = new Set<number>();
  const registered: number[] = [];
  let draws = size * DRAWS;
  const work = async () => {
    while (registered.length < size && draws-- > 0) {
      const fid = 1 + Math.floor(random() * highest);
      if (drawn.has(fid)) continue;
      drawn.add(fid);
      const events = await client.onChainEvents(fid, OnChainEventType.EVENT_TYPE_ID_REGISTER);
      if (events.length > 0 && registered.length < size) registered.push(fid);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return registered;
}
