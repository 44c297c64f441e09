import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { pages } from "../../src/console/web/routes.ts";
import { IS_LONG } from "../support/long.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { becomeDemoPerson } from "./support/demo-person.ts";
import { examplePages } from "./support/example-paths.ts";
import { settled } from "./support/page.ts";
import { HAS_BROWSER, sharedNode } from "./support/shared.ts";

/** CSS pixels, and the widest of them at 200 % zoom. */
const WIDTHS = [1280, 640, 390, 320] as const;

/** Returns what is wider than the page, if the page scrolls sideways. */
function sidewaysScroll(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const isWide = (element: Element) => element.getBoundingClientRect().right > clientWidth + 1;
    const wide = [...document.querySelectorAll("body *")].filter(isWide);
    const nameOf = ({ tagName, className }: Element) => `${tagName.toLowerCase()}.${className}`;
    return [`${scrollWidth} px in ${clientWidth} px:`, ...wide.slice(0, 5).map(nameOf)];
  });
}

const examples = HAS_BROWSER ? await examplePages(await sharedNode()) : [];

/** Returns what is wrong with an opened page in a theme and at all widths. */
async function faultsOf(page: Page, themes: readonly ("light" | "dark")[]): Promise<string[]> {
  const found: string[] = [];
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme });
    found.push(...(await axeViolations(page)).map((line) => `${theme}: ${line}`));
  }
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    found.push(...(await sidewaysScroll(page)));
  }
  return found;
}

describe("every page", () => {
  // A page has its colours checked in both themes: at each start in one, in the long form in both.
  for (const [at, { path: template }] of pages.entries())
    consoleTest(
      `${template}: checks 15, 16: axe finds nothing, and nothing scrolls sideways`,
      async (open) => {
        const example = examples.find((one) => one.template === template);
        const { page, goto } = await open({ reducedMotion: true });
        await goto(example?.path ?? "");
        await settled(page);
        const themes = (["light", "dark"] as const).filter((_, one) => IS_LONG || one === at % 2);
        const found = await faultsOf(page, themes);
        const outline = await page.evaluate(() => ({
          h1: [...document.querySelectorAll("h1")].filter((one) => one.checkVisibility()).length,
          main: document.querySelectorAll("main").length,
          title: document.title.trim() !== "",
          animations: document.getAnimations().length,
        }));
        expect({ found, ...outline }).toEqual({ found: [], h1: 1, main: 1, title: true, animations: 0 });
      },
    );
});

/** Whose pages are looked at; other tests have other people. */
const OWNER = 60;
const OWN_PAGES = pages.filter(({ path }) => path.startsWith("/console/manage") && !path.includes(":"));

consoleTest(
  "checks 15, 16: axe finds nothing on the pages of an owner, and nothing scrolls sideways",
  async (open) => {
    const one = await open({ reducedMotion: true });
    await becomeDemoPerson(one, OWNER);
    const found: string[] = [];
    for (const [at, { path }] of OWN_PAGES.entries()) {
      await one.page.setViewportSize({ width: 1280, height: 900 });
      await one.goto(path);
      await settled(one.page);
      const themes = (["light", "dark"] as const).filter((_, theme) => IS_LONG || theme === at % 2);
      found.push(...(await faultsOf(one.page, themes)).map((fault) => `${path}: ${fault}`));
    }
    expect(found).toEqual([]);
  },
);
