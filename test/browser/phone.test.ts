import { expect } from "bun:test";
import { EVENT_KINDS } from "../../src/console/web/stream/filters.ts";
import { consoleTest } from "./support/console-test.ts";
import { settled } from "./support/page.ts";

const PHONE_PX = 390;
/** The least part of the line that a command has. */
const MIN_SHARE = 0.85;
const SHOTS = process.env.PHONE_SHOTS;

consoleTest("on a phone the button of a long command is below it", async (open) => {
  const { page, goto } = await open({ width: PHONE_PX });
  await goto("/console/manage");
  const command = page.locator(".command").first();
  await command.waitFor();
  await settled(page);
  const { share, isBelow } = await command.evaluate((block) => {
    const [text, button] = [...block.children].map((child) => child.getBoundingClientRect());
    const share = (text?.width ?? 0) / block.clientWidth;
    return { share, isBelow: (button?.top ?? 0) >= (text?.bottom ?? 0) };
  });
  if (SHOTS) await command.screenshot({ path: `${SHOTS}/command.png` });
  expect(share).toBeGreaterThan(MIN_SHARE);
  expect(isBelow).toBe(true);
});

consoleTest("a table that scrolls has a shadow at its edge, also in a high-contrast theme", async (open) => {
  const { page, goto } = await open({ width: PHONE_PX });
  await goto("/console/operator");
  const region = page.locator(".card > .scroll").first();
  await region.waitFor();
  expect(await region.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)).toBe(true);
  for (const forcedColors of ["none", "active"] as const) {
    await page.emulateMedia({ forcedColors });
    await settled(page);
    if (SHOTS) await region.screenshot({ path: `${SHOTS}/scroll-${forcedColors}.png` });
    const shadows = await region.evaluate((element) => getComputedStyle(element).backgroundImage);
    expect([forcedColors, shadows.match(/gradient/g)?.length]).toEqual([forcedColors, 4]);
  }
});

/** At most this much of a screen of 640 px. One column of the 21 kinds takes 900 px. */
const MAX_KINDS_PX = 620;

consoleTest("the kinds of events are in groups, of which a phone shows several in a line", async (open) => {
  const { page, goto } = await open({ width: 360 });
  await goto("/console/stream");
  await page.locator(".stream > details > summary").click();
  const kinds = page.locator(".event-kinds");
  await kinds.waitFor();
  await settled(page);
  if (SHOTS) await kinds.screenshot({ path: `${SHOTS}/kinds.png` });
  const { height, width, scrollWidth } = await kinds.evaluate((element) => ({
    height: element.getBoundingClientRect().height,
    width: element.clientWidth,
    scrollWidth: element.scrollWidth,
  }));
  expect(height).toBeLessThan(MAX_KINDS_PX);
  expect(scrollWidth).toBe(width);
  expect(await kinds.getByRole("checkbox").count()).toBe(EVENT_KINDS.length);
  const moderated = kinds.getByRole("checkbox", { name: "cast.moderated", exact: true });
  await moderated.check();
  await kinds.getByRole("checkbox", { name: "channel.member.banned", exact: true }).check();
  await page.getByRole("button", { name: "Show these" }).click();
  await page.waitForURL(/kinds=channel\.member\.banned,cast\.moderated/);
});
