import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeRecords } from "../../src/import/write-records.ts";
import { run } from "../cli/run.ts";
import { demoChannelRecords, demoRecords } from "../demo/records.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { axeViolations } from "./support/axe.ts";
import { consoleTest } from "./support/console-test.ts";
import { HAS_BROWSER, sharedHub } from "./support/shared.ts";

/** The first run of a node in the browser (console-next 3). */

const MAX_FIRST_QUERY_MS = 90_000;

/** A port of the loopback address that was free a moment ago: the node must have the same one after its set-up. */
function freePort(): number {
  using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  return server.port ?? 0;
}

describe.skipIf(!HAS_BROWSER)("an empty node", () => {
  const dir = tempDir();
  const dataDir = join(dir.path, "data");
  let node: RunningNode;
  beforeAll(async () => {
    node = await startNode({
      command: ["sh", "-c", 'cd "$0" && exec "$@"', dir.path, ...compiledProgram],
      dataDir,
      // The demo network signs no blocks.
      args: ["--port", String(freePort()), "--set", "http.workers=1", "--set", "trust.level=node"],
    });
  }, 180_000);
  afterAll(async () => {
    await node?.[Symbol.asyncDispose]();
    dir[Symbol.dispose]();
  });

  consoleTest(
    "check 23: leads to its set-up, says nowhere that it is ready, and shows strangers no form",
    async (open) => {
      const { page, goto } = await open({ origin: node.url });
      await goto("/");
      await page.getByRole("link", { name: "Set it up in the browser" }).click();
      await page.getByRole("heading", { name: "This node is not set up yet" }).waitFor();
      expect(await page.getByText("Ready", { exact: true }).count()).toBe(0);
      expect(await page.locator("main input, main form").count()).toBe(0);
      expect(await axeViolations(page)).toEqual([]);
      for (const method of ["GET", "POST"]) {
        const body = JSON.stringify({ step: "apply", scope: { kind: "demo" }, urls: [] });
        const init =
          method === "GET" ? {} : { method, body, headers: { "content-type": "application/json" } };
        const response = await fetch(`${node.url}/console/op/setup`, init);
        expect([method, response.status]).toEqual([method, 401]);
      }
      expect(existsSync(join(dir.path, "svc.toml"))).toBe(false);
    },
  );

  consoleTest(
    "checks 24, 26: is set up from a link of svc console to a first query within 90 s, in one process, and once",
    async (open) => {
      const { page, goto } = await open({ origin: node.url, expects: [/ERR_CONNECTION|401|503/] });
      const printed = await run(["--data-dir", dataDir, "console"]);
      const link = printed.out.trim();
      expect(link).toStartWith(`${node.url}/console/setup#code=`);
      const startedMs = performance.now();
      await goto("/console/setup");
      await page.getByRole("heading", { name: "This node is not set up yet" }).waitFor();
      // In the same tab, as the page says: only the fragment changes.
      await goto(link.slice(node.url.length));
      await page.getByLabel("Node to follow").fill("nowhere:x");
      await page.getByRole("button", { name: "Test the node" }).click();
      await page.getByText("A host with its port.").waitFor();
      await page.getByLabel("Node to follow").fill(await sharedHub());
      await page.getByRole("button", { name: "Test the node" }).click();
      const tested = page.getByRole("list", { name: "Findings" }).getByText("followed node", { exact: true });
      await tested.waitFor();
      await page.getByLabel("These fids").check();
      expect(await page.locator('main [aria-invalid="true"]').count()).toBe(0);
      await page.getByLabel("Fids, separated by spaces or commas").fill("3 4 5");
      await page.getByRole("button", { name: "Estimate" }).click();
      await page.getByText(/messages of 3 fids/).waitFor();
      // What the test has found stays, until it is about another node.
      expect(await tested.count()).toBe(1);
      await page.getByLabel("Daily backup at (UTC)").fill("03:15");
      await page.getByRole("button", { name: "Check everything" }).click();
      await page.getByText("Name a directory first.").waitFor();
      await page.getByLabel("Directory of backups").fill(join(dir.path, "backups"));
      await page.getByRole("button", { name: "Check everything" }).click();
      const start = page.getByRole("button", { name: "Write and start" });
      await start.waitFor({ timeout: 60_000 });
      // From where the bar of the page covers half a button, its target is too small.
      await page.evaluate(() => scrollTo(0, 0));
      expect(await axeViolations(page)).toEqual([]);
      expect(existsSync(join(dir.path, "svc.toml"))).toBe(false);
      await start.click();
      const first = page.getByRole("link", { name: "Run a first query" });
      await first.waitFor({ timeout: MAX_FIRST_QUERY_MS });
      await first.click();
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.locator('section[aria-label="Response"] .pill.ok').waitFor();
      expect(performance.now() - startedMs).toBeLessThan(MAX_FIRST_QUERY_MS);
      expect(readFileSync(join(dir.path, "svc.toml"), "utf8")).toContain("fids = [3, 4, 5]");
      expect(readFileSync(join(dir.path, "svc.toml"), "utf8")).toContain('at = "03:15"');

      const again = await run(["--data-dir", dataDir, "console"]);
      expect(again.out).toStartWith(`${node.url}/console/operator#code=`);
      await goto(again.out.trim().slice(node.url.length));
      await goto("/console/setup");
      await page.getByText("This node is set up").first().waitFor();
      expect(await page.locator("main input").count()).toBe(0);
    },
    180_000,
  );

  consoleTest(
    "is found by words and restarted on the page of settings, which asks for a new link by itself",
    async (open) => {
      const { page, goto } = await open({ origin: node.url, expects: [/ERR_CONNECTION|401|503/] });
      await goto((await run(["--data-dir", dataDir, "console"])).out.trim().slice(node.url.length));
      await page.getByRole("heading", { name: "Threads" }).waitFor();
      await goto("/console/operator/settings");
      const found = page.getByLabel("Find a setting");
      const row = page.getByRole("row", { name: /http\.max_ids/ });
      // Nothing is said of a default that is the value.
      const host = page.getByRole("row", { name: /http\.host/ });
      expect(await host.getByRole("cell").first().textContent()).toBe("127.0.0.1");
      await found.fill("no such setting");
      await page.getByText("No setting has these words").waitFor();
      await found.fill("ids http max");
      await row.getByText("Meaning").click();
      const meaning = row.locator("details p").first();
      expect(await meaning.evaluate((element) => getComputedStyle(element).fontWeight)).toBe("400");
      await row.getByRole("button", { name: "Change" }).click();
      await page.getByLabel("New value of http.max_ids").fill("90");
      await page.getByRole("button", { name: "Save" }).click();
      await row.getByText(/350, at the next start 90/).waitFor();
      await page.getByRole("button", { name: "Restart the node" }).click();
      await page.getByRole("heading", { name: "This page is locked" }).waitFor({ timeout: 60_000 });
      // It is what was asked for, and no failure.
      await page.getByText("The node has started again, as you asked.").waitFor();
      expect(await page.getByText("It did not open").count()).toBe(0);
    },
    120_000,
  );
});

describe.skipIf(!HAS_BROWSER)("an empty node that may not write its settings file", () => {
  consoleTest(
    "imports a file from the page: estimate, checks, the settings in its data directory, and its data after the start",
    async (open) => {
      using dir = tempDir();
      const dataDir = join(dir.path, "data");
      const records = join(dir.path, "records");
      // Mainnet has no date for channels.
      await writeRecords(records, [...demoRecords().slice(0, 2_000), ...demoChannelRecords()]);
      const settings = join(dir.path, "svc.toml");
      writeFileSync(settings, "[service]\nready_when_empty = false\n");
      await using node = await startNode({
        command: compiledProgram,
        dataDir,
        args: ["--config", settings, "--port", String(freePort()), "--set", "http.workers=1"],
      });
      const { page, goto } = await open({ origin: node.url, expects: [/ERR_CONNECTION|401|503/] });
      await goto((await run(["--data-dir", dataDir, "console"])).out.trim().slice(node.url.length));
      await page.getByLabel("Import a file").check();
      await page.getByRole("button", { name: "Estimate" }).click();
      await page.getByText("A path such as /data/file.").waitFor();
      await page.getByLabel("File of records").fill(records);
      await page.getByRole("button", { name: "Estimate" }).click();
      await page.getByText(/messages of \d+ fids/).waitFor();
      await page.getByLabel("Public URL", { exact: true }).fill("https://node.example");
      await page.getByRole("button", { name: "Check everything" }).click();
      await page.getByText(/has a section \[service\] already/).waitFor({ timeout: 60_000 });
      await page.evaluate(() => scrollTo(0, 0));
      expect(await axeViolations(page)).toEqual([]);
      // A file that takes a moment: what the node says until it serves.
      let starting: object = { task: "importing", stage: null, share: 0.4, messages: 1 };
      await page.route("**/status", (route) => route.fulfill({ json: { starting } }));
      await page.route("**/console/api/pulse", (route) => route.fulfill({ status: 503, json: {} }));
      await page.getByRole("button", { name: "Write and start" }).click();
      const card = page.locator("main .card");
      for (const [said, words, pill] of [
        [{}, "It is importing the file: 40 %", "Importing"],
        [{ stage: "search", share: 0.05 }, "is building the index: 5 %", "Building"],
        [{ stage: null, share: null }, "is opening its index", "Starting"],
      ] as const) {
        starting = { ...starting, ...said };
        await card.getByText(words).waitFor();
        await card.getByText(pill, { exact: true }).waitFor();
        expect(await card.innerText()).not.toMatch(/up to date|Empty|No response| old/);
      }
      await page.unroute("**/status");
      await page.unroute("**/console/api/pulse");
      await page.getByRole("link", { name: "Run a first query" }).waitFor({ timeout: 60_000 });
      await card.getByText("The node is up to date.").waitFor({ timeout: 60_000 });
      await card.getByText(/^\d+ records of the file were refused:$/).waitFor();
      await card.getByText(/^\d+ × channels are not part of this network's protocol yet$/).waitFor();
      expect(await page.getByText("The node starts again").count()).toBe(0);
      expect(readFileSync(join(dataDir, "settings.toml"), "utf8")).toContain("https://node.example");
      expect(node.logs()).toContain("Imported the file");
      expect((await fetch(`${node.url}/v2/svc/user?fid=3`)).status).toBe(200);
    },
    180_000,
  );
});
