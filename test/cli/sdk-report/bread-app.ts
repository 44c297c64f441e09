/** The files of a made-up app that calls the hosted API in many ways, by their paths. */
export const BREAD_APP: Readonly<Record<string, string>> = {
  "package.json": `{ "name": "bread", "dependencies": { "@neynar/nodejs-sdk": "^3.100.0", "axios": "1" } }
`,
  ".env": `NEYNAR_API_KEY=SECRET-VALUE-1234
NEYNAR_WEBHOOK_SECRET=abc
`,
  "src/lib/neynar.ts": `import { Configuration, NeynarAPIClient } from "@neynar/nodejs-sdk";
// client.fetchTrendingFeed() in a comment does not count
export const neynarClient = new NeynarAPIClient(
  new Configuration({ apiKey: process.env.NEYNAR_API_KEY! }),
);
export function getClient(): NeynarAPIClient {
  return neynarClient;
}
`,
  "src/feed.ts": `import { getClient, neynarClient } from "./lib/neynar";
export async function feed(fid: number) {
  const { casts } = await neynarClient
    .fetchUserFollowingFeed({ fid, limit: 25 });
  const users = await getClient().fetchBulkUsers({ fids: [fid] });
  const more = await (await getClient()).lookupUserByUsername({ username: "a" });
  return { casts, users, more, subs: await neynarClient.fetchSubscribersForFid({ fid }) };
}
`,
  "src/bot.ts": `import { neynarClient as bot } from "./lib/neynar";
import { build } from "esbuild";
const client = bot;
export class Bot {
  publishCast(text: string) { return client.publishCast({ signerUuid: process.env.SIGNER!, text }); }
  run() { this.publishCast("x"); service.followUser(3); }
  mute() { return client.publishMute({ fid: 1, mutedFid: 2 }); }
  nft() { return client.deployErc721({} as never); }
  studio() { viteServer.build(); client.build({} as never); }
  old() { return client.lookupUserByFid(3); }
}
`,
  "src/lib/http.ts": `const BASE_URL = process.env.API_URL ?? "https://api.neynar.com/v2/farcaster";
export async function neynarGet<T>(path: string): Promise<T> {
  const res = await fetch(\`\${BASE_URL}\${path}\`, { headers: { "x-api-key": process.env.NEYNAR_API_KEY! } });
  return (await res.json()) as T;
}
export const popular = (fid: number) => neynarGet<{ casts: unknown[] }>(\`/feed/user/popular?fid=\${fid}\`);
export async function like(hash: string) {
  return fetch(\`\${BASE_URL}/reaction\`, {
    method: "POST",
    headers: { "x-api-key": "k" },
    body: JSON.stringify({ reaction_type: "like", target: hash }),
  });
}
export const any = (kind: string) => fetch("https://api.neynar.com/v2/farcaster/user/" + kind);
`,
  "app/api/hook/route.ts": `import { createHmac } from "crypto";
import { neynarGet } from "../../../src/lib/http";
import axios from "axios";
export async function POST(req: Request) {
  const sig = req.headers.get("X-Neynar-Signature");
  const c = await neynarGet("/cast/conversation?identifier=0x1&type=hash");
  const url = \`https://api.neynar.com/v2/farcaster/webhook\`;
  await fetch(url, { method: "DELETE", body: "{}" });
  await axios.post("https://api.neynar.com/v2/farcaster/frame/notifications", {});
  return Response.json({ sig, c });
}
`,
  "scripts/stats.py": `import os, requests
# https://api.neynar.com/v2/farcaster/feed/trending
API = "https://api.neynar.com/v2/farcaster"
def user(fid):
    return requests.get(f"{API}/user/bulk?fids={fid}", headers={"x-api-key": os.environ["NEYNAR_API_KEY"]}).json()
def send(text):
    return requests.post(f"{API}/cast", json={"text": text})
def old():
    return requests.get("https://api.neynar.com/v1/farcaster/user?fid=3")
`,
  "go/main.go": `package main
import "net/http"
const base = "https://api.neynar.com"
func main() {
	req, _ := http.NewRequest("POST", base+"/v2/farcaster/user/follow", nil)
	req.Header.Set("x-api-key", "k")
	http.Get("https://hub-api.neynar.com/v1/castsByFid?fid=3")
	_ = req
}
`,
  "scripts/run.sh": `curl -X POST "https://api.neynar.com/v2/farcaster/storage/buy" -H "x-api-key: $NEYNAR_API_KEY"
curl "https://api.neynar.com/v2/farcaster/nothing/here"
`,
  "public/.well-known/farcaster.json": `{ "frame": { "webhookUrl": "https://api.neynar.com/f/app/123/event" } }
`,
};
