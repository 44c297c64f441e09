import { expect } from "bun:test";
import { startDemoNode } from "../support/demo-node.ts";
import { tempDir } from "../support/program.ts";
import { consoleTest } from "./support/console-test.ts";

/** How often a page asks its node. */
const INTERVAL_MS = 5_000;
/** How long a page waits for a response, and then at most until it asks again. */
const [LIMIT_MS, RETRY_MS] = [10_000, 11_000];
/** How long one of its responses may take. */
const FRESH_WITHIN_MS = 3_000;
/** What pages say of a node that responds. That of the operator says it in a card, which turns grey. */
const SAYS = {
  "/": "Ready",
  "/console/status": "Ready",
  "/console/setup": "Ready",
  "/console/operator": "serves requests",
};

consoleTest(
  "check 28: 15 s after a node began to hang, no page says that it is ready; each says so once it responds",
  async (open) => {
    using dir = tempDir();
    const args = ["--set", "http.workers=1"];
    await using node = await startDemoNode({ dataDir: `${dir.path}/data`, args });
    const pages = await Promise.all(
      Object.entries(SAYS).map(async ([path, text]) => {
        const { page, goto } = await open({ origin: node.url, expects: [/ERR_CONNECTION/] });
        await page.clock.install();
        await goto(path);
        const said = page.getByText(text, { exact: text === "Ready" }).first();
        await said.waitFor();
        return { path, page, said };
      }),
    );
    const pass = (ms: number) => Promise.all(pages.map(({ page }) => page.clock.fastForward(ms)));
    process.kill(node.pid, "SIGSTOP");
    try {
      for (let interval = 0; interval < 3; interval++) await pass(INTERVAL_MS);
      for (const { path, page } of pages) {
        await page.getByText("Ready", { exact: true }).first().waitFor({ state: "detached" });
        // The set-up shows no figures that could be old.
        if (path === "/console/setup") continue;
        await page
          .getByText(/No response/)
          .first()
          .waitFor();
        expect(await page.getByText("Up to date").count()).toBe(0);
        expect(await page.locator(".card.old").count()).toBeGreaterThan(0);
      }
    } finally {
      process.kill(node.pid, "SIGCONT");
    }
    // The request that is under way is given up.
    await pass(LIMIT_MS);
    await pass(RETRY_MS);
    for (const { page, said } of pages) {
      // What asks less often, or had no response from a busy machine, asks again with its next interval.
      const old = page.locator(".card.old").first();
      const isFresh = () =>
        old.waitFor({ state: "detached", timeout: FRESH_WITHIN_MS }).then(
          () => true,
          () => false,
        );
      while (!(await isFresh())) await page.clock.fastForward(INTERVAL_MS);
      await said.waitFor();
    }
  },
  120_000,
);
