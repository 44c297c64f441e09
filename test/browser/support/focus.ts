import type { Page } from "playwright-core";

/** What has the focus without showing it, as the start of its HTML; undefined where it is visible, or where none is needed. */
export function hiddenFocus(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!element || element === document.body || element.tagName === "H1") return undefined;
    const { outlineStyle, outlineWidth } = getComputedStyle(element.closest("form.find") ?? element);
    const isShown = outlineStyle !== "none" && outlineWidth !== "0px";
    return isShown ? undefined : element.outerHTML.slice(0, 80);
  });
}
