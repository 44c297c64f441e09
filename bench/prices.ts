import { Database } from "bun:sqlite";
import { OPERATIONS } from "../src/api/operations.ts";
import { indexPath } from "../src/db/index/database.ts";
import { seededRandom } from "../src/demo/random.ts";
import { leastCpuUsOfEach, REQUESTS, startInProcess } from "./in-process.ts";
import type { Figure } from "./main.ts";
import { benchNetwork } from "./network.ts";
import { UNUSED } from "./wrk.ts";

const BATCHES = Number(process.env.BENCH_BATCHES ?? 10);
/** CPU time of one unit, in microseconds. */
const UNIT_US = 50;
const MOST_FOLLOWED = 300;
/** A page of 25 rows or ids. */
const ASKED = { rows: () => 25, items: () => 25, query: () => ({}) };

type PathOf = (fid: () => number, hash: () => string) => string;

const listOf = (next: () => number | string) => Array.from({ length: 25 }, next).join(",");

/** Reads of every price, each with its most common parameters. */
const READS: readonly (readonly [route: string, path: PathOf])[] = [
  ["/user", (fid) => `/user?fid=${fid()}`],
  ["/cast", (_, hash) => `/cast?identifier=${hash()}&type=hash`],
  ["/user/storage-usage", (fid) => `/user/storage-usage?fid=${fid()}`],
  ["/user/bulk", (fid) => `/user/bulk?fids=${listOf(fid)}`],
  ["/user/followers", (fid) => `/user/followers?fid=${fid()}&limit=25`],
  ["/user/following", (fid) => `/user/following?fid=${fid()}&limit=25`],
  ["/channel/all", () => "/channel/all?limit=25"],
  ["/reaction/cast", (_, hash) => `/reaction/cast?hash=${hash()}&types=likes&limit=25`],
  ["/cast/bulk", (_, hash) => `/cast/bulk?hashes=${listOf(hash)}`],
  ["/feed/following", (fid) => `/feed/following?fid=${fid()}&limit=25`],
  ["/feed/user/casts", (fid) => `/feed/user/casts?fid=${fid()}&limit=25`],
  ["/feed/trending", () => "/feed/trending?limit=25"],
  ["/reaction/user", (fid) => `/reaction/user?fid=${fid()}&type=likes&limit=25`],
  ["/notifications", (fid) => `/notifications?fid=${fid()}&limit=25`],
  ["/cast/search", () => "/cast/search?q=light&limit=25"],
  ["/user/search", () => "/user/search?q=ma&limit=25"],
  ["/cast/conversation", (_, hash) => `/cast/conversation?identifier=${hash()}&type=hash`],
  ["/following/suggested", (fid) => `/following/suggested?fid=${fid()}&limit=25`],
];

/**
 * Measures the CPU time of reads together with the units that a caller is charged for them. Each URL is requested once, so
 * the response cache never has the response.
 */
export async function benchPrices(): Promise<Figure[]> {
  const { dataDir } = benchNetwork(Number(process.env.BENCH_MESSAGES ?? 100_000), "detailed");
  const { fids, hashes } = samplesOf(dataDir);
  await using server = await startInProcess(dataDir);
  const figures: Figure[] = [];
  for (const [route, path] of READS) {
    const random = seededRandom(route);
    const paths = Array.from({ length: REQUESTS }, () =>
      path(
        () => random.pick(fids),
        () => random.pick(hashes),
      ),
    );
    let at = 0;
    const send = () => {
      const url = `http://localhost:1/v2/svc${paths[at % REQUESTS]}${UNUSED}${at++}`;
      return server.handle(new Request(url));
    };
    const { status } = await send();
    if (status !== 200) throw new Error(`${route} returned ${status}`);
    const [us = 0] = await leastCpuUsOfEach(BATCHES, [send]);
    const units = OPERATIONS.find(({ path }) => path === route)?.price?.(ASKED) ?? 1;
    const ratio = { of: `${units} units of ${UNIT_US} us`, value: us / (units * UNIT_US) };
    figures.push({ what: route, value: us, unit: "us of CPU per request", ratio });
  }
  return figures;
}

/** Returns people and casts with many related objects. */
function samplesOf(dataDir: string): { fids: number[]; hashes: string[] } {
  using db = new Database(indexPath(dataDir), { readonly: true });
  const fids = db
    .query<{ fid: number }, [number]>("SELECT fid FROM follow_counts ORDER BY followers DESC LIMIT ?")
    .all(MOST_FOLLOWED)
    .map(({ fid }) => fid);
  const hashes = db
    .query<{ hash: Uint8Array }, [number]>("SELECT hash FROM casts ORDER BY id DESC LIMIT ?")
    .all(MOST_FOLLOWED)
    .map(({ hash }) => `0x${Buffer.from(hash).toString("hex")}`);
  return { fids, hashes };
}
