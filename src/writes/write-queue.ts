import { isChannelMessage } from "../protocol/channels/slots.ts";
import { decodeMessage, type SignedMessage } from "../protocol/message/signed-message.ts";
import { msToBeat } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log/logger.ts";
import type { IndexWatch } from "./index-watch.ts";
import { acceptedBlockOf, MAX_BLOCKS_TO_MERGE } from "./index-watch.ts";
import { CONFLICT_CODE, DUPLICATE_CODE, type SubmitResult, type WriteNetwork } from "./network.ts";
import { NOT_MERGED, refusal, refusalOf } from "./refusals.ts";
import type { ClaimedWrite, Settlement, WriteStore } from "./store/write-store.ts";
import { ACCEPTED_RETRY_MS } from "./submit-writes.ts";
import type { WriteCounters } from "./write-figures.ts";

const POLL_MS = 1_000;
/** How many messages are claimed and submitted at a time. */
const CLAIM_MAX = 32;
/** How many polls of the state there are per check of the index, and for how many accepted messages it is checked. */
const POLLS_PER_LOOK = 2;
const MAX_UNSEEN = 1_000;
/** How often the leases of dead processes are ended. */
const DEAD_MS = 10_000;
const READY_MS = 1;
const MAX_BACKOFF_MS = 60_000;

export interface WriteQueueDeps {
  readonly store: WriteStore;
  readonly network: WriteNetwork;
  readonly index: Pick<IndexWatch, "isIndexed" | "shardZeroBlock">;
  /** Returns whether queued messages may be submitted now: not while writes are paused or the node is fenced. */
  readonly mayRun: () => boolean;
  readonly counters: WriteCounters;
  readonly log: Logger;
  /** Default: the service's own. */
  readonly pollMs?: number;
}

/** Resubmits queued messages, with the same bytes, until the network has accepted or refused them. It never gives up. */
export function startWriteQueue(deps: WriteQueueDeps) {
  const { store, network, index, mayRun, counters, log, pollMs = POLL_MS } = deps;
  const unseen = new Map<number, SignedMessage>();
  const forgotten = new Set<string>();
  let isStopped = false;
  let lookedAtMs = 0;
  let deadEndedAtMs = Number.NEGATIVE_INFINITY;
  let hasFailed = false;

  /** Ends messages that have arrived in the index since they were accepted. */
  async function look(nowMs: number): Promise<void> {
    if (unseen.size === 0 || nowMs - lookedAtMs < POLLS_PER_LOOK * pollMs) return;
    lookedAtMs = nowMs;
    const seen = [...unseen].flatMap(([seq, message]) => (index.isIndexed(message) ? [seq] : []));
    if (seen.length === 0) return;
    await store.markMerged(seen);
    for (const seq of seen) unseen.delete(seq);
    counters.mergedLater += seen.length;
  }

  async function deleteForgotten(): Promise<void> {
    for (const request of forgotten) {
      await store.forget(request);
      forgotten.delete(request);
    }
  }

  async function resubmit(claimed: ClaimedWrite): Promise<void> {
    if (forgotten.has(claimed.request)) return;
    const result = await outcomeOf(claimed);
    await store.settle(claimed.request, [{ lease: claimed, result }]);
    if (result.kind === "again") return;
    unseen.delete(claimed.seq);
    if (result.kind === "merged") counters.mergedLater += 1;
    else {
      counters.refusedLater += 1;
      const { fid, hash, ownerFid, apiKeyId } = claimed;
      log.warn(
        { fid, hash: hash.toHex(), ownerFid, apiKeyId, reason: result.refusal.message },
        "The network has refused a queued write",
      );
    }
  }

  async function outcomeOf(claimed: ClaimedWrite): Promise<Settlement["result"]> {
    const message = decodeMessage(claimed.message);
    if (!message.ok)
      return {
        kind: "refused",
        refusal: refusal(400, "invalid_message", message.error.reason),
        isTold: false,
      };
    const isOfChannel = isChannelMessage(message.value.data);
    // If a channel message was resubmitted after a later message, it would take its slot back.
    if ((claimed.accepted || isOfChannel) && index.isIndexed(message.value)) return { kind: "merged" };
    if (claimed.accepted && isOfChannel) return untilMerged(claimed);
    counters.resubmitted += 1;
    const [result] = await network.submit([claimed.message]);
    return toSettled(claimed, result ?? { kind: "unknown", reason: "no result" }, message.value);
  }

  /** An accepted channel message is not resubmitted: shard 0 merges it, or refuses it silently. */
  function untilMerged({ acceptedBlock }: ClaimedWrite): Settlement["result"] {
    const block = index.shardZeroBlock();
    const waited = acceptedBlock === null || block === undefined ? undefined : block - acceptedBlock;
    if (waited !== undefined && waited >= MAX_BLOCKS_TO_MERGE)
      return { kind: "refused", refusal: NOT_MERGED, isTold: false };
    const again = { kind: "again", afterMs: ACCEPTED_RETRY_MS, accepted: true } as const;
    // Another upstream may number its blocks differently.
    return waited === undefined || waited < 0 ? { ...again, acceptedBlock: block } : again;
  }

  function toSettled(
    { accepted, attempts, seq }: ClaimedWrite,
    result: SubmitResult,
    message: SignedMessage,
  ): Settlement["result"] {
    const backoff = { kind: "again", afterMs: Math.min(1_000 * 2 ** attempts, MAX_BACKOFF_MS) } as const;
    switch (result.kind) {
      case "merged":
        return { kind: "merged" };
      case "accepted":
        watch(seq, message);
        return {
          kind: "again",
          afterMs: ACCEPTED_RETRY_MS,
          accepted: true,
          acceptedBlock: acceptedBlockOf(index, message),
        };
      case "unknown":
      // The operator is expected to correct the login; the promise still holds.
      case "login_refused":
        return { ...backoff, accepted: false };
      case "refused": {
        const { code } = result;
        if (code === DUPLICATE_CODE) return { kind: "merged" };
        // It was merged, and has since lost against a newer one.
        if (code === CONFLICT_CODE && accepted) return { kind: "merged" };
        // Either this node is busy or full, or the upstream will accept it later.
        if (code === "unavailable" || code === "resource_exhausted" || code === "bad_request.rate_limited")
          return { ...backoff, accepted: false };
        return { kind: "refused", refusal: refusalOf(result), isTold: false };
      }
    }
  }

  /** Watches the index for a message that the upstream has accepted. */
  function watch(seq: number, message: SignedMessage): void {
    if (unseen.size < MAX_UNSEEN) unseen.set(seq, message);
  }

  async function step(): Promise<void> {
    const nowMs = performance.now();
    await deleteForgotten();
    await look(nowMs);
    if (!mayRun()) return;
    if (nowMs - deadEndedAtMs >= DEAD_MS) {
      await store.endLeasesOfTheDead();
      deadEndedAtMs = nowMs;
    }
    for (;;) {
      // Each attempt would cost its message a backoff.
      if (isStopped || !(await network.isReady(READY_MS))) return;
      const claimed = await store.claim(CLAIM_MAX);
      await Promise.all(claimed.map(resubmit));
      if (claimed.length < CLAIM_MAX) return;
    }
  }

  const run = async () => {
    while (!isStopped) {
      try {
        await step();
        hasFailed = false;
      } catch (err) {
        if (!hasFailed) log.error({ err }, "Queued writes could not be submitted; they are tried again");
        hasFailed = true;
      }
      if (!isStopped)
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, msToBeat(pollMs));
        });
    }
  };
  let wake = () => {};
  const done = run();

  return {
    watch,
    /** Deletes a request and makes sure that its messages are never submitted. */
    forget(request: string): void {
      forgotten.add(request);
    },
    async stop(): Promise<void> {
      isStopped = true;
      wake();
      await done;
    },
  };
}
