import type { Endpoint } from "./endpoint.ts";
import type { EndpointState, EndpointStatus } from "./endpoint-status.ts";
import type { SilenceWatch } from "./silence-watch.ts";

/** How many blocks behind the best head a node counts as lagging, and how many behind it is not followed at all. */
const LAGGING_BLOCKS = 20;
const MAX_LAG_BLOCKS = 600;

/** Decides which nodes can be followed, and which is the best. */
export function createChoice(state: {
  readonly all: readonly Endpoint[];
  /** The nodes from the settings. */
  readonly configured: readonly Endpoint[];
  /** Reports whether there is no other node to follow. */
  readonly isAlone: boolean;
  /** Which blocks are being waited for, and for how long. */
  readonly silence: SilenceWatch;
  readonly silenceMs: number;
  /** Returns the newest stored block of a shard; 0 before the first. */
  readonly received: (shard: number) => number;
  /** Returns the number of data shards of the stored state; undefined before the first. */
  readonly shards: () => number | undefined;
  /** Reports whether blocks are verified. */
  readonly isVerified: () => boolean;
  readonly followed: () => Endpoint | undefined;
  /** Reports whether the whole network is to be read. */
  readonly wantsFill: () => boolean;
}) {
  const { all, configured, isAlone, silence, silenceMs, received, shards, isVerified, followed, wantsFill } =
    state;

  const isWell = (one: Endpoint) =>
    one.answer !== undefined && !one.isCooling && !one.isRefused && !one.isPartial;

  /**
   * Returns the newest block that a node is known to have. For the followed node, that includes what it has sent since it
   * was asked.
   */
  const headOf = (one: Endpoint, shard: number) =>
    one === followed() ? Math.max(one.head(shard), received(shard)) : one.head(shard);

  /** Returns the best head of a shard among the nodes that respond. */
  const bestHead = (shard: number) => Math.max(0, ...all.filter(isWell).map((one) => headOf(one, shard)));

  function lagOf(one: Endpoint): number | undefined {
    const known = one.answer ? [...one.answer.heads.keys()] : [];
    return known.length === 0
      ? undefined
      : Math.max(0, ...known.map((shard) => bestHead(shard) - headOf(one, shard)));
  }

  /** Returns how many blocks another node had, when this one was asked, that this one lacks. */
  function lagBehind(one: Endpoint, other: Endpoint): number {
    const known = [...(one.answer?.heads.keys() ?? [])];
    return Math.max(0, ...known.map((shard) => other.headAt(one.askedAtMs, shard) - headOf(one, shard)));
  }

  /** Reports whether a node has as many shards as the index or, if no configured node has that many, as most of them have. */
  function hasOurShards({ answer }: Endpoint): boolean {
    const known = configured.flatMap((one) => (one.answer && !one.isRefused ? [one.answer.shards] : []));
    const ours = shards();
    if (ours !== undefined && known.includes(ours)) return answer?.shards === ours;
    const count = (value = 0) => known.filter((other) => other === value).length;
    return known.every((other) => count(other) <= count(answer?.shards));
  }

  /** Reports whether a node can be followed, according to its last response. */
  const isUsable = (one: Endpoint) => isWell(one) && knowsEnough(one);

  /** Reports whether a node counts as a witness, which it may even while it is not to be followed yet. */
  const isWitness = (one: Endpoint) =>
    one.answer !== undefined && !one.isRefused && !one.isPartial && knowsEnough(one);

  const knowsEnough = (one: Endpoint) =>
    (!one.isDiscovered || isVouchedFor(one)) &&
    hasOurShards(one) &&
    (lagOf(one) ?? 0) <= MAX_LAG_BLOCKS &&
    hasBlocksUpTo(one, (shard) => received(shard) - LAGGING_BLOCKS) &&
    (!wantsFill() || one.mayFill);

  /**
   * Reports whether a node from the settings has about the same heads as a discovered one, whose blocks are verified: a
   * discovered node is never the only source.
   */
  const isVouchedFor = (one: Endpoint) =>
    isVerified() &&
    configured.some(
      (other) =>
        isWell(other) &&
        other.answer?.shards === one.answer?.shards &&
        [...(one.answer?.heads.keys() ?? [])].every(
          (shard) => Math.abs(one.head(shard) - other.head(shard)) <= MAX_LAG_BLOCKS,
        ),
    );

  const hasBlocksUpTo = (one: Endpoint, height: (shard: number) => number) =>
    [...(one.answer?.heads.keys() ?? [])].every((shard) => one.head(shard) >= height(shard));

  const order = (one: Endpoint) =>
    [Number((lagOf(one) ?? 0) > LAGGING_BLOCKS), one.answer?.latencyMs ?? 0] as const;

  /** Returns the best node other than `except`. */
  function best(except?: Endpoint): Endpoint | undefined {
    const [first] = all
      .filter((one) => one !== except && isUsable(one))
      .toSorted((a, b) => {
        const [[lagA, msA], [lagB, msB]] = [order(a), order(b)];
        return lagA - lagB || msA - msB;
      });
    return first;
  }
  /** Returns why another node should be followed instead of the present one. */
  function faultOf(endpoint: Endpoint, other: Endpoint): string | undefined {
    if (endpoint.isRefused) return endpoint.reason;
    if (endpoint.failsOften) return "three of its calls failed within a minute";
    const lag = lagBehind(endpoint, other);
    if (lag > LAGGING_BLOCKS && (lagOf(other) ?? 0) <= LAGGING_BLOCKS) return `it is ${lag} blocks behind`;
    const others = all.filter((one) => one !== endpoint && isUsable(one));
    const silent = silence
      .silentFor(silenceMs)
      .find((shard) => others.some((one) => one.head(shard) > received(shard)));
    if (silent === undefined) return undefined;
    silence.gaveUp(silent);
    return `it sent no block of shard ${silent}, and another node has a newer one`;
  }

  function stateOf(one: Endpoint): EndpointState {
    if (one.isRefused) return "refused";
    if (isAlone) return one.isConnected && one.reason === undefined ? "ok" : "failing";
    if (one.isPartial) return "partial";
    if (one.isCooling || !one.answer) return "failing";
    return (lagOf(one) ?? 0) > LAGGING_BLOCKS ? "lagging" : "ok";
  }

  function statusOf(one: Endpoint): EndpointStatus {
    const state = stateOf(one);
    return {
      position: one.position,
      isDiscovered: one.isDiscovered,
      state,
      isActive: one === followed(),
      lagBlocks: isAlone ? undefined : lagOf(one),
      latencyMs: one.answer && Math.round(one.answer.latencyMs),
      reason:
        state === "ok" ? undefined : state === "lagging" ? `it is ${lagOf(one)} blocks behind` : one.reason,
    };
  }

  return { isWell, hasOurShards, isUsable, isWitness, isVouchedFor, hasBlocksUpTo, best, faultOf, statusOf };
}
