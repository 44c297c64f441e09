import { compileInto, DIST, startNode } from "../test/support/program.ts";
import { type Draw, drawFrom } from "./draw.ts";
import type { Figure } from "./main.ts";
import { benchNetwork } from "./network.ts";
import { UNUSED } from "./wrk.ts";

const REQUESTS = 300;
const WARM_UP = 20;

/**
 * Every read of the index, with a request of typical size. The body of a POST follows the path after a space. Each GET has a
 * query string, so that a parameter can be appended.
 */
export const READS: readonly [name: string, path: (draw: Draw) => string][] = [
  ["/user", (d) => `/user?fid=${d.fid()}`],
  ["/user/bulk of 25", (d) => `/user/bulk?fids=${d.fids(25)}`],
  ["/user/by-username", (d) => `/user/by-username?username=user${d.fid()}`],
  ["/user/custody-address", (d) => `/user/custody-address?custody_address=${d.custody()}`],
  ["/user/verifications", (d) => `/user/verifications?fid=${d.fid()}`],
  ["/user/bulk-by-address of 2", (d) => `/user/bulk-by-address?addresses=${d.custody()},${d.custody()}`],
  ["/user/by_location", (d) => `/user/by_location?location=geo:${d.fid() % 90}&limit=25`],
  ["/user/memberships/list of 25", (d) => `/user/memberships/list?fid=${d.fid()}&limit=25`],
  ["/user/search, 5 letters", (d) => `/user/search?q=user${d.fid() % 10}&limit=25`],
  ["/user/fid", () => "/user/fid?limit=100"],
  ["/user/best_friends", (d) => `/user/best_friends?fid=${d.fid()}&limit=25`],
  ["/user/interactions", (d) => `/user/interactions?fid=${d.fid()}&target_fid=${d.fid()}`],
  ["/user/storage-usage", (d) => `/user/storage-usage?fid=${d.fid()}`],
  ["/user/storage-allocations", (d) => `/user/storage-allocations?fid=${d.fid()}`],
  ["/followers of 25", (d) => `/followers?fid=${d.fid()}&limit=25`],
  ["/following of 25", (d) => `/following?fid=${d.fid()}&limit=25`],
  ["/followers/reciprocal of 25", (d) => `/followers/reciprocal?fid=${d.fid()}&limit=25`],
  ["/following/suggested, follows 1,000", (d) => `/following/suggested?fid=${d.heavyFid}&limit=25`],
  ["/cast", (d) => `/cast?identifier=${d.hash()}`],
  ["/cast/bulk of 25", (d) => `/cast/bulk?hashes=${d.hashes(25)}`],
  ["/cast/search, one word", () => "/cast/search?q=bread&limit=25"],
  ["/cast/search, three words", (d) => `/cast/search?q=bread+river+${d.fid()}&limit=25`],
  [
    "/cast/conversation of 100",
    (d) => `/cast/conversation?identifier=${d.longThread()}&type=hash&reply_depth=5`,
  ],
  ["/cast/quotes", (d) => `/cast/quotes?identifier=${d.busyHash()}`],
  ["/feed/following, follows 1,000", (d) => `/feed/following?fid=${d.heavyFid}&limit=25`],
  ["/feed/following, others", (d) => `/feed/following?fid=${d.fid()}&limit=25`],
  ["/feed/trending of 25", () => "/feed/trending?limit=25"],
  ["/feed/channels of 25", (d) => `/feed/channels?channel_ids=${d.channel()}&limit=25`],
  [
    "/feed/parent_urls of 25",
    (d) => `/feed/parent_urls?parent_urls=https://farcaster.xyz/~/channel/${d.channel()}&limit=25`,
  ],
  ["/feed/user/casts of 25", (d) => `/feed/user/casts?fid=${d.fid()}&limit=25`],
  ["/feed/user/popular", (d) => `/feed/user/popular?fid=${d.fid()}`],
  ["/feed/user/replies_and_recasts of 25", (d) => `/feed/user/replies_and_recasts?fid=${d.fid()}&limit=25`],
  ["/reaction/cast of 25", (d) => `/reaction/cast?hash=${d.busyHash()}&limit=25`],
  ["/reaction/user of 25", (d) => `/reaction/user?fid=${d.fid()}&limit=25`],
  ["/channel", (d) => `/channel?id=${d.channel()}`],
  ["/channel/all of 25", () => "/channel/all?limit=25"],
  ["/channel/search", () => "/channel/search?q=bench1&limit=25"],
  ["/channel/trending of 25", () => "/channel/trending?limit=25"],
  ["/channel/members of 25", (d) => `/channel/members?channel_id=${d.channel()}&limit=25`],
  ["/channel/user-active of 25", (d) => `/channel/user-active?fid=${d.fid()}&limit=25`],
  ["/notifications of 25", (d) => `/notifications?fid=${d.fid()}&limit=25`],
  ["/notifications, the most followed", (d) => `/notifications?fid=${d.heavyFid}&limit=25`],
  [
    "/notifications/channel of 25",
    (d) => `/notifications/channel?fid=${d.heavyFid}&channel_ids=${d.channel()}&limit=25`,
  ],
  [
    "/notifications/parent_url of 25",
    (d) =>
      `/notifications/parent_url?fid=${d.heavyFid}&parent_urls=https://farcaster.xyz/~/channel/${d.channel()}&limit=25`,
  ],
  ["/channel/bulk of 10", (d) => `/channel/bulk?ids=${Array.from({ length: 10 }, d.channel).join(",")}`],
  ["/mute/list", (d) => `/mute/list?fid=${d.fid()}`],
  ["/signer", (d) => `/signer?fid=${d.fid()}`],
  ["/onchain/id_registry_event", (d) => `/onchain/id_registry_event?fid=${d.fid()}`],
  ["/block/list", (d) => `/block/list?fid=${d.fid()}`],
  ["/fname/availability", (d) => `/fname/availability?fname=user${d.fid()}`],
  ["/username-proof", (d) => `/username-proof?username=user${d.fid()}`],
  ["/batch/following of 10", (d) => `/batch/following {"fids":[${d.fids(10)}]}`],
  ["/batch/reactions of 10", (d) => `/batch/reactions {"fids":[${d.fids(10)}]}`],
  ["/batch/cast-interactions of 10", (d) => `/batch/cast-interactions {"fids":[${d.fids(10)}]}`],
  ["/batch/signers of 10", (d) => `/batch/signers {"fids":[${d.fids(10)}]}`],
  ["/batch/id-registrations of 10", (d) => `/batch/id-registrations {"fids":[${d.fids(10)}]}`],
];

/** Measures median and p99 of sequential requests to the compiled binary, for every read. */
export async function benchReads(): Promise<Figure[]> {
  const network = benchNetwork(Number(process.env.BENCH_MESSAGES ?? 2_000_000));
  const node = await startNode({ command: [await compileInto(DIST)], dataDir: network.dataDir });
  const draw = drawFrom(network);
  const figures: Figure[] = [];
  for (const [name, path] of READS) {
    const times: number[] = [];
    for (let n = 0; n < REQUESTS + WARM_UP; n++) {
      const timeMs = await timeOf(node.url, distinctRequest(path(draw)));
      if (n >= WARM_UP) times.push(timeMs);
    }
    times.sort((a, b) => a - b);
    figures.push({ what: `${name}, median`, value: times[REQUESTS >> 1] ?? 0, unit: "ms" });
    figures.push({ what: `${name}, p99`, value: times[Math.floor(REQUESTS * 0.99)] ?? 0, unit: "ms" });
  }
  await node.stop();
  return figures;
}

let requestCount = 0;

/** Returns the request with an ignored parameter that makes it distinct, so that the response cache cannot serve it. */
export function distinctRequest(request: string): string {
  requestCount += 1;
  return request.includes(" ") ? request : `${request}${UNUSED}${requestCount}`;
}

/** Returns the milliseconds until the response to one request has been read in full. */
export async function timeOf(origin: string, request: string): Promise<number> {
  const [target, body] = request.split(" ");
  const startedAt = performance.now();
  const response = await fetch(
    `${origin}/v2/svc${target}`,
    body === undefined ? {} : { method: "POST", body },
  );
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${target} returned ${response.status}`);
  return performance.now() - startedAt;
}
