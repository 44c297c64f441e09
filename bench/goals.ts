import type { Draw } from "./draw.ts";

/** A read with a goal. */
export interface GoalRead {
  readonly name: string;
  /** The minimum share of a bare server's throughput. */
  readonly goal: number;
  readonly path: (draw: Draw) => string;
}

export const GOAL_READS: readonly GoalRead[] = [
  { name: "/user", goal: 0.5, path: (d) => `/user?fid=${d.fid()}` },
  { name: "/user/bulk of 25", goal: 0.15, path: (d) => `/user/bulk?fids=${d.fids(25)}` },
  { name: "/cast/bulk of 25", goal: 0.15, path: (d) => `/cast/bulk?hashes=${d.hashes(25)}` },
  { name: "/feed/user/casts of 25", goal: 0.15, path: (d) => `/feed/user/casts?fid=${d.fid()}&limit=25` },
  {
    name: "/feed/following of 25, follows 1,000",
    goal: 0.08,
    path: (d) => `/feed/following?fid=${d.heavyFid}&limit=25`,
  },
  { name: "/notifications of 25", goal: 0.08, path: (d) => `/notifications?fid=${d.fid()}&limit=25` },
  {
    name: "/cast/conversation of 100",
    goal: 0.08,
    path: (d) => `/cast/conversation?identifier=${d.longThread()}&type=hash&reply_depth=5`,
  },
  { name: "/feed/trending of 25", goal: 0.15, path: () => "/feed/trending?limit=25" },
  { name: "/channel/trending of 25", goal: 0.15, path: () => "/channel/trending?limit=25" },
];

/** Returns the reads whose name starts with `BENCH_ENDPOINT`, or all reads if it is not set. */
export function selectedReads(): readonly GoalRead[] {
  const only = process.env.BENCH_ENDPOINT;
  return GOAL_READS.filter(({ name }) => only === undefined || name.startsWith(only));
}
