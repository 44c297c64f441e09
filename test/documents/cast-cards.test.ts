import { afterAll, beforeAll, expect, test } from "bun:test";
import { Configuration, NeynarAPIClient } from "@neynar/nodejs-sdk";
import { cardHtml, pageHtml } from "../../examples/cast-cards/cards.ts";
import { createDemoPreviews } from "../../src/previews/demo-previews.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { demoIndex } from "../support/demo-index.ts";

/** examples/cast-cards over the demo network, and over a cast as the hosted API documents it. */

const previewOf = createDemoPreviews();
const source = {
  of: (urls: Iterable<string>) =>
    new Map(
      [...urls].flatMap((url) => {
        const metadata = previewOf(url);
        return metadata ? [[url, metadata] as const] : [];
      }),
    ),
};

let api: TestApi;
let client: NeynarAPIClient;
beforeAll(async () => {
  api = await startTestApi({
    compatPrefixes: ["farcaster"],
    index: await demoIndex(),
    previews: { source },
    scores: { mode: "computed", unknown: 0.25, foldBelow: 0.2, enforced: new Set() },
  });
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

/** The fields that the reference of the hosted API has for a cast, with the facts of one of this node. */
function documented(cast: Awaited<ReturnType<typeof castsOf>>[number], score: number) {
  const [embed] = cast.embeds;
  if (!embed || !("url" in embed)) throw new Error("no URL");
  return {
    object: "cast",
    hash: cast.hash,
    parent_hash: null,
    parent_url: cast.parent_url,
    root_parent_url: cast.root_parent_url,
    parent_author: { fid: null },
    author: {
      object: "user",
      fid: cast.author.fid,
      username: cast.author.username,
      display_name: cast.author.display_name ?? null,
      pfp_url: cast.author.pfp_url,
      follower_count: 0,
      following_count: 0,
      score,
      experimental: { neynar_user_score: score, deprecation_notice: "…" },
      viewer_context: { following: true, followed_by: false, blocking: false, blocked_by: false },
    },
    text: cast.text,
    timestamp: cast.timestamp,
    embeds: [
      {
        url: embed.url,
        metadata: {
          _status: "RESOLVED",
          content_type: "text/html",
          content_length: 1234,
          html: {
            favicon: "https://demo.example/favicon.ico",
            ogTitle: embed.metadata?.html?.ogTitle ?? "missing",
            ogDescription: embed.metadata?.html?.ogDescription ?? "missing",
            ogImage: [{ url: "https://demo.example/x.jpg", height: "800", width: "1200", type: "jpg" }],
            oembed: { type: "link", version: "1.0", title: "x" },
          },
        },
      },
    ],
    reactions: { likes_count: 1, recasts_count: 1, likes: [], recasts: [] },
    replies: { count: 0 },
  };
}

test("a cast with a link gives the same card as one in the documented shape, by its score", async () => {
  const everyone = Array.from({ length: 40 }, (_, at) => at + 2).join(",");
  const casts = await castsOf(everyone, 16);
  const linked = casts.filter(({ embeds }) =>
    embeds.some((one) => "url" in one && one.url.includes("/read/")),
  );
  expect(linked.length).toBeGreaterThan(0);
  for (const cast of linked) {
    const card = cardHtml(cast);
    expect(card).toBe(cardHtml(documented(cast, 0.25)));
    expect(card).toContain('class="cast low"');
    expect(card).toContain('<a class="page" href="https://demo.example/read/');
    expect(card).not.toBe(cardHtml(documented(cast, 0.9)));
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

test("people whom the viewer blocks are not on the page, by the node and by the app", async () => {
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
