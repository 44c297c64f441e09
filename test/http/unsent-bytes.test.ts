import { expect, test } from "bun:test";
import { Reservation, UnsentBytes } from "../../src/http/unsent-bytes.ts";

test("the budget is shared by all users of its memory and never exceeded", () => {
  const here = new UnsentBytes(undefined, 100);
  const there = new UnsentBytes(here.shared, 100);
  expect(here.reserve(60)).toBe(true);
  expect(there.isHalfUsed).toBe(true);
  expect(there.reserve(41)).toBe(false);
  expect(there.usedBytes).toBe(60);
  expect(there.reserve(40)).toBe(true);
  expect(here.reserve(1)).toBe(false);
  here.release(60);
  expect([here.usedBytes, here.isHalfUsed]).toEqual([40, false]);
});

test("workers that reserve and release concurrently leave nothing reserved", async () => {
  const budget = new UnsentBytes(undefined, 1000);
  const url = new URL("./unsent-bytes-worker.ts", import.meta.url);
  const workers = Array.from({ length: 4 }, () => new Worker(url));
  const granted = await Promise.all(
    workers.map(
      (worker) =>
        new Promise<number>((resolve) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.postMessage(budget.shared);
        }),
    ),
  );
  for (const worker of workers) worker.terminate();
  expect(Math.min(...granted)).toBeGreaterThan(0);
  expect(budget.usedBytes).toBe(0);
});

test("a reservation releases exactly its bytes, once", () => {
  const budget = new UnsentBytes(undefined, 100);
  const reservation = new Reservation(budget);
  expect(reservation.grow(30)).toBe(true);
  expect(reservation.grow(50)).toBe(true);
  expect(reservation.grow(30)).toBe(false);
  reservation.shrinkTo(90);
  expect(budget.usedBytes).toBe(80);
  reservation.shrinkTo(10);
  expect(budget.usedBytes).toBe(10);
  reservation.end();
  reservation.end();
  expect([budget.usedBytes, reservation.grow(1)]).toEqual([0, false]);
});
