import { readFileSync } from "node:fs";
import type { AxeResults, RunOptions } from "axe-core";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir), "utf8");
const MAX_SHOWN = 3;
const OPTIONS: RunOptions = {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
  resultTypes: ["violations"],
};

/**
 * Returns the violations of WCAG 2.2 AA on a page as it is now, one entry for each rule. In forced colours the theme has the contrast: axe
 * reads the colours that the page would have.
 */
export async function axeViolations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(SOURCE);
  const { violations } = await page.evaluate((options) => {
    const rules = { "color-contrast": { enabled: !matchMedia("(forced-colors: active)").matches } };
    // biome-ignore lint/suspicious/noExplicitAny: the script above defines it
    return (globalThis as any).axe.run(document, { ...options, rules }) as Promise<AxeResults>;
  }, OPTIONS);
  return violations.flatMap(({ id, help, nodes }) => {
    const lines = nodes.map(({ target }) => target.join(" "));
    const more = lines.length > MAX_SHOWN ? [`… ${lines.length} in all`] : [];
    const [first] = nodes;
    return [
      `${id} (${help}): ${[...lines.slice(0, MAX_SHOWN), ...more].join(", ")}\n${first?.failureSummary ?? ""}`,
    ];
  });
}
