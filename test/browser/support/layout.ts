import type { Page } from "playwright-core";

const MAX_SHOWN = 5;

/** Returns what is wider than the page, if the page scrolls sideways. */
export function sidewaysScroll(page: Page): Promise<string[]> {
  return page.evaluate((most) => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const isWide = (element: Element) => {
      const { left, right } = element.getBoundingClientRect();
      return right > clientWidth + 1 || left < -1;
    };
    const wide = [...document.querySelectorAll("body *")].filter(isWide);
    const nameOf = ({ tagName, className }: Element) => `${tagName.toLowerCase()}.${className}`;
    return [`${scrollWidth} px in ${clientWidth} px:`, ...wide.slice(0, most).map(nameOf)];
  }, MAX_SHOWN);
}

/**
 * Returns texts of which a part is not seen: cut by what clips them, or beyond the card, button, cell or label that they are in. What scrolls, ends
 * in an ellipsis or is folded says so itself.
 */
export function cutTexts(page: Page): Promise<string[]> {
  return page.evaluate((most) => {
    const BOXES = ".card, .btn, .pill, td, th, dialog, button, .checks label";
    const SLACK_PX = 1.5;
    const saysSo = (element: Element) => {
      const { overflowX, textOverflow, webkitLineClamp } = getComputedStyle(element);
      return (
        /auto|scroll/.test(overflowX) ||
        textOverflow === "ellipsis" ||
        webkitLineClamp !== "none" ||
        element.matches(".skip, .folded, meter, svg")
      );
    };
    const boxOf = (node: Node) => {
      const range = document.createRange();
      range.selectNode(node);
      return range.getBoundingClientRect();
    };
    const found = new Set<string>();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (!node.textContent?.trim() || !parent?.checkVisibility()) continue;
      // The heads of a table whose rows are stacked are for screen readers only.
      const head = parent.closest("thead");
      if (head && getComputedStyle(head).clipPath !== "none") continue;
      const { left, right } = boxOf(node);
      for (
        let at: Element | null = parent;
        at && at !== document.body && !saysSo(at);
        at = at.parentElement
      ) {
        const isClip = /hidden|clip/.test(getComputedStyle(at).overflowX);
        if (!isClip && !at.matches(BOXES)) continue;
        const box = at.getBoundingClientRect();
        if (left > box.left - SLACK_PX && right < box.right + SLACK_PX) continue;
        found.add(
          `${at.tagName.toLowerCase()}.${at.className} cuts “${node.textContent.trim().slice(0, 40)}”`,
        );
        break;
      }
    }
    return [...found].slice(0, most);
  }, MAX_SHOWN);
}

/** Makes the texts of a page as long as those of a wordier language, about 40 %, and has it run from right to left. */
export function pseudoLocalize(page: Page): Promise<void> {
  return page.evaluate(() => {
    document.documentElement.dir = "rtl";
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      // Names of things are those of every language: `cast.created`.
      if (
        !node.parentElement?.closest("code, pre, .mono, .user, script, style") &&
        !/\w\.\w/.test(node.textContent ?? "")
      )
        node.textContent = node.textContent?.replaceAll(/[aeiou]/gi, "$&$&") ?? "";
  });
}
