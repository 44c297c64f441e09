import type { EvidenceGraph } from "./graph.ts";

/** The name of the method in responses and in stored runs. Any change of a rule or constant requires a new name. */
export const METHOD = "svc-trust-1";

const DAY_SECS = 86_400;

/** Constants of the method. docs/scores.md explains each. */
export const CONSTANTS = {
  followWeight: 0.3,
  replyWeight: 3,
  reactionWeight: 0.7,
  /** Maximum age of acts that count as evidence. */
  evidenceSecs: 365 * DAY_SECS,
  /** A source is dormant if its last act is older than this. */
  activeSecs: 180 * DAY_SECS,
  dormantPower: 0.1,
  /** In units of weight: prevents a single follow from passing on all trust. */
  minOutWeight: 30,
  damping: 0.75,
  maxRounds: 30,
  /** The iteration ends after a round that moves less trust than this. */
  minMove: 1e-4,
  /** No source has more influence than the account at this rank, as a share of all accounts. */
  loudestShare: 0.03,
} as const;

const EIGHTHS = 8;
const MAX_WEIGHT = 255;

/**
 * Returns the weight of what one account did towards another, in eighths: 0 to 255.
 *
 * @param replies number of replies and mentions.
 * @param reactions number of likes and recasts.
 */
export function evidenceWeight(follows: boolean, replies: number, reactions: number): number {
  const { followWeight, replyWeight, reactionWeight } = CONSTANTS;
  const weight =
    (follows ? followWeight : 0) +
    replyWeight * Math.log2(1 + replies) +
    reactionWeight * Math.log2(1 + reactions);
  return Math.min(MAX_WEIGHT, Math.round(EIGHTHS * weight));
}

/** Returns a function that reports whether an account with a given last act counts as dormant. */
export function isDormantAt(nowSecs: number): (lastActSecs: number) => boolean {
  return (lastActSecs) => lastActSecs <= nowSecs - CONSTANTS.activeSecs;
}

/** Result of the method, by account. */
export interface Trust {
  /** Damped trust; sums to 1. Exactly 0 without a path from a seed. */
  readonly trust: Float64Array;
  /** The part of it that counts, which the mapping turns into the score. */
  readonly counted: Float64Array;
  /** How much an eighth of a source's weight counts for its target. */
  readonly voice: Float64Array;
  /** Bits: 1 if the strongest source was cut to the sum of the others, 2 if most evidence is from dormant sources. */
  readonly lowered: Uint8Array;
  readonly rounds: number;
}

export const Lowered = { SingleSource: 1, DormantSources: 2 } as const;

/** Number of pairs after which other work of the thread gets a turn. */
const PAIRS_PER_TURN = 2_000_000;

/**
 * Computes the trust of every account by svc-trust-1. All sums are in the order of accounts, so the same graph gives the
 * same bytes.
 *
 * @param seeds accounts, ascending and distinct; at least one.
 * @param nowSecs time of the run, which decides which accounts are dormant.
 * @param turn awaited every two million pairs.
 */
export async function computeTrust(
  graph: EvidenceGraph,
  seeds: readonly number[],
  nowSecs: number,
  turn: () => Promise<void>,
): Promise<Trust> {
  const { offsets, sources, weights, lastActs } = graph;
  const n = graph.fids.length;
  const { damping, maxRounds, minMove, minOutWeight, dormantPower } = CONSTANTS;
  const isDormant = isDormantAt(nowSecs);
  const passes = new Float64Array(n);
  for (let at = 0; at < sources.length; at++) {
    const source = sources[at] ?? 0;
    passes[source] = (passes[source] ?? 0) + (weights[at] ?? 0);
  }
  await turn();
  // From here on, the array contains how much of its trust a source passes per eighth of weight.
  for (let i = 0; i < n; i++) {
    const power = isDormant(lastActs[i] ?? 0) ? dormantPower : 1;
    passes[i] = power / Math.max(EIGHTHS * minOutWeight, passes[i] ?? 0);
  }
  let trust = new Float64Array(n);
  for (const seed of seeds) trust[seed] = 1 / seeds.length;
  let next = new Float64Array(n);
  const voice = new Float64Array(n);
  let rounds = 0;
  for (let moved = Number.POSITIVE_INFINITY; moved >= minMove && rounds < maxRounds; rounds++) {
    for (let i = 0; i < n; i++) voice[i] = (trust[i] ?? 0) * (passes[i] ?? 0);
    let passedOn = 0;
    let untilTurn = PAIRS_PER_TURN;
    for (let j = 0; j < n; j++) {
      const end = offsets[j + 1] ?? 0;
      const start = offsets[j] ?? 0;
      let sum = 0;
      for (let at = start; at < end; at++) sum += (voice[sources[at] ?? 0] ?? 0) * (weights[at] ?? 0);
      next[j] = damping * sum;
      passedOn += damping * sum;
      untilTurn -= end - start;
      if (untilTurn < 0) {
        untilTurn = PAIRS_PER_TURN;
        await turn();
      }
    }
    const restart = (1 - passedOn) / seeds.length;
    for (const seed of seeds) next[seed] = (next[seed] ?? 0) + restart;
    moved = 0;
    for (let j = 0; j < n; j++) moved += Math.abs((next[j] ?? 0) - (trust[j] ?? 0));
    [trust, next] = [next, trust];
  }
  const loudest = loudestTrust(trust);
  for (let i = 0; i < n; i++) voice[i] = Math.min(trust[i] ?? 0, loudest) * (passes[i] ?? 0);
  const counted = next;
  const lowered = new Uint8Array(n);
  for (let j = 0; j < n; j++) {
    let sum = 0;
    let strongest = 0;
    let dormant = 0;
    let all = 0;
    for (let at = offsets[j] ?? 0; at < (offsets[j + 1] ?? 0); at++) {
      const source = sources[at] ?? 0;
      const weight = weights[at] ?? 0;
      const share = (voice[source] ?? 0) * weight;
      sum += share;
      if (share > strongest) strongest = share;
      if (share === 0) continue;
      all += weight;
      if (isDormant(lastActs[source] ?? 0)) dormant += weight;
    }
    const rest = sum - strongest;
    counted[j] = rest + Math.min(strongest, rest);
    if (strongest > rest) lowered[j] = (lowered[j] ?? 0) | Lowered.SingleSource;
    if (2 * dormant > all) lowered[j] = (lowered[j] ?? 0) | Lowered.DormantSources;
  }
  return { trust, counted, voice, lowered, rounds };
}

/** Returns the trust of the account at rank 3 %, or of the last account with any trust if fewer have it. */
function loudestTrust(trust: Float64Array): number {
  const sorted = trust.slice().sort();
  const rank = Math.max(1, Math.ceil(CONSTANTS.loudestShare * sorted.length));
  const at = sorted.length - rank;
  const value = sorted[at] ?? 0;
  return value > 0 ? value : (sorted.find((each) => each > 0) ?? 0);
}
