import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { pages } from "../../src/console/web/routes.ts";
import { IS_LONG } from "../support/long.ts";
import { ariaDifferences } from "./support/aria.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { becomeDemoPerson } from "./support/demo-person.ts";
import { examplePages } from "./support/example-paths.ts";
import { focusOf } from "./support/focus.ts";
import { cutTexts, pseudoLocalize, sidewaysScroll } from "./support/layout.ts";
import { shiftOf, watchShifts } from "./support/layout-shifts.ts";
import { ownerPages } from "./support/owner-records.ts";
import { type ConsolePage, settled } from "./support/page.ts";
import { HAS_BROWSER, sharedNode } from "./support/shared.ts";

/** All pages of an owner in one test. */
const LONG_MS = IS_LONG ? 900_000 : 120_000;

/** CSS pixels. */
const WIDTHS = [1920, 1280, 1024, 880, 820, 768, 640, 390, 320] as const;
/** Where texts that are longer have the least room. */
const NARROW_PX = 320;
const SCHEMES = [
  { colorScheme: "light", forcedColors: "none" },
  { colorScheme: "dark", forcedColors: "none" },
  { colorScheme: "light", forcedColors: "active" },
] as const;
/** The widths at which a page loads, and how far it may move meanwhile. */
const LOAD_WIDTHS = [1280, 390] as const;
/**
 * In the suite a page loads at one of them, and is then looked at in the least width and one of the others: each has its pages. In the
 * long form it loads last at the greater one, for which the outlines are.
 */
const loadWidthsOf = (at: number) => LOAD_WIDTHS.filter((_, nth) => IS_LONG || nth === at % 2).toReversed();
const widthsOf = (at: number) =>
  WIDTHS.filter((width, nth) => IS_LONG || width === NARROW_PX || nth === at % (WIDTHS.length - 1));
const MAX_SHIFT = 0.02;
/** A search box shows at least the beginning of what is typed. */
const MIN_SEARCH_PX = 90;

/** How often Tab is pressed on a page: some times in the suite, and until the page is left in the long form. */
const TABS = IS_LONG ? 200 : 6;

/** Walks over a page by the keyboard. Returns what had the focus without showing it. */
async function hiddenOnTheWay(page: Page): Promise<string[]> {
  const hidden = new Set<string>();
  await page.evaluate(() => document.querySelector<HTMLElement>("h1")?.focus());
  for (let tab = 0; tab < TABS; tab++) {
    await page.keyboard.press("Tab");
    const focus = await focusOf(page);
    if (focus.hidden !== undefined) hidden.add(`the focus is not visible: ${focus.hidden}`);
    if (focus.isNowhere) break;
  }
  // On the way back the bar is over the page.
  await page.evaluate(() => scrollTo({ top: document.body.scrollHeight, behavior: "instant" }));
  await page.locator("footer button").focus();
  for (let tab = 0; tab < TABS; tab++) {
    await page.keyboard.press("Shift+Tab");
    const { hidden: found } = await focusOf(page);
    if (found !== undefined) hidden.add(`on the way back: ${found}`);
  }
  return [...hidden];
}

const examples = HAS_BROWSER ? await examplePages(await sharedNode()) : [];

/** Pages on which a test of their own runs axe, with more on them; here the long form does, too. */
const HAVE_AXE = /\/(apps|campaigns|keys|webhooks)\/:id$|\/manage\/(signers|webhooks\/new)$/;

/** Has axe look at a page: at one width and in one scheme, in the long form at each in all. */
async function axeFaults(page: Page, template: string, at: number): Promise<string[]> {
  const found: string[] = [];
  for (const [column, width] of WIDTHS.entries())
    for (const [row, scheme] of SCHEMES.entries()) {
      const isOne = column === at % WIDTHS.length && row === at % SCHEMES.length;
      if (!IS_LONG && (!isOne || HAVE_AXE.test(template))) continue;
      await page.emulateMedia(scheme);
      await page.setViewportSize({ width, height: 900 });
      found.push(
        ...(await axeViolations(page)).map((line) => `${width} px, ${Object.values(scheme)}: ${line}`),
      );
    }
  await page.emulateMedia(SCHEMES[0]);
  return found;
}

/** Returns what is wrong with an opened page. Its texts are longer at the end. */
async function faultsOf(page: Page, template: string, at: number): Promise<string[]> {
  const found = await axeFaults(page, template, at);
  for (const width of widthsOf(at)) {
    await page.setViewportSize({ width, height: 900 });
    for (const fault of [...(await sidewaysScroll(page)), ...(await cutTexts(page))])
      found.push(`in ${width} px ${fault}`);
    const searchPx = await page.locator(".find input").evaluate((input) => input.clientWidth);
    if (searchPx < MIN_SEARCH_PX) found.push(`the search box is ${searchPx} px wide in ${width} px`);
  }
  const outline = await page.evaluate(() => ({
    h1: [...document.querySelectorAll("h1")].filter((one) => one.checkVisibility()).length,
    main: document.querySelectorAll("main").length,
    untitled: document.title.trim() === "" ? 1 : 0,
    animations: document.getAnimations().length,
  }));
  if (!Bun.deepEquals(outline, { h1: 1, main: 1, untitled: 0, animations: 0 }))
    found.push(Bun.inspect(outline));
  await page.setViewportSize({ width: 1280, height: 900 });
  found.push(...(await hiddenOnTheWay(page)));
  await page.setViewportSize({ width: NARROW_PX, height: 900 });
  await pseudoLocalize(page);
  for (const fault of [...(await sidewaysScroll(page)), ...(await cutTexts(page))])
    found.push(`with longer texts, from right to left: ${fault}`);
  return found;
}

/** Loads a page. Returns what moved meanwhile, if it is more than the budget. */
async function movesOf({ page, goto }: ConsolePage, path: string, width: number): Promise<string[]> {
  await page.setViewportSize({ width, height: 900 });
  await goto(path);
  await settled(page);
  const { sum, moved } = await shiftOf(page);
  const found = await page.locator("main .failure").allTextContents();
  return sum <= MAX_SHIFT
    ? found
    : [...found, `in ${width} px the page moves by ${sum.toFixed(3)}: ${moved}`];
}

/** The page of an owner that the suite looks at without a wallet, too. */
const FIRST_OF_OWNER = "/console/manage/apps";

const isOfOwner = (path: string) => path.startsWith("/console/manage/");

describe("every page", () => {
  for (const [at, { path: template }] of pages.entries()) {
    // Before a wallet connects, the pages of an owner are all alike.
    if (isOfOwner(template) && template !== FIRST_OF_OWNER && !IS_LONG) continue;
    consoleTest(
      `${template}: checks 14, 15, 16: axe finds nothing, nothing moves or scrolls sideways, the focus is visible, the outline is known`,
      async (open) => {
        const example = examples.find((one) => one.template === template);
        const one = await open({ reducedMotion: true });
        await watchShifts(one.page);
        const found: string[] = [];
        for (const width of loadWidthsOf(at)) found.push(...(await movesOf(one, example?.path ?? "", width)));
        await one.page.setViewportSize({ width: 1280, height: 900 });
        const outline = isOfOwner(template) ? "/console/manage/… of a visitor" : template;
        found.push(...(await ariaDifferences(one.page, outline)));
        expect([...found, ...(await faultsOf(one.page, template, at))]).toEqual([]);
      },
    );
  }
});

/** Whose pages are looked at; other tests have other people. */
const OWNER = 60;

consoleTest(
  "checks 14, 15, 16: axe finds nothing on the pages of an owner, nothing moves or scrolls sideways, the focus is visible, the outlines are known",
  async (open) => {
    const one = await open({ reducedMotion: true });
    const own = await ownerPages(one.origin, OWNER);
    await becomeDemoPerson(one, OWNER);
    await watchShifts(one.page);
    const found: string[] = [];
    for (const [at, { path, template }] of own.entries()) {
      const faults: string[] = [];
      for (const width of loadWidthsOf(at)) faults.push(...(await movesOf(one, path, width)));
      await one.page.setViewportSize({ width: 1280, height: 900 });
      faults.push(...(await ariaDifferences(one.page, `${template} of an owner`)));
      faults.push(...(await faultsOf(one.page, template, at)));
      found.push(...faults.map((fault) => `${path}: ${fault}`));
    }
    expect(found).toEqual([]);
  },
  LONG_MS,
);
