import { expect } from "bun:test";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { shiftOf, watchShifts } from "./support/layout-shifts.ts";
import { settled } from "./support/page.ts";
import { demoCast, submit } from "./support/submit.ts";

consoleTest(
  "check 27: one click buzzes 25 phones and delivers a verified webhook without a dialog, and nothing moves",
  async (open) => {
    const { page, goto, origin } = await open();
    await watchShifts(page);
    await goto("/");
    // Those of the index while the node has no events.
    const rows = page.locator(".ticker li");
    await rows.nth(19).waitFor();
    await settled(page);
    expect(await rows.count()).toBe(20);
    // They stay below the first events.
    const first = demoCast(38, { text: "the first event" });
    await submit(origin, [first]);
    await page.locator(`.ticker a[href*="${first.hash}"]`).first().waitFor();
    expect(await rows.count()).toBe(20);
    await page.getByRole("button", { name: "Buzz 25 phones" }).click();
    await page.getByText("25 phones notified. The webhook's receiver verified its signature.").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect((await shiftOf(page)).sum).toBeLessThanOrEqual(0.02);
    await page.getByText(/POST .+\/frame\/notifications\//).click();
    await page.getByText("The oven is hot").first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Open this campaign" }).click();
    await page.getByText("Fresh bread").first().waitFor();
    await page.getByText(/25/).first().waitFor();
  },
);

consoleTest(
  "the story runs at most once in ten seconds, and only with a key of the right form",
  async (open) => {
    const { origin } = await open();
    const tell = (body: object) =>
      fetch(`${origin}/console/demo/story`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    expect((await tell({ public_key: "0x12" })).status).toBe(400);
    const statuses = [(await tell({})).status, (await tell({})).status];
    expect(statuses).toContain(429);
  },
);

consoleTest("the story card has no gap before the click, and its copy buttons are stacked", async (open) => {
  const { page, goto } = await open({ width: 390 });
  await goto("/");
  const card = page.locator(".story-place section");
  await card.getByRole("button", { name: "Buzz 25 phones" }).waitFor();
  const below = await card.evaluate((section) => {
    const end = section.getBoundingClientRect().bottom;
    return (
      end -
      Math.max(...[...section.querySelectorAll("p, .phone")].map((one) => one.getBoundingClientRect().bottom))
    );
  });
  expect(below).toBeLessThanOrEqual(24);
  await goto("/console/people/3");
  await page.getByText(/^custody/).click();
  const copies = page.locator(".profile [data-copy]");
  await copies.nth(3).waitFor();
  const ends = await copies.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right));
  expect(new Set(ends.map(Math.round)).size).toBe(1);
});
