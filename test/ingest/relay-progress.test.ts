import { expect, test } from "bun:test";
import { shardCount } from "../../src/db/index/counts/totals.ts";
import { opsWithBlocks, writeProgress } from "../../src/ingest/relay-progress.ts";
import type { SingleOp } from "../../src/ingest/relayed-op.ts";
import { accountRecords, startTestNode } from "../support/node.ts";
import { cast } from "../support/records.ts";

const op = (fid: number): SingleOp => ({ kind: "fidComplete", fid, happenedAt: 0 });

test("each operation of a batch has the block that it is of, also beside blocks without operations", () => {
  const part = (number: number, ops: number) => ({ number, ops, time: 0 });
  const parts = [part(5, 0), part(6, 2), part(7, 0), part(8, 1), part(9, 0)];
  const blocks = { shard: 1, first: 5, last: 9, parts, isJournal: false };
  const numbered = [...opsWithBlocks({ ops: [op(1), op(2), op(3)], blocks })];
  expect(numbered).toEqual([
    [op(1), { shard: 1, number: 6 }],
    [op(2), { shard: 1, number: 6 }],
    [op(3), { shard: 1, number: 8 }],
  ]);
});

test("operations of no block have none", () => {
  expect([...opsWithBlocks({ ops: [op(1)] })]).toEqual([[op(1), undefined]]);
});

test("an index without messages takes the number of shards of what it follows, one with messages keeps its own", () => {
  using node = startTestNode();
  const of = (shards: number) => {
    node.db.transaction(() => writeProgress(node.db, { ops: [], positions: [], shards }, 0));
    return shardCount(node.db);
  };
  expect([shardCount(node.db), of(2), of(3)]).toEqual([1, 2, 3]);
  node.ingestAll([...accountRecords(1), cast(1, "first")]);
  expect(of(2)).toBe(3);
});
