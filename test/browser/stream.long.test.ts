import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { IS_LONG } from "../support/long.ts";
import { consoleTest } from "./support/console-test.ts";
import { demoCast, submit, submitOverGrpc } from "./support/submit.ts";

const connected = (page: Page) => page.locator("main .pill", { hasText: "Connected" }).waitFor();
const rowWith = (page: Page, text: string | RegExp) => page.locator("main .events li", { hasText: text });

/** Shows or hides the tab, as the browser reports it to the page. */
async function setVisible(page: Page, isVisible: boolean): Promise<void> {
  await page.evaluate(
    (state) => {
      Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    },
    isVisible ? "visible" : "hidden",
  );
}

async function openStreams(origin: string): Promise<number> {
  const status = (await (await fetch(`${origin}/status`)).json()) as {
    stream: { connections: { sse: number } };
  };
  return status.stream.connections.sse;
}

/** Polls until a number is as expected; the node notices a closed connection a moment later. */
async function until(read: () => Promise<number>, expected: number): Promise<void> {
  while ((await read()) !== expected) await Bun.sleep(50);
}

consoleTest(
  "check 13: a message that is submitted over gRPC is seen within a second, if the filter has it",
  async (open) => {
    const { page, goto } = await open();
    await goto("/console/stream?kinds=cast.created&author_fids=31");
    await connected(page);
    const startedMs = performance.now();
    await submitOverGrpc([
      demoCast(32, { text: "of another person" }),
      demoCast(31, { text: "seen at once" }),
    ]);
    await rowWith(page, "seen at once").waitFor();
    // The long form runs by itself; beside other tests a browser may take longer.
    if (IS_LONG) expect(performance.now() - startedMs).toBeLessThan(1000);
    expect(await rowWith(page, "of another person").count()).toBe(0);
    expect(await page.getByRole("link", { name: "Make this a webhook" }).getAttribute("href")).toBe(
      "/console/manage/webhooks/new?kinds=cast.created&author_fids=31",
    );
  },
);

consoleTest(
  "check 13: a pause and a hidden tab close the stream, and it resumes after the last event",
  async (open) => {
    const { page, goto, origin } = await open();
    const before = await openStreams(origin);
    await goto("/console/stream?kinds=cast.created&author_fids=33");
    await connected(page);
    await submit(origin, [demoCast(33, { text: "the first" })]);
    await rowWith(page, "the first").waitFor();
    expect(await openStreams(origin)).toBe(before + 1);

    await page.getByRole("button", { name: "Pause" }).click();
    await until(() => openStreams(origin), before);
    await submit(origin, [demoCast(33, { text: "while paused" })]);
    expect(await rowWith(page, "while paused").count()).toBe(0);
    await page.getByRole("button", { name: "Resume" }).click();
    await rowWith(page, "while paused").waitFor();

    await setVisible(page, false);
    await until(() => openStreams(origin), before);
    await submit(origin, [demoCast(33, { text: "while hidden" })]);
    const resumed = page.waitForRequest((request) => request.url().includes("/stream"));
    await setVisible(page, true);
    expect((await resumed).headers()["last-event-id"]).toMatch(/^\w/);
    await rowWith(page, "while hidden").waitFor();
    // Activity that another test generates on the same node may have casts of this fid, too.
    expect(await rowWith(page, /the first|while paused|while hidden/).count()).toBe(3);

    // A page without a stream leaves none open.
    await page.getByRole("link", { name: "Explore" }).first().click();
    await until(() => openStreams(origin), before);
  },
);

consoleTest("check 13: a line says where events are missing", async (open) => {
  const { page, context, goto, origin } = await open();
  await goto("/console/stream?kinds=cast.created&author_fids=34");
  await connected(page);
  await submit(origin, [demoCast(34, { text: "before it" })]);
  await rowWith(page, "before it").waitFor();
  await context.route("**/v2/svc/stream**", (route, request) =>
    route.continue({ headers: { ...request.headers(), "last-event-id": "AAAAAAAA" } }),
  );
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await rowWith(page, "Events are missing here").waitFor();
});

consoleTest(
  "a filter that the node refuses is shown with its words; the form keeps its text",
  async (open) => {
    const { page, goto } = await open();
    await goto("/console/stream?text=%28%28%28");
    await page.locator("main .failure", { hasText: "text" }).waitFor();
    expect(await page.locator("#text").inputValue()).toBe("(((");
    await page.locator("#text").fill("(?i)gm");
    await page.getByText("Who", { exact: true }).click();
    await page.locator("#author_fids").fill("@mirawren 35");
    await page.getByRole("button", { name: "Show these" }).click();
    await page.waitForURL((url) => url.search === "?author_fids=3,35&text=(%3Fi)gm");
    await connected(page);
  },
);

consoleTest(
  "a stream begins with the last events; on a phone its filter is above them, and a webhook made of it has the filter as it is typed",
  async (open) => {
    const { page, goto, origin } = await open({ width: 390, expects: [/by-username/] });
    const other = demoCast(37, { text: "of another" });
    const reply = demoCast(36, { text: "a reply", parent: other });
    await submit(origin, [demoCast(36, { text: "before the page" }), other, reply]);
    await goto("/console/stream?author_fids=36");
    await rowWith(page, "before the page").waitFor();
    expect(await rowWith(page, "of another").count()).toBe(0);
    // The event has only the fid of the author of the parent.
    await rowWith(page, /replied to (?!fid )/).waitFor();
    const topOf = async (selector: string) =>
      (await page.locator(selector).first().boundingBox())?.y ?? Number.NaN;
    const filter = page.locator("main summary", { hasText: "Filter" });
    expect(await topOf("main summary")).toBeLessThan(await topOf("main .events li"));
    await filter.click();
    await page.locator("#author_fids").fill("@nobody-has-this-name");
    await page.getByRole("link", { name: "Make this a webhook" }).click();
    await page.getByText("@nobody-has-this-name is not a name").waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("author_fids");
    await page.locator("#author_fids").fill("@mirawren");
    await page.getByRole("link", { name: "Make this a webhook" }).click();
    await page.waitForURL(`${origin}/console/manage/webhooks/new?author_fids=3`);
  },
);
