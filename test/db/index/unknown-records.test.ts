import { expect, test } from "bun:test";
import { openIndexInMemory } from "../../../src/db/index/database.ts";
import { keepUnknown, unknownAfter, unknownCounts } from "../../../src/db/index/unknown-records.ts";

const record = (number: number, bytes: number) => ({
  kind: "message" as const,
  number,
  shard: 0,
  block: 1,
  position: number,
  bytes: new Uint8Array(bytes).fill(number),
});

test("records of an unknown kind are kept and counted by their number", () => {
  using db = openIndexInMemory();
  for (const number of [30, 30, 31]) keepUnknown(db, record(number, 10), 1000);
  expect(unknownCounts(db)).toEqual([
    { kind: "message", number: 30, seen: 2, dropped: 0, lastAt: 1000 },
    { kind: "message", number: 31, seen: 1, dropped: 0, lastAt: 1000 },
  ]);
  expect(unknownAfter(db, 0, 10).map(({ number, bytes }) => [number, bytes.length])).toEqual([
    [30, 10],
    [30, 10],
    [31, 10],
  ]);
});

test("above the bound the oldest records go, and the count says so", () => {
  using db = openIndexInMemory();
  for (const number of [30, 31, 32]) keepUnknown(db, record(number, 40), 1000, 100);
  expect(unknownAfter(db, 0, 10).map(({ number }) => number)).toEqual([31, 32]);
  expect(unknownCounts(db).map(({ number, seen, dropped }) => [number, seen, dropped])).toEqual([
    [30, 1, 1],
    [31, 1, 0],
    [32, 1, 0],
  ]);
});

test("a record that is larger than the bound is counted and not kept", () => {
  using db = openIndexInMemory();
  keepUnknown(db, record(30, 101), 1000, 100);
  expect(unknownAfter(db, 0, 10)).toEqual([]);
  expect(unknownCounts(db)).toMatchObject([{ number: 30, seen: 1, dropped: 1 }]);
});

test("kinds that an upstream invents are counted together once there are many", () => {
  using db = openIndexInMemory();
  for (let number = 100; number < 700; number++) keepUnknown(db, record(number, 1), 1000);
  const counts = unknownCounts(db);
  expect(counts).toHaveLength(257);
  expect(counts.find(({ number }) => number === -1)?.seen).toBe(600 - 256);
});
