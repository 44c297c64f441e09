import { expect, test } from "bun:test";
import { BucketTable } from "../../src/admission/bucket-table.ts";

let nowMs = 5_000;
const table = (buckets = 64) => new BucketTable(buckets, () => nowMs);
const limit = { perMinute: 60, burst: 10 };

test("a bucket starts full, empties, and refills with time", () => {
  const buckets = table();
  for (let left = 9; left >= 0; left -= 1) {
    expect(buckets.take("a", 1, limit)).toEqual({
      isAdmitted: true,
      left,
      fullInSecs: 10 - left,
      retryInSecs: 0,
    });
  }
  expect(buckets.take("a", 1, limit)).toEqual({ isAdmitted: false, left: 0, fullInSecs: 10, retryInSecs: 1 });
  expect(buckets.take("a", 4, limit).retryInSecs).toBe(4);
  expect(buckets.take("b", 10, limit).isAdmitted).toBe(true);
  nowMs += 4_000;
  expect(buckets.take("a", 4, limit)).toMatchObject({ isAdmitted: true, left: 0 });
  nowMs += 3_600_000;
  expect(buckets.take("a", 1, limit)).toMatchObject({ isAdmitted: true, left: 9, fullInSecs: 1 });
});

test("a request for more than the bucket holds waits for a full bucket, then passes", () => {
  const buckets = table();
  expect(buckets.take("a", 200, limit)).toMatchObject({ isAdmitted: true, left: 0 });
  expect(buckets.take("a", 200, limit)).toMatchObject({ isAdmitted: false, retryInSecs: 10 });
  nowMs += 10_000;
  expect(buckets.take("a", 200, limit).isAdmitted).toBe(true);
});

test("a charge may overdraw the bucket, by one bucket at most", () => {
  const buckets = table();
  buckets.charge("a", 4, limit);
  expect(buckets.take("a", 6, limit)).toMatchObject({ isAdmitted: true, left: 0, fullInSecs: 10 });
  buckets.charge("a", 3, limit);
  expect(buckets.take("a", 1, limit)).toEqual({ isAdmitted: false, left: 0, fullInSecs: 13, retryInSecs: 4 });
  buckets.charge("a", 100, limit);
  expect(buckets.take("a", 1, limit)).toMatchObject({ fullInSecs: 20, retryInSecs: 11 });
  nowMs += 20_000;
  buckets.charge("a", 1, limit);
  expect(buckets.take("a", 1, limit)).toMatchObject({ isAdmitted: true, left: 8 });
});

test("many small charges to a fast bucket add up to its size, within a thousandth", () => {
  const buckets = table();
  const fast = { perMinute: 60_000_000, burst: 20_000 };
  let admitted = 0;
  while (buckets.take("a", 1, fast).isAdmitted) admitted += 1;
  expect(Math.abs(admitted - 20_000)).toBeLessThanOrEqual(20);
});

test("with more names than buckets the idlest is evicted, and one in use stays exact", () => {
  const buckets = table(64);
  let admitted = 0;
  for (let n = 0; n < 2_000; n += 1) {
    if (buckets.take("busy", 1, { perMinute: 60, burst: 300 }).isAdmitted) admitted += 1;
    buckets.take(`other ${n}`, 1, limit);
  }
  expect(admitted).toBe(300);
  expect(buckets.shared.byteLength).toBe(16 + 64 * 16);
});

test("a name that takes over another's bucket starts full and does not inherit its debt", () => {
  // All names of a table of eight are in one set.
  const buckets = table(8);
  for (let n = 0; n < 8; n += 1) expect(buckets.take(`in debt ${n}`, 10, limit).left).toBe(0);
  expect(buckets.take("new", 10, limit)).toMatchObject({ isAdmitted: true, left: 0, fullInSecs: 10 });
  expect(buckets.take("new", 1, limit)).toMatchObject({ isAdmitted: false, retryInSecs: 1 });
});

test("a name whose bucket was taken over gets a new, full one", () => {
  const buckets = table(8);
  // Found once, so that its place is remembered.
  for (const left of [9, 8]) expect(buckets.take("first", 1, limit).left).toBe(left);
  for (let n = 0; n < 8; n += 1) buckets.take(`in debt ${n}`, 10, limit);
  expect(buckets.take("first", 10, limit)).toMatchObject({ isAdmitted: true, left: 0 });
});

test("threads that charge one bucket at once never admit more than it holds", async () => {
  const shared = new BucketTable(64).shared;
  const code = `
    import { BucketTable } from ${JSON.stringify(Bun.resolveSync("../../src/admission/bucket-table.ts", import.meta.dir))};
    self.onmessage = ({ data }) => {
      const buckets = new BucketTable(data);
      let admitted = 0;
      for (let n = 0; n < 1000; n += 1) if (buckets.take("a", 1, { perMinute: 1, burst: 1200 }).isAdmitted) admitted += 1;
      postMessage(admitted);
    };`;
  const url = URL.createObjectURL(new Blob([code], { type: "application/typescript" }));
  const workers = Array.from({ length: 4 }, () => new Worker(url));
  const admitted = await Promise.all(
    workers.map(
      (worker) =>
        new Promise<number>((resolve, reject) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = reject;
          worker.postMessage(shared);
        }),
    ),
  );
  for (const worker of workers) worker.terminate();
  expect(admitted.reduce((sum, n) => sum + n, 0)).toBe(1200);
});
