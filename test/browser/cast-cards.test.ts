import { afterAll, beforeAll, expect } from "bun:test";
import { Configuration, NeynarAPIClient } from "@neynar/nodejs-sdk";
import { cardHtml, pageHtml } from "../../examples/cast-cards/cards.ts";
import type { TestApi } from "../support/api.ts";
import { documentedCast, startCardsApi } from "../support/cast-cards.ts";
import { consoleTest } from "./support/console-test.ts";
import { HAS_BROWSER } from "./support/shared.ts";

/** examples/cast-cards in a browser: casts of the demo network, and the same casts as the hosted API documents them. */

const VIEWER = 16;
const BLOCKED = 60;
const everyone = [...Array.from({ length: 40 }, (_, at) => at + 2), BLOCKED];

let api: TestApi;
beforeAll(async () => {
  if (HAS_BROWSER) api = await startCardsApi();
}, 120_000);
afterAll(() => api?.[Symbol.asyncDispose]());

consoleTest(
  "an app that branches on score, blocks and previews shows the same screen as with the hosted API",
  async (open) => {
    const client = new NeynarAPIClient(new Configuration({ apiKey: "none", basePath: api.url }));
    const castsFor = async (viewerFid: number) => {
      const request = {
        feedType: "filter",
        filterType: "fids",
        fids: everyone,
        viewerFid,
        limit: 100,
      } as const;
      const { casts } = await client.fetchFeed(request);
      // Pictures are on hosts that no test calls.
      return casts.filter(({ embeds }) => embeds.some((one) => "url" in one && one.url.includes("/read/")));
    };
    const casts = await castsFor(VIEWER);
    const [first, second] = casts;
    const [strange] = (await castsFor(2)).filter(({ author }) => author.fid === BLOCKED);
    if (!first || !second) throw new Error("too few casts");
    // Where the hosted API shows a blocked author, it marks the cast; this node leaves it out.
    const hidden = documentedCast(strange ?? first, 0.9);
    const blocked = {
      ...hidden,
      author: { ...hidden.author, viewer_context: { ...hidden.author.viewer_context, blocking: true } },
    };
    // Of two scores, so that a screen shows both.
    const known = {
      ...first,
      author: { ...first.author, score: 0.9, experimental: { neynar_user_score: 0.9 } },
    };
    const pages: Record<string, string> = {
      "/node": pageHtml([known as typeof first, ...casts.slice(1)]),
      "/documented": pageHtml([
        documentedCast(first, 0.9),
        blocked,
        ...casts.slice(1).map((cast) => documentedCast(cast, 0.25)),
      ]),
      "/other-score": pageHtml(casts.map((cast) => documentedCast(cast, 0.9))),
    };
    await using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) =>
        new Response(pages[new URL(request.url).pathname] ?? "", {
          headers: { "content-type": "text/html" },
        }),
    });
    const { page, goto } = await open({ origin: `http://127.0.0.1:${server.port}`, trustedTypes: false });
    const screens: Record<string, string> = {};
    for (const path of Object.keys(pages)) {
      await goto(path);
      expect(await page.locator("article").count()).toBe(casts.length);
      screens[path] = (await page.screenshot({ fullPage: true })).toString("base64");
    }
    expect(await page.locator("a.page").count()).toBe(casts.length);
    expect(screens["/node"] === screens["/documented"]).toBe(true);
    expect(screens["/node"] === screens["/other-score"]).toBe(false);
    expect(casts.some(({ author }) => author.fid === BLOCKED)).toBe(false);
    expect(cardHtml(blocked)).toBe("");
  },
);
