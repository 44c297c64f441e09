import { virtualShardOf } from "../../../trust/trie-key.ts";
import { shardCount } from "../../calls/check-peer.ts";
import type { UpstreamClient } from "../../calls/client.ts";
import { listFids } from "../../calls/pages.ts";

/** The fids of data shards by virtual shard. They are listed when a page first needs them. */
export type ListedFids = ReturnType<typeof createListedFids>;

export function createListedFids(client: Pick<UpstreamClient, "info" | "fids">) {
  const shards = new Map<number, Promise<ReadonlyMap<number, number[]>>>();
  async function list(shard: number): Promise<ReadonlyMap<number, number[]>> {
    const info = await client.info();
    shardCount(info);
    const expected = info.shardInfos.find(({ shardId }) => shardId === shard)?.numFidRegistrations ?? 0;
    const fids = new Map<number, number[]>();
    await listFids(
      (token) => client.fids(shard, token),
      expected,
      async (page) => {
        for (const fid of page) fids.getOrInsertComputed(virtualShardOf(fid), () => []).push(fid);
      },
    );
    for (const list of fids.values()) list.sort((a, b) => a - b);
    return fids;
  }
  return {
    /** Returns the fids of a virtual shard whose home is the data shard. */
    async of(shard: number, virtualShard: number): Promise<readonly number[]> {
      const listed = shards.getOrInsertComputed(shard, () => list(shard));
      // A list that failed is read again.
      listed.catch(() => shards.delete(shard));
      return (await listed).get(virtualShard) ?? [];
    },
  };
}
