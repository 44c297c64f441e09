import type { ChainHead } from "../../../db/index/upstream-work.ts";
import { toUnixSecs } from "../../../protocol/time.ts";
import { SignedChunk } from "../../../protocol/wire/generated/certificate.ts";
import type { UpstreamClient } from "../../calls/client.ts";
import { PeerError } from "../../calls/peer.ts";
import type { ChainVerifier } from "../../chain/chain-verifier.ts";
import type { StageDeps } from "../../stage.ts";
import { Backoff } from "../../timings.ts";
import { isUnserved, NoSnapshotError } from "./page-calls.ts";

/** A snapshot of a data shard's state. */
export interface Snapshot {
  readonly shard: number;
  readonly height: number;
  /** Number of its keys, as its node reports. */
  readonly keys: number;
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
  let newest: { readonly height: number; readonly keys: number; readonly chunk: SignedChunk } | undefined;
  for (const { height, timestamp, keys, chunk } of await client.snapshots(shard)) {
    const isRecent = nowSecs - toUnixSecs(timestamp) <= MAX_SNAPSHOT_AGE_SECS;
    if (isRecent && height > (newest?.height ?? 0))
      newest = { height, keys, chunk: chunk ?? SignedChunk.create() };
  }
  if (!newest) return undefined;
  const head = await chain.snapshotBlock(shard, newest.chunk);
  const isOfBlock =
    !head || (head.height === newest.height && nowSecs - toUnixSecs(head.timestamp) <= MAX_SNAPSHOT_AGE_SECS);
  return isOfBlock ? { shard, height: newest.height, keys: newest.keys, head } : undefined;
}

/** Number of checks for a snapshot: a node that restarts has none until its next block. */
const LOOKS_FOR_A_SNAPSHOT = 20;
/** Maximum growth between two snapshots of a shard. */
const MAX_GROWTH = 1.1;
const MAX_MORE_KEYS = 1000;
/** Size of the smallest record with its position in the trie. */
const LEAST_BYTES_OF_KEY = 50;

/**
 * The snapshots of a node that are being read.
 *
 * @param options.left the share of them that is not in the spool.
 */
export function createSnapshots(
  deps: Pick<
    StageDeps,
    "client" | "chain" | "rules" | "positions" | "shards" | "timings" | "signal" | "onFault" | "roomBytes"
  >,
  { left }: { readonly left: number },
) {
  const { client, rules, positions, shards, timings, signal, onFault, roomBytes } = deps;
  const heights = new Map<number, number>();
  const announced = new Map<number, number>();
  const received = new Map<number, number>();
  // The journal starts after the first snapshot.
  const current = (shard: number) => heights.getOrInsertComputed(shard, () => positions.start(shard) - 1);

  async function announces(shard: number, keys: number): Promise<void> {
    announced.set(shard, Math.max(announced.get(shard) ?? 0, keys));
    const total = [...announced.values()].reduce((sum, one) => sum + one, 0);
    const room = await roomBytes();
    if (total * left * LEAST_BYTES_OF_KEY > room)
      throw new PeerError(
        `its snapshots have ${total.toLocaleString("en")} records, for which the index has no room (${Math.floor(room / 1e9)} GB)`,
      );
  }

  return {
    /**
     * Reads how many keys they have. A node announces how much it will send, so that made-up data cannot exceed that.
     *
     * @throws PeerError if there is no room for them.
     */
    async announce(): Promise<void> {
      for (let shard = 1; shard <= shards; shard++) {
        const listed = await client.snapshots(shard).catch((cause) => {
          // The first page reports the same.
          if (isUnserved(cause)) return [];
          throw cause;
        });
        await announces(shard, Math.max(0, ...listed.map(({ keys }) => keys)));
      }
    },
    /** See `PartDeps`. */
    mayHave(shard: number, keys: number): boolean {
      const sum = (received.get(shard) ?? 0) + keys;
      received.set(shard, sum);
      return sum <= (announced.get(shard) ?? 0) * MAX_GROWTH + MAX_MORE_KEYS;
    },
    /** Returns the height of a shard's newest snapshot being read. */
    current,
    /**
     * Returns the height of a newer snapshot than one that was deleted.
     *
     * @throws NoSnapshotError if there is none for a long time.
     */
    async after(shard: number, deletedHeight: number): Promise<number> {
      const backoff = new Backoff(timings);
      for (let looks = 0; looks < LOOKS_FOR_A_SNAPSHOT; looks++) {
        if (current(shard) > deletedHeight) return current(shard);
        const newest = await newestSnapshot({ ...deps, nowSecs: rules.nowUnixSecs }, shard).catch((cause) => {
          if (signal.aborted) throw cause;
          onFault(`the snapshots of shard ${shard} could not be listed`, cause);
        });
        if (newest && newest.height > deletedHeight) {
          heights.set(shard, newest.height);
          await announces(shard, newest.keys);
        } else await backoff.wait(signal);
        signal.throwIfAborted();
      }
      throw new NoSnapshotError(`shard ${shard} has no snapshot after ${deletedHeight}`);
    },
  };
}
