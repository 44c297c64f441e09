import type { Page } from "playwright-core";

/** Where the focus of a page is. */
export interface Focus {
  /** What has it without showing it, as the start of its HTML; undefined where it is visible, or where none is needed. */
  readonly hidden: string | undefined;
  /** Whether nothing has it, as after the last element. */
  readonly isNowhere: boolean;
}

export function focusOf(page: Page): Promise<Focus> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!element || element === document.body) return { hidden: undefined, isNowhere: true };
    if (element.tagName === "H1") return { hidden: undefined, isNowhere: false };
    const { outlineStyle, outlineWidth } = getComputedStyle(element.closest("form.find") ?? element);
    const isShown = outlineStyle !== "none" && outlineWidth !== "0px";
    return { hidden: isShown ? undefined : element.outerHTML.slice(0, 80), isNowhere: false };
  });
}
