import { beforeAll, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type ConsolePage, type ConsolePageOptions, consolePage } from "./page.ts";
import { HAS_BROWSER, sharedBrowser, sharedNode } from "./shared.ts";

/** Pages of failed tests. */
const FAILURES = join(import.meta.dir, "../../../dist/browser-failures");

const START_TIMEOUT_MS = 120_000;
/** Longer than any wait of a page. */
const TEST_TIMEOUT_MS = 120_000;
// The first test of a process would otherwise have to compile the program and start the node in its own time.
if (HAS_BROWSER) beforeAll(() => Promise.all([sharedBrowser(), sharedNode()]), START_TIMEOUT_MS);

/**
 * A test with pages of its own: `open` gives as many as it asks for. They are closed at the end, which fails where a page has
 * faults; of each page of a failed test a screenshot stays in `dist/browser-failures`. Skipped without a browser.
 */
export function consoleTest(
  title: string,
  body: (open: (options?: ConsolePageOptions) => Promise<ConsolePage>) => Promise<void>,
  timeoutMs = TEST_TIMEOUT_MS,
): void {
  test.skipIf(!HAS_BROWSER)(
    title,
    async () => {
      const opened: ConsolePage[] = [];
      try {
        await body(async (options) => {
          const next = await consolePage(options);
          opened.push(next);
          return next;
        });
        const faults = opened.flatMap((one) => one.faults());
        if (faults.length > 0) throw new Error(`the page has faults:\n${faults.join("\n")}`);
      } catch (cause) {
        await Promise.all(opened.map((one, at) => keepScreenshot(one, `${title} ${at + 1}`)));
        throw cause;
      } finally {
        // Faults are reported above.
        await Promise.all(opened.map((one) => one.close().catch(() => undefined)));
      }
    },
    timeoutMs,
  );
}

async function keepScreenshot({ page }: ConsolePage, name: string): Promise<void> {
  mkdirSync(FAILURES, { recursive: true });
  const path = join(FAILURES, `${name.replaceAll(/[^\w-]+/g, "-").slice(0, 100)}.png`);
  await page.screenshot({ path, fullPage: true, timeout: 5_000 }).catch(() => undefined);
}
