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
