import { err, ok, type Result } from "../../lib/result.ts";
import { nowSecs } from "../../runtime/clock.ts";
import { excluderOf, withoutExcluded } from "../match/exclusions.ts";
import type { SubscriptionRefusal } from "../match/match-service.ts";
import { matchFacts } from "../match/rpc.ts";
import { rangeOf, readSlice, type ScanDeps } from "../preview/scan.ts";
import { buildBodies } from "../publish/payload.ts";
import type { QueuedEvent } from "../store/delivery-publications.ts";
import type { Subscription } from "../subscription.ts";

/** How many events are matched in one turn. */
const EVENTS_PER_SLICE = 100;

/** A time range of the log whose events a webhook should get: inclusive bounds in unix seconds. */
export interface EventWindow {
  readonly ownerFid: number;
  readonly subscription: Subscription;
  readonly fromAt: number;
  readonly toAt: number;
}

/** The matches among some events. */
export interface WindowSlice {
  readonly events: readonly Omit<QueuedEvent, "webhookIds">[];
  /** How many events were examined. */
  readonly scanned: number;
  /** Where the next slice starts; undefined at the end. */
  readonly after: number | undefined;
}

/**
 * Matches the next events of a time range, oldest first, with the matcher of deliveries. The caller must have the matcher's turn
 * (`InTurn`).
 *
 * @param after the number of the last event before the slice; undefined at the start of the range
 * @returns the reason why the matcher stopped, as an error
 */
export async function matchWindow(
  { index, matching, bannedAmong, scores, clock }: ScanDeps,
  { ownerFid, subscription, fromAt, toAt }: EventWindow,
  after: number | undefined,
): Promise<Result<WindowSlice, string>> {
  const { oldestSeq, headSeq } = rangeOf(index, fromAt, toAt);
  const first = Math.max(after ?? 0, oldestSeq - 1);
  const end = Math.min(first + EVENTS_PER_SLICE, headSeq);
  if (end <= first) return ok({ events: [], scanned: 0, after: undefined });
  const slice = readSlice(index, { after: first, end, scores }).toReversed();
  const excluder = excluderOf(subscription, ownerFid);
  const id = "replay";
  const one = { id, ownerId: `replay:${ownerFid}`, subscription, isSecond: true };
  await matching.update({ set: [one], removed: [] });
  const matched: (typeof slice)[number][] = [];
  try {
    for (let from = 0; from < slice.length; ) {
      const facts = slice.slice(from).map((event) => event.facts);
      const { matches, refused } = await matchFacts(matching, facts);
      const [refusal]: readonly (SubscriptionRefusal | undefined)[] = refused;
      if (refusal) return err(refusal.reason);
      const wanted = await withoutExcluded(matches, facts, () => excluder, bannedAmong);
      for (const [at, ids] of wanted.entries()) {
        const event = slice[from + at];
        if (event && ids.length > 0) matched.push(event);
      }
      from += matches.length;
    }
  } finally {
    await matching.update({ set: [], removed: [id] });
  }
  const events = matched.map(({ event }) => event);
  const bodies = index.snapshot(() => buildBodies(index, events, nowSecs(clock)));
  const queued = [...bodies].map(([{ eventId, kind, appliedAt }, body]) => ({
    eventId,
    kind,
    createdAt: appliedAt,
    body,
  }));
  return ok({ events: queued, scanned: end - first, after: end < headSeq ? end : undefined });
}
