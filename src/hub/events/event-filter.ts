import { HubEventType } from "../../protocol/wire/generated/hub.ts";
import type { HubEventRow } from "../../read/hub/hub-event.ts";

/** Which events a subscriber gets. */
export interface EventFilter {
  /** Empty for all types. */
  readonly types: ReadonlySet<number>;
  readonly shards: readonly number[];
  /** Least id, in each shard. */
  readonly fromId: number;
  /** The part of the fids of a client of the retired hub, which divides them among several streams. */
  readonly part: { readonly index: number; readonly count: number } | undefined;
}

/** Events about all fids go to the first part. */
const UNDIVIDED: ReadonlySet<HubEventType> = new Set([
  HubEventType.HUB_EVENT_TYPE_MERGE_USERNAME_PROOF,
  HubEventType.HUB_EVENT_TYPE_MERGE_ON_CHAIN_EVENT,
  HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED,
]);

export function matchesFilter(filter: EventFilter, { shard, id, type, fid }: HubEventRow): boolean {
  const { types, shards, fromId, part } = filter;
  if (types.size > 0 && !types.has(type)) return false;
  if (id < fromId || !shards.includes(shard)) return false;
  if (!part) return true;
  return (UNDIVIDED.has(type) ? 0 : jumpHash(fid, part.count)) === part.index;
}

const MULTIPLIER = 2_862_933_555_777_941_757n;

/**
 * The jump consistent hash of Lamping and Veach ("A Fast, Minimal Memory, Consistent Hash Algorithm", 2014): the bucket of a key,
 * from 0 to below `buckets`.
 */
export function jumpHash(key: number, buckets: number): number {
  let state = BigInt(key);
  let bucket = -1;
  let next = 0;
  while (next < buckets) {
    bucket = next;
    state = BigInt.asUintN(64, state * MULTIPLIER + 1n);
    next = Math.floor((bucket + 1) * (2 ** 31 / Number((state >> 33n) + 1n)));
  }
  return bucket;
}
