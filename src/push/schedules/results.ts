import type { Campaign, CampaignStore, Departures } from "../store/campaigns/campaign-store.ts";
import type { OpenCount, OpenStore } from "../store/open-store.ts";
import { type Schedule, WINNER } from "../store/schedules/schedule-store.ts";

/** The results of a send. */
export interface SendResults {
  readonly delivered: number;
  readonly failed: number;
  readonly notAttempted: number;
  /** People who opened it, as reported by the app. */
  readonly opened: number;
  /** Those of them whose report had a Quick Auth token. */
  readonly verified: number;
  readonly goals: number;
  /** People who turned notifications off or removed the app within a day, before they got a later one. */
  readonly turnedOff: number;
}

/** Results of one text of a schedule. */
export interface VariantResults extends SendResults {
  readonly variant: number;
}

export interface ResultDeps {
  readonly campaigns: Pick<CampaignStore, "find" | "totals" | "departures">;
  readonly opens: Pick<OpenStore, "counts">;
}

const NOTHING: SendResults = {
  delivered: 0,
  failed: 0,
  notAttempted: 0,
  opened: 0,
  verified: 0,
  goals: 0,
  turnedOff: 0,
};

/** With fewer opens, a difference is not significant. */
const MIN_OPENS = 100;
/** The critical value of a one-sided test at 95 %. */
const LIKELY = 1.645;

/** Sums up results. */
export function sumOf(parts: readonly SendResults[]): SendResults {
  return parts.reduce(
    (sum, part) => ({
      delivered: sum.delivered + part.delivered,
      failed: sum.failed + part.failed,
      notAttempted: sum.notAttempted + part.notAttempted,
      opened: sum.opened + part.opened,
      verified: sum.verified + part.verified,
      goals: sum.goals + part.goals,
      turnedOff: sum.turnedOff + part.turnedOff,
    }),
    NOTHING,
  );
}

/** Returns the results of one campaign, with its opens. */
export function resultsOf(
  { counts }: Pick<Campaign, "counts">,
  opens: readonly OpenCount[],
  departures: readonly Departures[],
): SendResults {
  const total = (of: (count: OpenCount) => number) => opens.reduce((sum, count) => sum + of(count), 0);
  return {
    delivered: counts.success,
    failed: counts.failure,
    notAttempted: counts.notAttempted,
    opened: total(({ opens }) => opens),
    verified: total(({ verified }) => verified),
    goals: total(({ goals }) => goals),
    turnedOff: departures.reduce((sum, { people }) => sum + people, 0),
  };
}

/** Returns the results of a schedule by text, without those of the winner's wave. */
export async function variantResults(
  { campaigns, opens }: ResultDeps,
  { waves, content }: Pick<Schedule, "waves" | "content">,
): Promise<VariantResults[]> {
  const byVariant = new Map<number, SendResults[]>();
  for (const { campaignId, variant } of waves) {
    if (campaignId === null || variant === WINNER) continue;
    const campaign = await campaigns.find(campaignId);
    if (!campaign) continue;
    const seqs = [campaign.seq];
    const results = resultsOf(campaign, await opens.counts(seqs), await campaigns.departures(seqs));
    byVariant.set(variant, [...(byVariant.get(variant) ?? []), results]);
  }
  return content.texts.map((_, variant) => ({ variant, ...sumOf(byVariant.get(variant) ?? []) }));
}

const rateOf = ({ opened, delivered }: SendResults) => (delivered === 0 ? 0 : opened / delivered);

/** Returns the variant that the largest fraction of its people opened; the first one of a tie. */
export function bestVariant(results: readonly VariantResults[]): number {
  const best = results.reduce<VariantResults | undefined>(
    (best, next) => (best && rateOf(best) >= rateOf(next) ? best : next),
    undefined,
  );
  return best?.variant ?? 0;
}

/**
 * Reports whether the best variant is likely better than the second best, by a one-sided two-proportion z-test, with at least 100 opens
 * of each.
 */
export function isLikelyBetter(results: readonly VariantResults[]): boolean {
  const [best, second] = [...results].sort((a, b) => rateOf(b) - rateOf(a));
  if (!best || !second || results.some(({ opened }) => opened < MIN_OPENS)) return false;
  const pooled = (best.opened + second.opened) / (best.delivered + second.delivered);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / best.delivered + 1 / second.delivered));
  return error > 0 && (rateOf(best) - rateOf(second)) / error > LIKELY;
}

/** The outcomes of a send in one client app. */
export interface ClientResults {
  readonly clientFid: number;
  readonly delivered: number;
  readonly opened: number;
  readonly verified: number;
  readonly turnedOff: number;
}

/** The results of a campaign, or of all campaigns of a schedule. */
export interface ResultsReport {
  readonly total: SendResults;
  /** Ordered by the client's fid. */
  readonly clients: readonly ClientResults[];
  /** Opens by whole hours since the start of their campaign, ascending. */
  readonly hours: readonly { readonly hour: number; readonly opened: number }[];
  /** Half of the opens were within this many minutes; null without opens. */
  readonly medianMinutes: number | null;
  /** For a schedule with several texts. */
  readonly variants: readonly VariantResults[];
  /** The variant that is likely better than all others; null if none is. */
  readonly likelyBetter: number | null;
}

const MAX_CLIENTS = 100;

/** Combines the results of campaigns. @param variants those of their schedule, if it tests texts */
export async function reportOf(
  { campaigns, opens }: ResultDeps,
  found: readonly Campaign[],
  variants: readonly VariantResults[],
): Promise<ResultsReport> {
  const seqs = found.map(({ seq }) => seq);
  const counts = await opens.counts(seqs);
  const departures = await campaigns.departures(seqs);
  const bySeq = Map.groupBy(counts, ({ campaign }) => campaign);
  const leftBySeq = Map.groupBy(departures, ({ campaign }) => campaign);
  const clients = new Map<number, ClientResults>();
  const add = (clientFid: number, more: Partial<ClientResults>) => {
    const { delivered = 0, opened = 0, verified = 0, turnedOff = 0 } = clients.get(clientFid) ?? {};
    clients.set(clientFid, {
      clientFid,
      delivered: delivered + (more.delivered ?? 0),
      opened: opened + (more.opened ?? 0),
      verified: verified + (more.verified ?? 0),
      turnedOff: turnedOff + (more.turnedOff ?? 0),
    });
  };
  for (const { campaignId } of found)
    for (const { clientFid, successes } of (await campaigns.totals(campaignId, MAX_CLIENTS)).byClient)
      add(clientFid, { delivered: successes });
  for (const { clientFid, people } of departures) add(clientFid, { turnedOff: people });
  // Opens are ascending by time, and so are the hours.
  const hours = new Map<number, number>();
  for (const { clientFid, ageMinutes, opens: opened, verified } of counts) {
    add(clientFid, { opened, verified });
    const hour = Math.floor(ageMinutes / 60);
    hours.set(hour, (hours.get(hour) ?? 0) + opened);
  }
  const total = sumOf(
    found.map((campaign) =>
      resultsOf(campaign, bySeq.get(campaign.seq) ?? [], leftBySeq.get(campaign.seq) ?? []),
    ),
  );
  return {
    total,
    clients: [...clients.values()].sort((a, b) => a.clientFid - b.clientFid),
    hours: [...hours].map(([hour, opened]) => ({ hour, opened })),
    medianMinutes: medianOf(counts, total.opened),
    variants,
    likelyBetter: isLikelyBetter(variants) ? bestVariant(variants) : null,
  };
}

/** @param counts ascending by time */
function medianOf(counts: readonly OpenCount[], opened: number): number | null {
  let seen = 0;
  for (const { ageMinutes, opens } of counts) {
    seen += opens;
    if (2 * seen >= opened) return ageMinutes;
  }
  return null;
}
