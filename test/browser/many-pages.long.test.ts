import { afterAll, beforeAll, describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page, Request } from "playwright-core";
import { startDemoNode } from "../support/demo-node.ts";
import { IS_LONG } from "../support/long.ts";
import { type RunningNode, tempDir } from "../support/program.ts";
import { consoleTest } from "./support/console-test.ts";
import { becomeDemoPerson } from "./support/demo-person.ts";
import { examplePages } from "./support/example-paths.ts";
import { EVENT_STREAM, firstLoadOf } from "./support/first-loads.ts";
import { ownerPages } from "./support/owner-records.ts";
import { settled } from "./support/page.ts";
import type { FirstLoads, PageLoad, PageRequest } from "./support/page-load.ts";
import { type Slowdown, slowdownBeside } from "./support/reads-beside.ts";
import { HAS_BROWSER } from "./support/shared.ts";

/**
 * What open pages cost the node that serves them. The browser needs all processors of a small machine, so what its pages ask is recorded
 * first, and then sent by a cheap client beside the reads. Opening them takes a minute, so the suite has no tenth of it.
 */

const PAGES = 50;
const RECORDED_MS = 60_000;
/** Ten minutes of the pages, and as much without them. */
const TURNS = 60;
const TURN_SECS = 10;
const MAX_RATIO = 1.1;
const FIRST_LOADS_PER_SEC = 50;
const FIRST_LOAD_TURNS = 12;
/** As a share of what the node has once all pages are open. */
const MAX_GROWTH = 0.1;
const MAX_REQUESTS_PER_SEC = 0.2;
/** Without a response when a turn ends. */
const MAX_UNDER_WAY = 3;
/** Each has as many sessions as one fid may have. */
const OWNERS = [70, 71];
const SESSIONS_OF_OWNER = 18;

const dir = tempDir();
let node: RunningNode;
beforeAll(async () => {
  if (!HAS_BROWSER || !IS_LONG) return;
  const args = ["--set", "http.workers=1", "--set", "stream.max_connections_per_ip=1000"];
  node = await startDemoNode({ dataDir: join(dir.path, "data"), args });
}, 180_000);
afterAll(async () => {
  if (HAS_BROWSER && IS_LONG) await node[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

const rssMb = () =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${node.pid}/status`, "utf8"))?.[1]) / 1024;

const hide = (page: Page) =>
  page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });

/** The pages read their streams by `fetch`. */
const isStream = (request: Request) => request.headers().accept === EVENT_STREAM;

function asRecorded(request: Request, atMs: number): PageRequest {
  const { pathname, search } = new URL(request.url());
  const headers = request.headers();
  const fid = Number(headers["x-svc-fid"]);
  const signed = headers["x-svc-session"] ? { fid, op: headers["x-svc-op"] ?? "" } : undefined;
  // The browser adds the header of a document later.
  const accept = headers.accept ?? (request.resourceType() === "document" ? "text/html" : "*/*");
  return { atMs, path: pathname + search, accept, signed };
}

async function beside(load: PageLoad | FirstLoads, turns: number): Promise<Slowdown> {
  const file = join(dir.path, "load.json");
  await Bun.write(file, JSON.stringify(load));
  return slowdownBeside(node, { load: file, turns, turnSecs: TURN_SECS });
}

function expectAllAnswered({ reports }: Slowdown): void {
  for (const { sent, ok } of reports) expect(sent - ok).toBeLessThanOrEqual(MAX_UNDER_WAY);
}

const shown = ({ reports, ...figures }: Slowdown) => JSON.stringify({ ...figures, first: reports[0] });

describe.skipIf(!IS_LONG || process.platform !== "linux")("check 35: many open pages", () => {
  consoleTest(
    `${PAGES} of all views leave reads as fast, memory flat, and ask nothing once hidden`,
    async (open) => {
      const owned = await Promise.all(OWNERS.map((fid) => ownerPages(node.url, fid)));
      const all = (await examplePages(node.url)).filter(({ template }) => template !== "/console/manage");
      const sessionsOf = new Map<number, number>();
      const opened: { page: Page; template: string; requests: PageRequest[]; streams: Set<string> }[] = [];
      let recordedFrom = performance.now();
      for (let n = 0; n < PAGES; n++) {
        // Each with connections of its own: a browser opens six to one address.
        const one = await open({ origin: node.url, trustedTypes: false, expects: [/console/] });
        let { template, path } = all[n % all.length] ?? { template: "", path: "" };
        const owner = OWNERS.findIndex((fid) => (sessionsOf.get(fid) ?? 0) < SESSIONS_OF_OWNER);
        if (template.startsWith("/console/manage/") && owner >= 0) {
          const fid = OWNERS[owner] ?? 0;
          sessionsOf.set(fid, (sessionsOf.get(fid) ?? 0) + 1);
          await becomeDemoPerson(one, fid);
          path = owned[owner]?.find((own) => own.template === template)?.path ?? path;
        }
        await one.goto(path);
        await settled(one.page);
        const requests: PageRequest[] = [];
        const streams = new Set<string>();
        one.page.on("request", (request) => {
          const recorded = asRecorded(request, performance.now() - recordedFrom);
          if (isStream(request)) streams.add(recorded.path);
          else requests.push(recorded);
        });
        // A stream that is open already is opened again when the page is shown again.
        await hide(one.page);
        await show(one.page);
        opened.push({ page: one.page, template, requests, streams });
      }
      await Bun.sleep(1_000);
      for (const one of opened) one.requests.length = 0;
      recordedFrom = performance.now();
      await Bun.sleep(RECORDED_MS);
      const requests = opened.flatMap((one) => one.requests.splice(0)).sort((a, b) => a.atMs - b.atMs);
      const streams = opened.flatMap((one) => [...one.streams]);
      const visible = Map.groupBy(requests, ({ path }) => path.replace(/\?.*/, ""));
      console.info(
        `${PAGES} visible pages: ${requests.length} requests in ${RECORDED_MS / 1000} s, ${streams.length} streams: ` +
          JSON.stringify(Object.fromEntries([...visible].map(([path, group]) => [path, group.length]))),
      );
      expect(requests.length).toBeGreaterThan(0);
      expect(requests.length / (RECORDED_MS / 1000)).toBeLessThanOrEqual(PAGES * MAX_REQUESTS_PER_SEC);
      for (const { page } of opened) await hide(page);
      // What was under way ends.
      await Bun.sleep(500);
      for (const one of opened) one.requests.length = 0;
      await Bun.sleep(RECORDED_MS / 2);
      expect(opened.flatMap((one) => one.requests.map(({ path }) => `${one.template}: ${path}`))).toEqual([]);
      await Promise.all(opened.map(({ page }) => page.context().close()));

      const rssBeforeMb = rssMb();
      const slowdown = await beside({ url: node.url, requests, everyMs: RECORDED_MS, streams }, TURNS);
      const rssAfterMb = rssMb();
      console.info(`beside them: ${shown(slowdown)}, resident ${rssBeforeMb} -> ${rssAfterMb} MB`);
      expectAllAnswered(slowdown);
      // Fails only where the machine's noise does not explain it.
      expect(slowdown.from).toBeLessThanOrEqual(MAX_RATIO);
      expect(rssAfterMb).toBeLessThan(rssBeforeMb * (1 + MAX_GROWTH));
    },
  );

  consoleTest(`check 4: ${FIRST_LOADS_PER_SEC} first loads a second leave reads as fast`, async (open) => {
    const { page } = await open({ origin: node.url, trustedTypes: false });
    const asked: PageRequest[] = [];
    page.on("request", (request) => asked.push(asRecorded(request, 0)));
    await page.goto(node.url);
    await settled(page);
    await page.close();
    const firstLoad = firstLoadOf(asked);
    const slowdown = await beside(
      { url: node.url, firstLoad, perSec: FIRST_LOADS_PER_SEC },
      FIRST_LOAD_TURNS,
    );
    console.info(`${asked.length} requests of a first load: ${shown(slowdown)}`);
    expectAllAnswered(slowdown);
    expect(slowdown.from).toBeLessThanOrEqual(MAX_RATIO);
  });
});

const show = (page: Page) =>
  page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "visible", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
