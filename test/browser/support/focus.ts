import type { Page } from "playwright-core";
import { focusComesTo } from "./page.ts";

/** Where the focus of a page is. */
export interface Focus {
  /** What has it without showing it, as the start of its HTML and why; undefined where it is visible, or where none is needed. */
  readonly hidden: string | undefined;
  /** Whether nothing has it, as after the last element. */
  readonly isNowhere: boolean;
}

export function focusOf(page: Page): Promise<Focus> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!element || element === document.body) return { hidden: undefined, isNowhere: true };
    const { outlineStyle, outlineWidth } = getComputedStyle(element.closest("form.find") ?? element);
    // A heading takes the focus by script only, and shows none.
    const isOutlined = /^H[12]$/.test(element.tagName) || (outlineStyle !== "none" && outlineWidth !== "0px");
    const { top, bottom, left, right } = element.getBoundingClientRect();
    const x = (Math.max(left, 0) + Math.min(right, innerWidth)) / 2;
    // For what is higher than the window, some part is enough.
    const isSeen = [0, 0.25, 0.5, 0.75, 1].some((part) => {
      const y = Math.min(Math.max(top, 0), innerHeight) * (1 - part) + Math.min(bottom, innerHeight) * part;
      const above = document.elementFromPoint(x, y - (part - 0.5));
      return above !== null && (element.contains(above) || above.contains(element));
    });
    const why = isOutlined ? (isSeen ? undefined : "out of sight") : "no outline";
    return { hidden: why && `${why}: ${element.outerHTML.slice(0, 80)}`, isNowhere: false };
  });
}

/** Waits until a heading has the focus, as after a form has made something. @throws Error if it is out of sight */
export async function focusComesToHeading(page: Page, text: string): Promise<void> {
  await focusComesTo(page, text);
  const { hidden } = await focusOf(page);
  if (hidden !== undefined) throw new Error(hidden);
}
