import { expect } from "bun:test";
import { startTestApi } from "../support/api.ts";
import { consoleTest } from "./support/console-test.ts";

consoleTest("the API page shows one surface at a time, with its aliases", async (open) => {
  await using api = await startTestApi({ compatPrefixes: ["farcaster"] });
  const { page } = await open({ origin: api.url, trustedTypes: false });
  const opened = async (path: string) => {
    await page.goto(`${api.url}${path}`);
    await page.locator(".opblock-tag").first().waitFor();
    return page.locator(".opblock-tag").allTextContents();
  };
  const native = await opened("/docs");
  expect(native.join()).toContain("Follows");
  expect(native.join()).not.toContain("farcaster");
  expect(await page.locator("nav a").allTextContents()).toEqual([
    "Svc API /v2/svc",
    "Neynar-compatible API /v2/farcaster",
    "Hub API /v1",
  ]);
  await page.locator('[data-tag="Follows"]').click();
  await page.getByText("The same as /v2/svc/user/followers (getFollowers)").first().waitFor();

  await page.getByRole("link", { name: "Neynar-compatible API" }).click();
  await page.locator('[data-tag="Feeds"]').click();
  await page.locator('[data-path="/v2/farcaster/feed/following"]').waitFor();
  expect(await page.locator('[data-path^="/v2/svc"]').count()).toBe(0);
  expect(await page.locator("nav a[aria-current]").textContent()).toContain("Neynar");
  expect(await opened("/docs?api=v1")).toHaveLength(1);
});

consoleTest(
  "the API page is dark in a dark browser, fits a phone, and leads back to the console",
  async (open) => {
    const { page, goto } = await open({ theme: "dark", width: 390, trustedTypes: false });
    await goto("/docs");
    await page.locator('[data-tag="Webhooks"]').waitFor();
    const ground = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    expect(ground).toBe("rgb(28, 32, 34)");
    const ids = page.locator(".opblock-summary-operation-id");
    await ids.first().waitFor();
    const lines = await ids.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
    expect(Math.max(...lines)).toBeLessThan(32);
    await page.getByRole("link", { name: "Console" }).click();
    await page.waitForURL(/\/console$/);
  },
);
