import { expect, test } from "bun:test";
import { shardOfFid } from "../../../src/protocol/network/shard.ts";

const FIDS = Array.from({ length: 200 }, (_, n) => n + 1);

test("every fid belongs to one of the data shards, which are numbered from 1 and all used", () => {
  for (const shards of [1, 2, 3])
    expect([...new Set(FIDS.map((fid) => shardOfFid(fid, shards)))].sort()).toEqual(
      Array.from({ length: shards }, (_, n) => n + 1),
    );
});

test("the network truncates an fid to 32 bits before it chooses the shard", () => {
  for (const fid of FIDS) expect(shardOfFid(fid + 2 ** 32, 3)).toBe(shardOfFid(fid, 3));
});
