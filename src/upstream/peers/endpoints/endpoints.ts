import { reasonOf } from "../../../lib/failure.ts";
import { PeerError, reasonOfCall } from "../../calls/peer.ts";
import { SilentStreamError } from "../../calls/response-stream.ts";
import { RefusedBlockError } from "../../chain/chain-verifier.ts";
import { RefusedPageError } from "../../fill/replication/account-records.ts";
import { type Timings, wait } from "../../timings.ts";
import type { AskOptions } from "../ask-node.ts";
import { type DiscoveryDeps, placeOf, runDiscovery } from "../discover.ts";
import { createChoice } from "./choice.ts";
import type { ActiveEndpoint } from "./endpoint.ts";
import { Endpoint, type EndpointDeps } from "./endpoint.ts";
import type { EndpointStatus } from "./endpoint-status.ts";
import { createQuestions } from "./questions.ts";
import { SilenceWatch } from "./silence-watch.ts";

/** Maximum number of nodes besides those from the settings. */
const MAX_DISCOVERED = 8;

export interface EndpointsDeps {
  /** From the settings, at least one. */
  readonly urls: readonly string[];
  readonly settings: EndpointDeps["settings"];
  readonly timings: Timings;
  /** Returns how heads are verified. Called before each question. */
  readonly ask: () => AskOptions;
  /** Returns the newest stored block of a shard; 0 before the first. */
  readonly received: (shard: number) => number;
  /** Returns the number of data shards of the stored state; undefined before the first. */
  readonly shards: () => number | undefined;
  /** How further nodes are found (`upstream.discover`); undefined to not look for any. */
  readonly discovery?: { readonly everyMs: number; readonly publicAddress: DiscoveryDeps["publicAddress"] };
  readonly onFault: (what: string, cause: unknown) => void;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

/** The nodes from the settings, one of which is followed at a time. */
export type Endpoints = ReturnType<typeof createEndpoints>;

/**
 * Tracks the state of the nodes: each is asked for its newest blocks, and the followed one is left when another is better.
 */
export function createEndpoints(deps: EndpointsDeps) {
  const { settings, timings, received, discovery, onFault } = deps;
  const nowMs = deps.nowMs ?? (() => performance.now());
  const all = deps.urls.map(
    (url, index) => new Endpoint({ url, position: index + 1, settings, timings, nowMs }),
  );
  const [only] = all;
  const configured: readonly Endpoint[] = [...all];
  const isAlone = all.length === 1 && !discovery;
  const silence = new SilenceWatch(nowMs);
  const closing = new AbortController();
  let active: { readonly endpoint: Endpoint; readonly leave: AbortController } | undefined;
  let changed = Promise.withResolvers<void>();
  let wantsFill = false;

  function notify(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  const followed = () => active?.endpoint;
  const choice = createChoice({
    all,
    configured,
    isAlone,
    silence,
    silenceMs: timings.silenceMs,
    received,
    shards: deps.shards,
    isVerified: () => deps.ask().sets !== undefined,
    followed,
    wantsFill: () => wantsFill,
  });
  const { isWell, hasOurShards, isUsable, isWitness, isVouchedFor, hasBlocksUpTo, best, faultOf, statusOf } =
    choice;
  const { ask, contacts } = createQuestions({
    configured,
    isWell,
    hasOurShards,
    followed,
    timings,
    nowMs,
    asking: deps.ask,
    closing: closing.signal,
  });

  /**
   * Reports whether a node has every block that the index has, so that nothing read from it is older. Asks the node if that
   * is not known.
   */
  async function isUpToDate(one: Endpoint): Promise<boolean> {
    if (!one.answer || one.isCooling || !hasBlocksUpTo(one, received)) await ask(one);
    return isWitness(one) && hasBlocksUpTo(one, received);
  }

  /** Leaves the followed node if another one can be followed, or if it must not be the only source. */
  function leave(reason: string): boolean {
    if (!active) return false;
    const isUnsupported = active.endpoint.isDiscovered && !isVouchedFor(active.endpoint);
    if (!isUnsupported && !best(active.endpoint)) return false;
    const { endpoint, leave: leaving } = active;
    active = undefined;
    endpoint.failed(reason);
    endpoint.cool();
    onFault(`upstream ${endpoint.position} was left`, new Error(reason));
    leaving.abort();
    notify();
    return true;
  }

  function evaluate(): void {
    if (!active) {
      notify();
      return;
    }
    const { endpoint } = active;
    if (endpoint.isDiscovered && !isVouchedFor(endpoint)) {
      leave("no node of the settings is where it is");
      return;
    }
    const other = best(endpoint);
    const fault = other && faultOf(endpoint, other);
    if (fault !== undefined) leave(fault);
  }

  /** Asks one node repeatedly. A node that never responds does not delay any other. */
  async function watch(one: Endpoint): Promise<void> {
    while (!closing.signal.aborted) {
      if (one.isDiscovered && one.isRefused && one !== active?.endpoint) return drop(one);
      // If all were refused, the first that sends true blocks again is followed again.
      if (!one.isRefused || configured.every(({ isRefused }) => isRefused)) await ask(one);
      evaluate();
      await wait(Math.max(timings.headPollMs, one.coolUntilMs - nowMs()), closing.signal);
    }
  }

  /** Checks for silence at intervals, because silence passes without a response from any node. */
  async function watchSilence(): Promise<void> {
    while (!closing.signal.aborted) {
      await wait(Math.min(1000, timings.silenceMs), closing.signal);
      evaluate();
    }
  }

  /** Removes an announced node to make room for another. */
  function drop(one: Endpoint): void {
    all.splice(all.indexOf(one), 1);
    one.close();
  }

  /** Asks a node that others have announced, and keeps it if it serves the network's blocks. */
  async function add(url: string, address: string): Promise<void> {
    const position = Math.max(...all.map((one) => one.position)) + 1;
    const one = new Endpoint({ url, address, position, settings, timings, nowMs });
    await ask(one);
    const hasBlocks = [...(one.answer?.heads.values() ?? [])].every((head) => head > 0);
    if (!closing.signal.aborted && isWell(one) && hasOurShards(one) && hasBlocks) {
      all.push(one);
      running.push(watch(one));
    } else one.close();
  }

  const running = isAlone ? [] : [...all.map(watch), watchSilence()];
  if (discovery)
    running.push(
      runDiscovery({
        ...discovery,
        network: deps.ask().network,
        contacts,
        add,
        isKnown: (place) => all.some(({ url }) => placeOf(url) === place),
        hasRoom: () => all.length < configured.length + MAX_DISCOVERED,
        signal: closing.signal,
      }),
    );

  function follow(endpoint: Endpoint): ActiveEndpoint {
    const leaving = new AbortController();
    active = { endpoint, leave: leaving };
    silence.clear();
    return { endpoint, leaving: leaving.signal };
  }

  return {
    all,
    /** Reports whether there is no other node to follow. */
    isAlone,
    /** Which blocks are being waited for. */
    silence,

    /**
     * Waits until a node can be followed: the present one as long as it is good, otherwise the one with the least lag, then
     * the fastest.
     *
     * @param options.fills whether the whole network is read from it.
     * @returns undefined when `signal` has aborted.
     */
    async next(
      signal: AbortSignal,
      { fills }: { readonly fills: boolean },
    ): Promise<ActiveEndpoint | undefined> {
      wantsFill = fills;
      let isFirst = true;
      while (!signal.aborted) {
        if (isAlone && only) {
          await only.place();
          return follow(only);
        }
        const present = active?.endpoint;
        if (present && isUsable(present)) return follow(present);
        const chosen = best();
        if (chosen && (await isUpToDate(chosen))) return follow(chosen);
        if (isFirst && all.every((one) => one.answer || one.isCooling || one.isRefused || one.isPartial)) {
          isFirst = false;
          onFault(
            "no upstream can be followed",
            new Error(
              all
                .map(({ position, reason }) => `${position}: ${reason ?? "it is too far behind"}`)
                .join("; "),
            ),
          );
        }
        const soonMs = Math.min(
          chosen ? timings.coolMs : timings.headPollMs,
          ...all.map((one) => (one.isCooling ? one.coolUntilMs - nowMs() : timings.headPollMs)),
        );
        await Promise.race([changed.promise, wait(soonMs, signal)]);
      }
      return undefined;
    },

    /** Records that a stream of the followed node ended. Another node takes over, if there is one. */
    streamEnded(cause: unknown): void {
      // The blocks of the other nodes decide whether this is silence.
      if (cause instanceof SilentStreamError) return;
      active?.endpoint.failed(cause === undefined ? "its stream ended" : reasonOfCall(cause));
      if (!isAlone) leave(cause === undefined ? "its stream ended" : reasonOfCall(cause));
    },
    /** Records that a call to the followed node failed. Another node takes over after three failures in a minute. */
    callFailed(cause: unknown): void {
      if (cause instanceof SilentStreamError) return;
      active?.endpoint.failed(reasonOfCall(cause));
      if (!isAlone) evaluate();
    },
    /** Records that the followed node lacks blocks. Returns whether another node may have them, which then takes over. */
    lacksBlocks(reason: string): boolean {
      if (isAlone || !active) return false;
      const { endpoint } = active;
      if (!all.some((one) => one !== endpoint && isWell(one))) return false;
      endpoint.lacksBlocks(reason);
      active = undefined;
      return true;
    },
    /** Records that following the node ended with an error. */
    ended(cause: unknown): void {
      const endpoint = active?.endpoint;
      if (!endpoint) return;
      if (cause instanceof RefusedBlockError || cause instanceof RefusedPageError)
        endpoint.refuse(cause.reason);
      else endpoint.failed(cause instanceof PeerError ? cause.reason : reasonOf(cause));
      if (isAlone) return;
      endpoint.cool();
      active = undefined;
    },

    status: (): readonly EndpointStatus[] => all.map(statusOf),
    /** Returns another endpoint that can be read, up to date with the index; undefined if there is none. */
    second: (): Endpoint | undefined => best(active?.endpoint),
    /**
     * Returns the nodes that can be asked what they know, the followed one first, those that did not respond last time at
     * the end.
     */
    witnesses(): readonly Endpoint[] {
      // All announced nodes may belong to one dishonest operator.
      const place = (one: Endpoint) => (one === active?.endpoint ? 0 : isUsable(one) ? 1 : 2);
      return configured
        .filter((one) => !one.isRefused && !one.isPartial)
        .toSorted((a, b) => place(a) - place(b));
    },
    isUpToDate,
    /** Asks a node for its newest blocks. Returns none if it does not respond. */
    async askHeads(one: Endpoint): Promise<ReadonlyMap<number, number>> {
      const before = one.answer;
      await ask(one);
      return one.answer && one.answer !== before ? one.answer.heads : new Map();
    },

    async close(): Promise<void> {
      closing.abort();
      await Promise.all(running);
      for (const one of all) one.close();
    },
  };
}
