import { expect } from "bun:test";
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
