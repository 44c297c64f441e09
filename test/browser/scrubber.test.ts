import { expect } from "bun:test";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { shiftOf, watchShifts } from "./support/layout-shifts.ts";
import { settled } from "./support/page.ts";
import { demoCast, submit } from "./support/submit.ts";

const viewed = /^Viewing .+ to .+: [\d,]+ events?/;

consoleTest(
  "check 8: the keyboard is enough to select a time, which its URL restores on the status, stream and operator pages",
  async (open) => {
    const { page, goto, origin } = await open();
    await watchShifts(page);
    await goto("/console/status?w=1h");
    const begin = page.getByRole("slider", { name: "Start of the selection" });
    await begin.waitFor();
    await settled(page);
    expect((await shiftOf(page)).sum).toBeLessThanOrEqual(0.02);
    await begin.focus();
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/at=.+&until=/);
    await page.getByText(viewed).waitFor();
    expect(await begin.getAttribute("aria-valuetext")).toMatch(/^\d\d:\d\d to \d\d:\d\d, [\d,]+ events?/);
    expect(await axeViolations(page)).toEqual([]);
    const { search } = new URL(page.url());
    const text = await page.getByText(viewed).textContent();
    for (const path of ["/console/status", "/console/stream", "/console/operator"]) {
      await goto(`${path}${search}`);
      await page.getByText(viewed).waitFor();
      expect((await page.getByText(viewed).textContent())?.split(":")[0]).toBe(text?.split(":")[0]);
    }
    // The log of this time, instead of the latest warnings.
    await page.getByRole("searchbox", { name: "Words" }).waitFor();
    await page.getByRole("slider", { name: "End of the selection" }).focus();
    await page.keyboard.press("l");
    await page.waitForURL(`${origin}/console/operator?w=1h`);
    await page.getByText("Drag to select a period").waitFor();
  },
);

consoleTest(
  "the stream of a past time has only its events, requests them once, and is live again with one click",
  async (open) => {
    const { page, goto, origin } = await open({ reducedMotion: true });
    await goto("/console/stream?match=any");
    await page.getByText("Connected", { exact: true }).waitFor();
    const pulse = { seconds: 3, per_second: 5 };
    await page.request.post(`${origin}/console/demo/pulse`, { headers: { origin }, data: pulse });
    await page.locator(".events > li").first().waitFor();
    const asked: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/v2/svc/stream?")) asked.push(request.url());
    });
    const minute = Math.floor(Date.now() / 60_000) * 60_000;
    const iso = (ms: number) => `${new Date(ms).toISOString().slice(0, 16)}Z`;
    await goto(`/console/stream?match=any&at=${iso(minute - 3_600_000)}&until=${iso(minute - 3_540_000)}`);
    const none = page.getByText("No events in this period match");
    await none.waitFor();
    // On a phone too, the way back is above what may be hundreds of events.
    await page.setViewportSize({ width: 390, height: 844 });
    const back = page.getByRole("button", { name: "Back to live" });
    const [wayBack, events] = [await back.boundingBox(), await none.boundingBox()];
    expect(wayBack?.y).toBeLessThan(events?.y ?? 0);
    await back.click();
    await page.waitForURL(`${origin}/console/stream?match=any`);
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.locator(".events > li").first().waitFor();
    expect(asked.map((url) => new URL(url).search.replace(/\d+/g, "N"))).toEqual([
      "?match=any&since=N&until=N&last=N",
      "?match=any&last=N",
    ]);
  },
);

consoleTest(
  "a past time opens on its newest 300 events; the others are reached in parts by the keyboard, in both directions, each event once",
  async (open) => {
    const { page, goto, origin } = await open({ reducedMotion: true });
    const fids = [61, 62, 63, 64, 65];
    const casts = fids.flatMap((fid) =>
      Array.from({ length: 61 }, (_, n) => demoCast(fid, { text: `part ${fid} ${n}.` })),
    );
    for (let at = 0; at < casts.length; at += 100) await submit(origin, casts.slice(at, at + 100));
    // The count is final once the end of the time has passed.
    const iso = (secs: number) => `${new Date(secs * 1000).toISOString().slice(0, 19)}Z`;
    const now = Math.floor(Date.now() / 1000);
    await goto(
      `/console/stream?kinds=cast.created&author_fids=${fids}&text=%5Epart&at=${iso(now - 600)}&until=${iso(now + 1)}`,
    );
    const texts = async () =>
      (await page.locator(".events > li").allTextContents()).map((row) => /part \d+ \d+\./.exec(row)?.[0]);
    const shows = (text: string) => page.getByText(text, { exact: true }).waitFor();
    await shows("1 to 300 of 305");
    const newest = await texts();
    expect(newest[0]).toBe(`part ${fids.at(-1)} 60.`);
    await page.getByRole("button", { name: "Older" }).focus();
    await page.keyboard.press("Enter");
    await shows("301 to 305 of 305");
    const oldest = await texts();
    expect([newest.length, oldest.length, new Set([...oldest, ...newest]).size]).toEqual([300, 5, 305]);
    // The end: the button keeps the focus, and does nothing.
    await page.keyboard.press("Enter");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await shows("1 to 300 of 305");
    expect(await texts()).toEqual(newest);
    expect(await axeViolations(page)).toEqual([]);
  },
);

consoleTest("the list of a past time and the card of the time count the same events", async (open) => {
  const { page, goto, origin } = await open({ reducedMotion: true });
  await submit(
    origin,
    Array.from({ length: 20 }, (_, n) => demoCast(66, { text: `counted ${n}` })),
  );
  // Neither end is one of a bucket of the lanes, which have 90 seconds here.
  const iso = (secs: number) => `${new Date(secs * 1000).toISOString().slice(0, 19)}Z`;
  const now = Math.floor(Date.now() / 1000);
  await goto(`/console/stream?w=6h&at=${iso(now - 1207)}&until=${iso(now + 1)}`);
  const list = page.getByText(/^1 to \d+ of [\d,]+$/);
  await list.waitFor();
  const all = (await list.textContent())?.split(" ").at(-1);
  await page.locator(".moment").getByText(`${all} events`).waitFor();
});

consoleTest("a typed time is shown, and an invalid one says how to write it", async (open) => {
  const { page, goto } = await open({ width: 390 });
  await goto("/console/status");
  const field = page.getByLabel("Go to");
  await field.fill("soon");
  await field.press("Enter");
  await page.getByText("Enter a time such as").waitFor();
  await field.fill("20 min ago");
  await field.press("Enter");
  await page.getByText(viewed).waitFor();
  expect(
    await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth),
  ).toBe(true);
});

consoleTest(
  "a visit after another one says what has happened since, and can be marked as seen",
  async (open) => {
    const { page, goto } = await open();
    await goto("/console/status");
    await page.getByText("Up to date.").waitFor();
    expect(await page.getByText("Since you were here").count()).toBe(0);
    await page.evaluate(() => localStorage.setItem("seen", `${Math.floor(Date.now() / 1000) - 50_000}`));
    await page.reload();
    await page.getByText("Since you were here").waitFor();
    await page.locator(".since li").first().waitFor();
    await page.getByRole("button", { name: "Mark as seen" }).click();
    await page.getByText("Since you were here").waitFor({ state: "detached" });
  },
);
