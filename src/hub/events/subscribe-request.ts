import { BinaryReader } from "@bufbuild/protobuf/wire";
import { err, ok, type Result } from "../../lib/result.ts";
import { HubEventType } from "../../protocol/wire/generated/hub.ts";
import type { HubEventRow } from "../../read/hub/hub-event.ts";
import { invalidParam, type Refusal } from "../../read/hub/refusal.ts";

/** A request to subscribe, as sent by clients of the reference node and of the retired hub. */
export interface SubscribeRequest {
  readonly types: ReadonlySet<number>;
  /** Undefined to start with the events from now on. */
  readonly fromId: number | undefined;
  /** Only sent by clients of the retired hub. */
  readonly totalShards: number | undefined;
  readonly shardIndex: number | undefined;
}

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const MAX_TYPES = 64;
const UNREADABLE = invalidParam("request cannot be decoded");

/** Decodes a request. The types may be packed or not. Unknown fields are ignored. */
export function readSubscribeRequest(encoded: Uint8Array): Result<SubscribeRequest, Refusal> {
  const types = new Set<number>();
  const numbers = new Map<number, number>();
  try {
    const reader = new BinaryReader(encoded);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field === 1 && wireType === LENGTH_DELIMITED) {
        for (const packed = new BinaryReader(reader.bytes()); packed.pos < packed.len; )
          types.add(packed.int32());
      } else if (field === 1 && wireType === VARINT) types.add(reader.int32());
      else if (field >= 2 && field <= 4 && wireType === VARINT)
        numbers.set(field, Math.min(Number(reader.uint64()), Number.MAX_SAFE_INTEGER));
      else reader.skip(wireType, field);
      if (types.size > MAX_TYPES) return UNREADABLE;
    }
  } catch {
    return UNREADABLE;
  }
  return ok({ types, fromId: numbers.get(2), totalShards: numbers.get(3), shardIndex: numbers.get(4) });
}

const MAX_PARTS = 64;

/** Returns the part of the fids that a client of the retired hub requests; undefined for all. */
export function partOf({
  totalShards,
  shardIndex = 0,
}: SubscribeRequest): Result<{ readonly index: number; readonly count: number } | undefined, Refusal> {
  if (totalShards === undefined || totalShards === 0) return ok(undefined);
  if (totalShards > MAX_PARTS)
    return err({ code: "bad_request.invalid_param", reason: `total_shards is at most ${MAX_PARTS}` });
  if (shardIndex >= totalShards) return invalidParam("shard_index must be less than total_shards");
  return ok({ index: shardIndex, count: totalShards });
}

/** Which events a subscriber gets. */
export interface EventFilter {
  /** Empty for all types. */
  readonly types: ReadonlySet<number>;
  readonly shards: readonly number[];
  /** The smallest id, in each shard. */
  readonly fromId: number;
  /** The part of the fids for a client of the retired hub, which divides them among several streams. */
  readonly part: { readonly index: number; readonly count: number } | undefined;
}

/** Events that concern all fids are sent to the first part. */
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
 * Returns the bucket of a key, from 0 to below `buckets`, using the jump consistent hash of Lamping and Veach ("A Fast,
 * Minimal Memory, Consistent Hash Algorithm", 2014).
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
