import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { pages } from "../../src/console/web/routes.ts";
import { IS_LONG } from "../support/long.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
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
        const found: string[] = [];
        for (const theme of ["light", "dark"] as const) {
          if (!IS_LONG && (theme === "dark") !== (at % 2 === 1)) continue;
          await page.emulateMedia({ colorScheme: theme });
          found.push(...(await axeViolations(page)).map((line) => `${theme}: ${line}`));
        }
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          found.push(...(await sidewaysScroll(page)));
        }
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
