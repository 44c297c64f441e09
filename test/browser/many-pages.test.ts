import { afterAll, beforeAll, describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { startDemoNode } from "../support/demo-node.ts";
import { IS_LONG } from "../support/long.ts";
import { type RunningNode, tempDir } from "../support/program.ts";
import { consoleTest } from "./support/console-test.ts";
import { examplePages } from "./support/example-paths.ts";
import { settled } from "./support/page.ts";
import { HAS_BROWSER } from "./support/shared.ts";

/** What many open pages cost the node that serves them. Opening them takes a minute, so the suite has no tenth of it. */

const PAGES = 50;
const MEASURED_MS = 20_000;
const READS_AT_ONCE = 2;
/** As a share of what the node has once all pages are open. */
const MAX_GROWTH = 0.15;
/** The browser, the node and the reads share the processors of this machine, so this finds only what is far too slow. */
const MAX_SLOWER = 10;
const READS = [
  "/v2/svc/user?fid=3",
  "/v2/svc/feed/user/casts?fid=3&limit=25",
  "/v2/svc/feed/trending?limit=25",
];

const dir = tempDir();
let node: RunningNode;
beforeAll(async () => {
  if (!HAS_BROWSER || !IS_LONG) return;
  const args = ["--set", "http.workers=2", "--set", "stream.max_connections_per_ip=1000"];
  node = await startDemoNode({ dataDir: join(dir.path, "data"), args });
}, 60_000);
afterAll(async () => {
  if (HAS_BROWSER && IS_LONG) await node[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

const rssMb = () =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${node.pid}/status`, "utf8"))?.[1]) / 1024;

/** Reads for a while. Returns how many were answered and the times of the slowest, in ms. */
async function read() {
  const times: number[] = [];
  const endsAt = performance.now() + MEASURED_MS;
  const one = async () => {
    for (let n = 0; performance.now() < endsAt; n++) {
      const startedAt = performance.now();
      const response = await fetch(node.url + READS[n % READS.length]);
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`a read was answered with ${response.status}`);
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, one));
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { reads: times.length, p50Ms: at(0.5), p99Ms: at(0.99) };
}

const hide = (page: Page) =>
  page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });

describe.skipIf(!IS_LONG || process.platform !== "linux")("check 35: many open pages", () => {
  consoleTest(
    `${PAGES} of all views leave reads answered, memory flat, and ask nothing once hidden`,
    async (open) => {
      const examples = await examplePages(node.url);
      const without = await read();
      let asked: string[] = [];
      const opened: Page[] = [];
      // All views of the explorer, the stream, the status and the first page: those of an owner ask for a wallet.
      const paths = examples.map(({ path }) => path).filter((path) => !path.includes("/manage/"));
      for (let n = 0; n < PAGES; n++) {
        // Each with connections of its own: a browser opens six to one address.
        const { page, goto } = await open({ origin: node.url, trustedTypes: false, expects: [/console/] });
        await goto(paths[n % paths.length] ?? "");
        await settled(page);
        page.on("request", (request) => asked.push(new URL(request.url()).pathname));
        opened.push(page);
      }
      const rssAtStartMb = rssMb();
      asked = [];
      const beside = await read();
      const requests = asked.length;
      const rssAtEndMb = rssMb();
      for (const page of opened) await hide(page);
      // What was under way ends.
      await Bun.sleep(500);
      asked = [];
      const hidden = await read();
      console.info(
        `${PAGES} pages: ${JSON.stringify({ without, beside, hidden, requests, rssAtStartMb, rssAtEndMb })}`,
      );
      expect(requests).toBeGreaterThan(0);
      expect(asked).toEqual([]);
      expect(beside.p99Ms).toBeLessThan(Math.max(without.p99Ms * MAX_SLOWER, 100));
      expect(rssAtEndMb).toBeLessThan(rssAtStartMb * (1 + MAX_GROWTH) + 20);
    },
  );
});
