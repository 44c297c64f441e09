import { expect } from "bun:test";
import { join } from "node:path";
import { importSignerOfPerson, postAsPerson } from "../support/demo-calls.ts";
import { consoleTest } from "./support/console-test.ts";
import type { ConsolePage } from "./support/page.ts";
import { sharedNode } from "./support/shared.ts";

const index = Bun.file(join(import.meta.dir, "../../examples/feed-page/index.html"));
const AUTHOR = 29;
const OWNER = 30;

/** Opens the example on an origin of its own, as from any web server, over the demo node of the process. */
async function openFeed(
  open: (options: { origin: string; trustedTypes: boolean; expects: RegExp[] }) => Promise<ConsolePage>,
  body: (shown: ConsolePage, origin: string, node: string) => Promise<void>,
): Promise<void> {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(index) });
  try {
    const origin = `http://127.0.0.1:${server.port}`;
    const shown = await open({
      origin,
      // To enforce them the test would respond in the place of the server, and then the page may not read from this machine.
      trustedTypes: false,
      // The node has another origin than the page. A response that fails is one of this test.
      expects: [/^request to http:/, /Failed to load resource/],
    });
    // A list of permissions denies all others, and one of them lets a page read from this machine.
    await shown.context.clearPermissions();
    await body(shown, origin, await sharedNode());
  } finally {
    await server.stop(true);
  }
}

consoleTest(
  "examples/feed-page reads a feed page by page, each cast once, and shows a new cast as text when it happens",
  (open) =>
    openFeed(open, async ({ page }, origin, node) => {
      await page.goto(`${origin}/?node=${node}`);
      const casts = page.locator("#casts > li");
      await casts.nth(9).waitFor();
      await page.getByRole("button", { name: "More" }).click();
      await casts.nth(10).waitFor();
      const hashes = await casts.evaluateAll((items) => items.map(({ id }) => id));
      expect(hashes.length).toBeGreaterThan(10);
      expect(hashes.filter((hash) => !/^0x[0-9a-f]{40}$/.test(hash))).toEqual([]);
      expect(new Set(hashes).size).toBe(hashes.length);
      expect(await page.locator("#status").textContent()).toBe("");

      await page.getByText("Live", { exact: true }).waitFor();
      const signer_uuid = await importSignerOfPerson({ url: node }, { user: AUTHOR, owner: OWNER });
      const { secret } = await postAsPerson({ url: node }, OWNER, "/api_key", {
        name: "bot",
        scopes: ["write"],
      });
      const text = "<img src=x onerror=alert(1)> & \u202Ehello";
      const embeds = [{ url: "https://bread.demo.example/a" }];
      const written = await fetch(`${node}/v2/farcaster/cast`, {
        method: "POST",
        headers: { "x-api-key": String(secret), "content-type": "application/json" },
        body: JSON.stringify({ signer_uuid, text, embeds }),
      });
      expect(written.status).toBe(200);
      await page.getByRole("button", { name: "Show 1 new cast" }).click();
      expect(await casts.first().locator(".text").textContent()).toBe(text);
      const writtenAt = (await casts.first().locator("time").getAttribute("datetime")) ?? "";
      expect(Math.abs(Date.parse(writtenAt) - Date.now())).toBeLessThan(600_000);
      expect(await page.locator("#casts img, #casts script").count()).toBe(0);
      const link = casts.first().getByRole("link", { name: "bread.demo.example" });
      expect(await link.getAttribute("rel")).toContain("noopener");
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    }),
);

consoleTest(
  "examples/feed-page says what is wrong when a node does not respond, and reads on retry",
  (open) =>
    openFeed(open, async ({ page }, origin, node) => {
      const feed = `${node}/v2/svc/feed/trending*`;
      await page.route(feed, (route) => route.fulfill({ status: 502, body: "<h1>Bad Gateway</h1>" }));
      await page.goto(`${origin}/?node=${node}`);
      await page.getByRole("alert").getByText("the node answered 502").waitFor();
      await page.unroute(feed);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.locator("#casts > li").nth(9).waitFor();
      expect(await page.locator("#status").textContent()).toBe("");
    }),
);
