import { afterAll, beforeAll, describe, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDemoNode } from "../support/demo-node.ts";
import { consoleTest } from "./support/console-test.ts";
import { settled } from "./support/page.ts";
import { HAS_BROWSER } from "./support/shared.ts";

const OFF = [
  "console.manage=false",
  "console.operator=false",
  "http.anonymous=false",
  "stream.enabled=false",
];
const GONE = ["/console/manage", "/console/manage/webhooks/new", "/console/operator", "/console/stream"];
const dataDir = mkdtempSync(join(tmpdir(), "svc-switched-off-"));
let node: Awaited<ReturnType<typeof startDemoNode>>;

beforeAll(async () => {
  if (!HAS_BROWSER) return;
  node = await startDemoNode({ dataDir, args: OFF.flatMap((setting) => ["--set", setting]) });
});
afterAll(async () => {
  await node?.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

describe("a node that serves only some of the console", () => {
  consoleTest("has no page of an owner, the operator or the stream, and links to none", async (open) => {
    const { page, goto } = await open({ origin: node.url, expects: [/status of 404/] });
    const streams: string[] = [];
    page.on("request", (request) => {
      if (request.resourceType() === "eventsource") streams.push(request.url());
    });
    for (const path of GONE) {
      const response = await goto(path);
      expect([path, response?.status(), await page.locator("h1").textContent()]).toEqual([
        path,
        404,
        "Page not found",
      ]);
      expect(await page.locator('nav [aria-current="page"]').count()).toBe(0);
    }
    await goto("/");
    await page.getByText("Reading them takes an API key.").waitFor();
    expect(await page.getByText(/Browse them/).count()).toBe(0);
    expect(await page.getByText(/sign in as a demo person/).count()).toBe(0);
    const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
    expect(await links.allInnerTexts()).toEqual(["Explore", "Status", "API"]);
    await page.getByRole("heading", { name: "Trending now" }).waitFor();
    expect(await page.getByRole("heading", { name: "Live" }).count()).toBe(0);
    expect(streams).toEqual([]);
  });

  consoleTest("requires an API key once, and then reads everything that it was refused", async (open) => {
    const { page, goto } = await open({ origin: node.url });
    await page.route("**/v2/**", async (route) => {
      // Any key will do: the test is about what the page asks again.
      const hasKey = route.request().headers()["x-api-key"] === "pasted";
      await (hasKey
        ? route.fulfill({ json: { channels: [], casts: [], next: { cursor: null } } })
        : route.continue());
    });
    await goto("/console");
    await settled(page);
    expect(await page.getByText("a valid API key is required").count()).toBeGreaterThan(1);
    await page.getByLabel(/This node requires an API key/).fill("wrong");
    await page.getByRole("button", { name: "Use it" }).click();
    await page.getByLabel(/The node refused this API key/).fill("pasted");
    await page.getByRole("button", { name: "Use it" }).click();
    await page.getByText("a valid API key is required").first().waitFor({ state: "detached" });
    await page.waitForFunction(() => !document.body.textContent?.includes("a valid API key is required"));
  });
});

describe("a browser without a clipboard, as over plain http", () => {
  consoleTest("still copies, or says that it did not", async (open) => {
    const { page, context, goto } = await open();
    await page.addInitScript(() =>
      Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true }),
    );
    await goto("/console/channels");
    const copy = page.locator("[data-copy]").first();
    await copy.click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const other = await context.newPage();
    await other.goto(page.url());
    expect(await other.evaluate(() => navigator.clipboard.readText())).toMatch(/^curl .*channel\/all/);

    await page.evaluate(() => Object.assign(document, { execCommand: () => false }));
    await page.getByRole("button", { name: "Copy", exact: true }).first().click();
    await page.getByRole("button", { name: "Not copied" }).waitFor();
  });
});

describe("a narrow window", () => {
  consoleTest("shows all of the navigation, and channels whose name is a URL in one line", async (open) => {
    const { page, goto } = await open({ width: 390 });
    await goto("/console/channels");
    const api = await page
      .getByRole("navigation", { name: "Main" })
      .getByRole("link", { name: "API" })
      .boundingBox();
    expect((api?.x ?? 999) + (api?.width ?? 0)).toBeLessThanOrEqual(390);
    const name = page.locator('[data-id^="chain://"] .name');
    expect(await name.textContent()).toStartWith("chain://");
    expect((await name.boundingBox())?.height).toBeLessThan(30);
  });
});
