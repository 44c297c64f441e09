import { Database } from "bun:sqlite";
import { cpSync } from "node:fs";
import { indexPath } from "../src/db/index/database.ts";
import { LinkType } from "../src/db/index/messages/columns.ts";
import { seededRandom } from "../src/demo/random.ts";
import { tempDir } from "../test/support/program.ts";
import { leastCpuUsOfEach, REQUESTS, startInProcess } from "./in-process.ts";
import type { Figure } from "./main.ts";
import { benchNetwork } from "./network.ts";
import { UNUSED } from "./wrk.ts";

const BATCHES = Number(process.env.BENCH_BATCHES ?? 15);
const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 20_000);
const BLOCKS = 19;
const MAX_RULES = 1.25;
const MAX_FOR_YOU = 2;
/** Requests are drawn from this many of the most followed users. */
const USERS = 100;
/** Viewers of each kind. */
const VIEWERS = 20;

const READS: readonly (readonly [name: string, path: (fid: number) => string])[] = [
  ["/feed/user/casts of 25", (fid) => `/feed/user/casts?fid=${fid}&limit=25`],
  ["/feed/following of 25", (fid) => `/feed/following?fid=${fid}&limit=25`],
  ["/followers of 25", (fid) => `/followers?fid=${fid}&limit=25`],
  ["/feed/trending of 25", () => "/feed/trending?limit=25"],
];

/**
 * Measures what the rules cost: reads of the compat dialect by viewers who block 19 accounts, compared with reads by viewers
 * who block none, in one process and in interleaved batches; and the feed for a viewer compared with the feed of its
 * follows. No response is from the response cache.
 */
export async function benchRules(): Promise<Figure[]> {
  using dir = tempDir();
  cpSync(benchNetwork(MESSAGES, "detailed").dataDir, dir.path, { recursive: true });
  const { users, plain, blocking } = prepare(dir.path);
  await using server = await startInProcess(dir.path);
  let at = 0;
  const send = (path: (n: number) => string) => () =>
    server.handle(new Request(`http://localhost:1/v2/farcaster${path(at)}${UNUSED}${at++}`));
  const of = (list: readonly number[], n: number) => list[n % list.length] ?? 0;
  const figures: Figure[] = [];
  const unit = "us of CPU per request";
  const only = process.env.BENCH_ENDPOINT ?? "";
  for (const [name, path] of READS.filter(([read]) => read.startsWith(only))) {
    const user = (n: number) => path(of(users, n % REQUESTS));
    const by = (viewers: readonly number[]) => send((n) => `${user(n)}&viewer_fid=${of(viewers, n)}`);
    const [none = 0, without = 0, withBlocks = 0] = await leastCpuUsOfEach(BATCHES, [
      send(user),
      by(plain),
      by(blocking),
    ]);
    figures.push(
      { what: `${name}, no viewer`, value: none, unit },
      {
        what: "  a viewer without relations",
        value: without,
        unit,
        ratio: { of: "no viewer", value: without / none },
      },
      {
        what: `  a viewer who blocks ${BLOCKS}`,
        value: withBlocks,
        unit,
        ratio: { of: `a viewer without; at most ${MAX_RULES}`, value: withBlocks / without },
      },
    );
  }
  const [following = 0, forYou = 0] = await leastCpuUsOfEach(BATCHES, [
    send((n) => `/feed/following?fid=${of(users, n)}&viewer_fid=${of(users, n)}&limit=25`),
    send((n) => `/feed/for_you?viewer_fid=${of(users, n)}&limit=25`),
  ]);
  figures.push({
    what: "/feed/for_you of 25",
    value: forYou,
    unit,
    ratio: {
      of: `/feed/following of the viewer, ${following.toFixed(1)} us; at most ${MAX_FOR_YOU}`,
      value: forYou / following,
    },
  });
  return figures;
}

/** Picks users and viewers, and gives half of the viewers their blocks. */
function prepare(dataDir: string) {
  using db = new Database(indexPath(dataDir));
  const rows = db.query<{ fid: number }, [number, number]>(
    "SELECT fid FROM follow_counts WHERE following >= 10 ORDER BY followers DESC LIMIT ? OFFSET ?",
  );
  const users = rows.all(USERS, 0).map(({ fid }) => fid);
  const viewers = rows.all(2 * VIEWERS, USERS).map(({ fid }) => fid);
  const plain = viewers.filter((_, at) => at % 2 === 0);
  const blocking = viewers.filter((_, at) => at % 2 === 1);
  const random = seededRandom("blocks");
  const block = db.query<unknown, [number, number, number]>(
    "INSERT OR IGNORE INTO links (fid, type, target_fid, timestamp, envelope_id) VALUES (?, ?, ?, 1, 1)",
  );
  for (const fid of blocking)
    for (let n = 0; n < BLOCKS; n++) block.run(fid, LinkType.Block, random.pick(users));
  return { users, plain, blocking };
}
