import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { EVENT_TYPES, registeredFidsAfter } from "../fill/stored.ts";
import { type Timings, wait } from "../timings.ts";
import type { ConfirmByChain } from "./confirm-by-chain.ts";
import type { ConfirmEvents } from "./confirm-events.ts";

/** Interval in milliseconds: 8,640 comparisons a day, each with two calls. */
export const SAMPLE_EVERY_MS = 10_000;

const lastFid = statement<{ fid: number | null }>(
  "sample-events.last-fid",
  "SELECT max(fid) AS fid FROM fids",
);

export interface SampleEventsDeps {
  readonly db: IndexDatabase;
  readonly events: Pick<ConfirmEvents, "check" | "disputes">;
  /** Reports whether the index has been filled. */
  readonly isFilled: () => boolean;
  readonly timings: Pick<Timings, "sampleMs">;
  readonly signal: AbortSignal;
}

/**
 * Compares the on-chain events of a random fid with two nodes, one type at a time, because no root binds their contents and
 * no decision may ever ask for them. Every second comparison is of a disputed fid, in turn, because the dispute may be
 * settled by now.
 */
export async function sampleEvents({
  db,
  events,
  isFilled,
  timings,
  signal,
}: SampleEventsDeps): Promise<void> {
  for (let count = 0; !signal.aborted; count++) {
    await wait(timings.sampleMs ?? SAMPLE_EVERY_MS, signal);
    if (signal.aborted || !isFilled()) continue;
    const disputes = events.disputes();
    const disputed = count % 2 === 1 ? disputes[(count >> 1) % disputes.length] : undefined;
    if (disputed) {
      await events.check(disputed.fid, disputed.type);
      continue;
    }
    const below = Math.floor(Math.random() * (db.get(lastFid)?.fid ?? 0));
    const [fid] = registeredFidsAfter(db, below, 1);
    const type = EVENT_TYPES[Math.floor(Math.random() * EVENT_TYPES.length)];
    if (fid !== undefined && type !== undefined) await events.check(fid, type);
  }
}

/** Asks the chain again about disputes, as often as nodes are compared about a disputed fid. */
export async function recheckDisputes({
  chain,
  timings,
  signal,
}: {
  readonly chain: Pick<ConfirmByChain, "recheck">;
} & Pick<SampleEventsDeps, "timings" | "signal">): Promise<void> {
  while (!signal.aborted) {
    await wait(2 * (timings.sampleMs ?? SAMPLE_EVERY_MS), signal);
    if (!signal.aborted) await chain.recheck();
  }
}
