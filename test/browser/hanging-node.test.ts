import { expect } from "bun:test";
import { compiledProgram } from "../support/compiled-program.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { tempDir } from "../support/program.ts";
import { consoleTest } from "./support/console-test.ts";

/** How long a page may show what a node that hangs said last. */
const SILENT_MS = 15_000;

consoleTest(
  "check 28: 15 s after a node began to hang, no page says that it is ready",
  async (open) => {
    using dir = tempDir();
    const args = ["--set", "http.workers=1"];
    await using node = await startDemoNode({ dataDir: `${dir.path}/data`, command: compiledProgram, args });
    const pages = await Promise.all(
      ["/", "/console/status", "/console/setup"].map(async (path) => {
        const { page, goto } = await open({ origin: node.url, expects: [/ERR_CONNECTION/] });
        await goto(path);
        const ready = page.getByText("Ready", { exact: true });
        await ready.first().waitFor();
        return ready;
      }),
    );
    process.kill(node.pid, "SIGSTOP");
    try {
      await Promise.all(
        pages.map((ready) => ready.first().waitFor({ state: "detached", timeout: SILENT_MS })),
      );
    } finally {
      process.kill(node.pid, "SIGCONT");
    }
    for (const ready of pages) expect(await ready.count()).toBe(0);
  },
  120_000,
);
