import { afterAll, beforeAll, expect, test } from "bun:test";
import { Configuration, NeynarAPIClient } from "@neynar/nodejs-sdk";
import { cardHtml, pageHtml } from "../../examples/cast-cards/cards.ts";
import type { TestApi } from "../support/api.ts";
import { documentedCast, startCardsApi } from "../support/cast-cards.ts";

/** examples/cast-cards over the demo network, and over a cast as the hosted API documents it. */

let api: TestApi;
let client: NeynarAPIClient;
beforeAll(async () => {
  api = await startCardsApi();
  client = new NeynarAPIClient(new Configuration({ apiKey: "none", basePath: api.url }));
});
afterAll(() => api[Symbol.asyncDispose]());

const castsOf = async (fids: string, viewerFid: number) =>
  (
    await client.fetchFeed({
      feedType: "filter",
      filterType: "fids",
      fids: fids.split(",").map(Number),
      viewerFid,
      limit: 100,
    })
  ).casts;

test("a cast with a link gives the same card as one in the documented shape, by its score", async () => {
  const everyone = Array.from({ length: 40 }, (_, at) => at + 2).join(",");
  const casts = await castsOf(everyone, 16);
  const linked = casts.filter(({ embeds }) =>
    embeds.some((one) => "url" in one && one.url.includes("/read/")),
  );
  expect(linked.length).toBeGreaterThan(0);
  for (const cast of linked) {
    const card = cardHtml(cast);
    expect(card).toBe(cardHtml(documentedCast(cast, 0.25)));
    expect(card).toContain('class="cast low"');
    expect(card).toContain('<a class="page" href="https://demo.example/read/');
    expect(card).not.toBe(cardHtml(documentedCast(cast, 0.9)));
  }
});

test("a picture has its size", async () => {
  const casts = await castsOf(Array.from({ length: 60 }, (_, at) => at + 2).join(","), 16);
  const pictures = casts.filter(({ embeds }) =>
    embeds.some((one) => "url" in one && one.url.includes("/pictures/")),
  );
  expect(pictures.length).toBeGreaterThan(0);
  for (const cast of pictures) expect(cardHtml(cast)).toContain('width="1200" height="800"');
});

test("people blocked by the viewer are not on the page, whether the node or the app hides them", async () => {
  expect(pageHtml(await castsOf("60", 16))).toContain("Nothing to show");
  const shown = (await castsOf("60", 2)).find(({ author }) => author.fid === 60);
  if (!shown) throw new Error("no cast");
  expect(cardHtml(shown)).not.toBe("");
  const { casts } = (await client.fetchBulkCasts({ casts: [shown.hash], viewerFid: 16 })).result;
  expect(casts.map(cardHtml)).toEqual([""]);
});

test("hostile texts and URLs become text", () => {
  const html = cardHtml({
    hash: "0x",
    text: "<script>alert(1)</script>",
    author: { username: '"><img src=x>' },
    embeds: [
      { url: "javascript:alert(1)" },
      { url: 'https://x.example/"onload=', metadata: { html: { ogTitle: "<b>" } } },
    ],
  });
  expect(html).not.toMatch(/<script|<img|javascript:|"onload/);
});
