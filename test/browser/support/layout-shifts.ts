import type { Page } from "playwright-core";

interface Shift {
  readonly value: number;
  /** What moved, as `section.card 402->636`: its top before and after. */
  readonly moved: readonly string[];
}

/** Has every document that a page opens note its layout shifts. */
export async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const shifts: Shift[] = [];
    Object.assign(globalThis, { shifts });
    type Entry = PerformanceEntry & {
      readonly value: number;
      readonly hadRecentInput: boolean;
      readonly sources: readonly { node?: Node; previousRect: DOMRect; currentRect: DOMRect }[];
    };
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries() as Entry[]) {
        if (hadRecentInput) continue;
        const moved = sources.map(({ node, previousRect, currentRect }) => {
          const name = node instanceof Element ? `${node.tagName.toLowerCase()}.${node.className}` : "text";
          return `${name} ${Math.round(previousRect.y)}->${Math.round(currentRect.y)}`;
        });
        shifts.push({ value, moved });
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** The sum of the layout shifts of the document so far, and what moved. */
export async function shiftOf(page: Page): Promise<{ readonly sum: number; readonly moved: string }> {
  const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: Shift[] }).shifts);
  const sum = shifts.reduce((total, { value }) => total + value, 0);
  return { sum, moved: shifts.flatMap(({ moved }) => moved).join(", ") };
}
