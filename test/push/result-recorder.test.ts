import { expect, test } from "bun:test";
import { createResultRecorder } from "../../src/push/result-recorder.ts";
import type { BatchResults } from "../../src/push/store/notification-ledger.ts";

const results = (fid: number): BatchResults => ({
  tokens: [{ fid, clientFid: 1 }],
  outcomes: [{ kind: "success", reason: "", isRetryable: false }],
});

/** A recorder whose writes the test finishes. */
function startRecorder() {
  const writes: { readonly write: string; readonly end: PromiseWithResolvers<void> }[] = [];
  const record = createResultRecorder((host, written) => {
    const end = Promise.withResolvers<void>();
    const fids = written.flatMap(({ tokens }) => tokens.map(({ fid }) => fid));
    writes.push({ write: `${host}: ${fids.join(" ")}`, end });
    return end.promise;
  });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { record, writes, settled, written: () => writes.map(({ write }) => write) };
}

test("writes at once, and results that arrive during a write of their host share the next one", async () => {
  const { record, writes, settled, written } = startRecorder();
  const stored: number[] = [];
  const add = (host: string, fid: number) => void record(host, results(fid)).then(() => stored.push(fid));
  add("a", 1);
  await settled();
  for (const fid of [2, 3]) add("a", fid);
  add("b", 4);
  await settled();
  expect(written()).toEqual(["a: 1", "b: 4"]);
  writes[0]?.end.resolve();
  await settled();
  expect([written().at(-1), stored]).toEqual(["a: 2 3", [1]]);
  add("a", 5);
  writes[2]?.end.resolve();
  await settled();
  expect([written().at(-1), stored]).toEqual(["a: 5", [1, 2, 3]]);
});

test("a failed write fails its batches and not the next write", async () => {
  const { record, writes, settled } = startRecorder();
  const outcomes = Promise.allSettled([1, 2].map((fid) => record("a", results(fid))));
  await settled();
  const next = record("a", results(3));
  writes[0]?.end.reject(new Error("no disk"));
  expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await settled();
  writes[1]?.end.resolve();
  expect(await next).toBeUndefined();
});

test("limits the batches of one write", async () => {
  const { record, writes, settled, written } = startRecorder();
  const batches = Array.from({ length: 12 }, (_, at) => record("a", results(at)));
  await settled();
  writes[0]?.end.resolve();
  await settled();
  writes[1]?.end.resolve();
  await Promise.all(batches);
  expect(written()).toEqual(["a: 0 1 2 3 4 5 6 7 8 9", "a: 10 11"]);
});
