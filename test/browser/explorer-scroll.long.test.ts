import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { IS_LONG } from "../support/long.ts";
import { consoleTest } from "./support/console-test.ts";

const ROWS = IS_LONG ? 300 : 50;
const STEP_PX = IS_LONG ? 400 : 800;
const MAX_TASK_MS = 50;

/** An event of a trace of Chromium, as far as it is read here. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** CPU time of the thread, in microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * Scrolls from the top to the end. Returns the longest task of the page's main thread, in ms of CPU time: other programs take the CPU as
 * well.
 */
async function scrollThrough(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  const isComplete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.start", { categories: "toplevel,__metadata", transferMode: "ReportEvents" });
  await page.evaluate(async (stepPx) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    scrollTo(0, 0);
    await frame();
    for (let before = -1; scrollY > before; ) {
      before = scrollY;
      scrollBy(0, stepPx);
      await frame();
    }
    await frame();
  }, STEP_PX);
  await session.send("Tracing.end");
  await isComplete;
  await session.detach();
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const mains = new Set(events.filter(({ args }) => args?.name === "CrRendererMain").map(threadOf));
  const tasks = events.filter((event) => /::RunTask$/.test(event.name) && mains.has(threadOf(event)));
  const tookUs = tasks.flatMap(({ tdur }) => tdur ?? []);
  // A step has a frame, and a frame a task.
  expect(tookUs.length).toBeGreaterThan(ROWS / 10);
  return Math.max(...tookUs) / 1000;
}

consoleTest(`${ROWS} casts scroll without a task over ${MAX_TASK_MS} ms`, async (open) => {
  const { page, goto } = await open({ trustedTypes: false });
  await goto("/console/search?q=a&in=casts");
  const rows = page.locator("main .list [data-hash]");
  await rows.first().waitFor();
  while ((await rows.count()) < ROWS) {
    const before = await rows.count();
    await page.getByRole("button", { name: "Load 25 more" }).click();
    await page.waitForFunction(
      (count) => document.querySelectorAll("main .list [data-hash]").length > count,
      before,
    );
  }
  expect(await scrollThrough(page)).toBeLessThanOrEqual(MAX_TASK_MS);
});
