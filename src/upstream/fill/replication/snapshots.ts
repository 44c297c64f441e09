import type { ChainHead } from "../../../db/index/upstream-work.ts";
import { toUnixSecs } from "../../../protocol/time.ts";
import { SignedChunk } from "../../../protocol/wire/generated/certificate.ts";
import type { UpstreamClient } from "../../calls/client.ts";
import type { ChainVerifier } from "../../chain/chain-verifier.ts";

/** A snapshot of a data shard's state. */
export interface Snapshot {
  readonly shard: number;
  readonly height: number;
  /** The block after which it was made; undefined if nothing is verified. */
  readonly head: ChainHead | undefined;
}

/** Nodes drop a snapshot after a day. An older one would hide what was deleted since. */
export const MAX_SNAPSHOT_AGE_SECS = 26 * 3600;

export interface SnapshotDeps {
  readonly client: Pick<UpstreamClient, "snapshots">;
  readonly chain: Pick<ChainVerifier, "snapshotBlock">;
  /** Unix seconds. */
  readonly nowSecs: number;
}

/**
 * Returns the newest snapshot of a data shard, whose block the validators have signed; undefined if the node has none.
 *
 * @throws RefusedBlockError if its block is not one of the network's.
 */
export async function newestSnapshot(
  { client, chain, nowSecs }: SnapshotDeps,
  shard: number,
): Promise<Snapshot | undefined> {
  let newest: { readonly height: number; readonly chunk: SignedChunk } | undefined;
  for (const { height, timestamp, chunk } of await client.snapshots(shard)) {
    const isRecent = nowSecs - toUnixSecs(timestamp) <= MAX_SNAPSHOT_AGE_SECS;
    if (isRecent && height > (newest?.height ?? 0)) newest = { height, chunk: chunk ?? SignedChunk.create() };
  }
  if (!newest) return undefined;
  const head = await chain.snapshotBlock(shard, newest.chunk);
  const isOfBlock =
    !head || (head.height === newest.height && nowSecs - toUnixSecs(head.timestamp) <= MAX_SNAPSHOT_AGE_SECS);
  return isOfBlock ? { shard, height: newest.height, head } : undefined;
}
