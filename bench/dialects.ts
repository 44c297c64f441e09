import { Database } from "bun:sqlite";
import { indexPath } from "../src/db/index/database.ts";
import { seededRandom } from "../src/demo/random.ts";
import { leastCpuUsOfEach, REQUESTS, startInProcess } from "./in-process.ts";
import type { Figure } from "./main.ts";
import { benchNetwork, demoBenchNetwork } from "./network.ts";
import { UNUSED } from "./wrk.ts";

const BATCHES = Number(process.env.BENCH_BATCHES ?? 20);
const MAX_RATIO = 1.2;
/** Requests are drawn from this many of the most followed users. */
const USERS = 300;

interface DialectRead {
  readonly name: string;
  readonly path: (fid: () => number) => string;
  /** Parameters that make the compat dialect list the same casts. */
  readonly sameCasts?: string;
}

const fidsOf = (fid: () => number) => Array.from({ length: 25 }, fid).join(",");

const READS: readonly DialectRead[] = [
  { name: "/user/bulk of 25", path: (fid) => `/user/bulk?fids=${fidsOf(fid)}` },
  { name: "/feed/user/casts of 25", path: (fid) => `/feed/user/casts?fid=${fid()}&limit=25` },
  { name: "/followers of 25", path: (fid) => `/followers?fid=${fid()}&limit=25` },
  {
    name: "/feed/following of 25",
    path: (fid) => `/feed/following?fid=${fid()}&limit=25`,
    sameCasts: "&with_replies=true",
  },
  { name: "/notifications of 25", path: (fid) => `/notifications?fid=${fid()}&limit=25` },
  { name: "/cast/search of 25", path: () => "/cast/search?q=light&limit=25" },
  { name: "/feed/trending of 25", path: () => "/feed/trending?limit=25" },
];

/**
 * Measures the CPU time of one request in the compat dialect and in the native one, in one process and in interleaved
 * batches. Each URL is requested once, so the response cache never has the response.
 */
export async function benchDialects(): Promise<Figure[]> {
  const messages = Number(process.env.BENCH_MESSAGES ?? 100_000);
  return [
    ...(await compare("demo", demoBenchNetwork().dataDir)),
    ...(await compare("detailed", benchNetwork(messages, "detailed").dataDir)),
  ];
}

async function compare(network: string, dataDir: string): Promise<Figure[]> {
  await using server = await startInProcess(dataDir);
  const users = mostFollowed(dataDir);
  const figures: Figure[] = [];
  const only = process.env.BENCH_ENDPOINT ?? "";
  for (const { name, path, sameCasts = "" } of READS.filter((read) => read.name.startsWith(only))) {
    const random = seededRandom(name);
    const paths = Array.from({ length: REQUESTS }, () => path(() => random.pick(users)));
    let at = 0;
    const under = (prefix: string, more: string) => () => {
      const url = `http://localhost:1/v2/${prefix}${paths[at % REQUESTS]}${more}${UNUSED}${at++}`;
      return server.handle(new Request(url));
    };
    const sends = [under("svc", ""), under("farcaster", ""), under("farcaster", sameCasts)];
    for (const send of sends) {
      const { status } = await send();
      if (status !== 200) throw new Error(`${name} returned ${status}`);
    }
    const [native = 0, compat = 0, same = 0] = await leastCpuUsOfEach(BATCHES, sends);
    const unit = "us of CPU per request";
    const ratioOf = (value: number) => ({
      of: `native, ${native.toFixed(1)} us; at most ${MAX_RATIO}`,
      value: value / native,
    });
    figures.push({ what: `${network}, ${name}, compat`, value: compat, unit, ratio: ratioOf(compat) });
    if (sameCasts !== "")
      figures.push({ what: `  the same casts (${sameCasts})`, value: same, unit, ratio: ratioOf(same) });
  }
  return figures;
}

function mostFollowed(dataDir: string): number[] {
  using db = new Database(indexPath(dataDir), { readonly: true });
  const rows = db.query<{ fid: number }, [number]>(
    "SELECT fid FROM follow_counts ORDER BY followers DESC LIMIT ?",
  );
  return rows.all(USERS).map(({ fid }) => fid);
}
