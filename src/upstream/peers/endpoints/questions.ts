import { PeerError, reasonOfCall } from "../../calls/peer.ts";
import { RefusedBlockError } from "../../chain/chain-verifier.ts";
import type { Timings } from "../../timings.ts";
import { type AskOptions, askNode } from "../ask-node.ts";
import type { Endpoint } from "./endpoint.ts";

const MAX_ASK_MS = 15_000;

/** Asks nodes for their newest blocks, and for the nodes they know. */
export function createQuestions(parts: {
  /** The nodes from the settings. */
  readonly configured: readonly Endpoint[];
  readonly isWell: (one: Endpoint) => boolean;
  readonly hasOurShards: (one: Endpoint) => boolean;
  readonly followed: () => Endpoint | undefined;
  /** Returns how heads are verified. */
  readonly asking: () => AskOptions;
  readonly timings: Timings;
  readonly nowMs: () => number;
  readonly closing: AbortSignal;
}) {
  const { configured, isWell, hasOurShards, followed, asking, timings, nowMs, closing } = parts;
  let guide = 0;

  /** Records a node's response, or why there is none. */
  async function ask(one: Endpoint): Promise<void> {
    await one.place();
    const askedAtMs = nowMs();
    const timeout = Math.min(MAX_ASK_MS, timings.callTimeoutMs);
    const signal = AbortSignal.any([closing, AbortSignal.timeout(timeout)]);
    try {
      const answer = await askNode(
        one.client(signal, { callTimeoutMs: timeout, stallMs: timeout }),
        asking(),
      );
      one.answered(answer, askedAtMs);
      if (!one.isDiscovered && configured.every(({ isRefused }) => isRefused)) one.forgive();
      if (!hasOurShards(one)) one.lacks(`it has ${answer.shards} shards, and the others another number`);
    } catch (cause) {
      if (closing.aborted) return;
      if (cause instanceof RefusedBlockError) one.refuse(cause.reason);
      else if (cause instanceof PeerError) one.lacks(cause.reason);
      else if (one === followed()) one.failed(reasonOfCall(cause));
      else one.fellSilent(reasonOfCall(cause));
      if (one !== followed()) one.cool();
    }
  }

  /** Returns the nodes known to a node from the settings, a different one on each call. */
  async function contacts() {
    const well = configured.filter(isWell);
    const one = well[guide++ % Math.max(1, well.length)];
    if (!one) return [];
    const timeout = Math.min(MAX_ASK_MS, timings.callTimeoutMs);
    const signal = AbortSignal.any([closing, AbortSignal.timeout(timeout)]);
    return one.client(signal, { callTimeoutMs: timeout, stallMs: timeout }).contacts();
  }

  return { ask, contacts };
}
