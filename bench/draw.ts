import { Database } from "bun:sqlite";
import { indexPath } from "../src/db/index/database.ts";
import { seededRandom } from "../src/demo/random.ts";
import { makeWallet } from "../test/support/messages.ts";
import type { BenchNetwork } from "./network.ts";

/** A source of request parameters: existing fids and hashes, drawn at random for each request. */
export interface Draw {
  readonly fid: () => number;
  readonly fids: (count: number) => string;
  readonly hash: () => string;
  readonly hashes: (count: number) => string;
  readonly busyHash: () => string;
  /** Returns the root of a thread with about 100 casts. */
  readonly longThread: () => string;
  readonly channel: () => string;
  readonly custody: () => string;
  readonly heavyFid: number;
}

/** Number of users and of casts from which `some` draws. */
const SOME_FIDS = 100;
const SOME_HASHES = 200;
/** The casts and long threads that `all` draws from: enough for the caches of a node, too few for those of a disk. */
const ALL_CASTS = { hashes: 5_000, threads: 50 } as const;

/**
 * Draws request parameters that exist in the network.
 *
 * @param from `all` of the network; or `some` users and casts, equally many and active in a large and a small network,
 *   so that the caches of a node have them in both.
 * @param pool how many casts and long threads `all` draws from
 */
export function drawFrom(
  { dataDir, fids, heavyFid }: BenchNetwork,
  from: "all" | "some" = "all",
  pool: { readonly hashes: number; readonly threads: number } = ALL_CASTS,
): Draw {
  using db = new Database(indexPath(dataDir), { readonly: true });
  const hashesOf = (sql: string) =>
    db
      .query<{ hash: string }, []>(sql)
      .all()
      .map(({ hash }) => `0x${hash.toLowerCase()}`);
  const random = seededRandom("reads");
  const anyFid = () => 1 + Math.floor(fids * random.next() ** 3);
  const someFids = Array.from({ length: SOME_FIDS }, anyFid);
  const all = hashesOf(
    `SELECT hex(hash) AS hash FROM casts WHERE id IN
       (SELECT id FROM casts ORDER BY random() LIMIT ${from === "all" ? pool.hashes : SOME_HASHES})`,
  );
  const busy = hashesOf(
    `SELECT hex(hash) AS hash FROM cast_counts JOIN casts USING (id)
     WHERE likes + recasts + replies BETWEEN 20 AND 40 LIMIT 200`,
  );
  const threads = hashesOf(
    `SELECT hex(root_hash) AS hash FROM casts WHERE root_hash IS NOT NULL GROUP BY root_hash
     HAVING count(*) BETWEEN 90 AND 140 LIMIT ${pool.threads}`,
  );
  const fid = from === "all" ? anyFid : () => random.pick(someFids);
  const many = (count: number, one: () => unknown) => Array.from({ length: count }, one).join(",");
  const hash = () => random.pick(all);
  return {
    fid,
    fids: (count) => many(count, fid),
    hash,
    hashes: (count) => many(count, hash),
    busyHash: () => random.pick(busy),
    longThread: () => random.pick(threads),
    custody: () => `0x${makeWallet(`bench ${fid()}`).address.toHex()}`,
    channel: () => `bench${Math.floor(200 * random.next() ** 2)}`,
    heavyFid,
  };
}
