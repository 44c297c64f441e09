import type { NeynarAPIClient } from "@neynar/nodejs-sdk";
import { createDemoPreviews } from "../../src/previews/demo-previews.ts";
import { startTestApi, type TestApi } from "./api.ts";
import { demoIndex } from "./demo-index.ts";

/** What tests of examples/cast-cards share. */

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

/** The demo network with scores and with the previews of its own pages. */
export const startCardsApi = async (): Promise<TestApi> =>
  startTestApi({
    compatPrefixes: ["farcaster"],
    index: await demoIndex(),
    previews: { source },
    scores: { mode: "computed", unknown: 0.25, foldBelow: 0.2, enforced: new Set() },
  });

type Cast = Awaited<ReturnType<NeynarAPIClient["fetchFeed"]>>["casts"][number];

/** The fields that the reference of the hosted API has for a cast, with the facts of one of this node. */
export function documentedCast(cast: Cast, score: number) {
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
