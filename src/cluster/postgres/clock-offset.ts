import type { PgPool } from "../../db/postgres/pool.ts";
import type { Clock } from "../../runtime/clock.ts";
import { readTime } from "./node-rows.ts";

const SAMPLES = 5;

/**
 * Measures what to add to this machine's clock to get the server's, ms. Of a few samples the one with the shortest way counts,
 * because its error is at most half of that way.
 */
export async function measureClockOffset(pool: PgPool, clock: Clock): Promise<number> {
  let shortestMs = Number.POSITIVE_INFINITY;
  let offsetMs = 0;
  for (let n = 0; n < SAMPLES; n++) {
    const startedMs = performance.now();
    const before = clock.nowMs();
    const time = await pool.get(readTime);
    const tookMs = performance.now() - startedMs;
    if (!time || tookMs >= shortestMs) continue;
    shortestMs = tookMs;
    offsetMs = time.nowMs - (before + tookMs / 2);
  }
  return offsetMs;
}
