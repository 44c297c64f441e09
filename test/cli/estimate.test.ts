import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { writeRecords } from "../../src/import/write-records.ts";
import { accountRecords } from "../support/node.ts";
import { makeChain } from "../support/upstream/chain.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { UpstreamServer } from "../support/upstream/server.ts";
import { emptyDir, run } from "./run.ts";

const TICKS = 60;
const node = new UpstreamNode(makeChain("estimate command", TICKS));
const server = new UpstreamServer(node);

beforeAll(async () => {
  node.produce(TICKS);
  await server.start();
});
afterAll(() => server.stop());

test("import --estimate prints size and time, and creates no data directory", async () => {
  using dir = emptyDir();
  await writeRecords(`${dir.path}/records`, accountRecords(1));
  const ended = await run(["--data-dir", `${dir.path}/data`, "import", "--estimate", `${dir.path}/records`]);
  expect(ended.errors).toBe("");
  expect(ended.out).toContain("0 messages of 1 fids, estimated from the whole file");
  expect(ended.exitCode).toBe(0);
  expect(existsSync(`${dir.path}/data`)).toBe(false);
});

test("upstream estimate prints the numbers of the followed fids as JSON", async () => {
  using dir = emptyDir();
  const follow = ["--set", `upstream.url=${server.url}`, "--data-dir", dir.path];
  const { out, exitCode, errors } = await run([...follow, "upstream", "estimate", "--json"]);
  expect(errors).toBe("");
  expect(exitCode).toBe(0);
  const { db } = node.chain.reference;
  const { n } =
    db.sqlite.query<{ n: number }, []>("SELECT sum(used) AS n FROM store_counts WHERE store < 100").get() ??
    {};
  const estimate = JSON.parse(out);
  expect(estimate.fids).toBe(estimate.sampledFids);
  // Proofs of names are not read.
  expect(estimate.messages).toBeGreaterThan(0);
  expect(estimate.messages).toBeLessThanOrEqual(n ?? 0);
  expect(estimate.bytesWhileFilling).toBeGreaterThan(estimate.bytes);
  // The responses of the followed node bound the time: one fid after another, each with at least 13 calls.
  const alone = await run([...follow, "--set", "upstream.concurrency=1", "upstream", "estimate", "--json"]);
  const { fids, callMs, callSeconds, seconds } = JSON.parse(alone.out);
  expect(callMs).toBeGreaterThan(0);
  expect(callSeconds).toBeGreaterThanOrEqual((13 * fids * callMs) / 1000 - 1e-6);
  expect(seconds).toBeGreaterThanOrEqual(callSeconds);
  const { out: text } = await run([...follow, "--set", "upstream.concurrency=1", "upstream", "estimate"]);
  expect(text).toMatch(
    /^calls: 13 for each fid .* ms each, with upstream\.concurrency = 1: .*\ds of that time$/m,
  );
});
