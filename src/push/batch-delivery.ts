import { setTimeout as sleep } from "node:timers/promises";
import type { LiveToken, TokenKey } from "../db/state/records.ts";
import type { TokenStore } from "../db/state/stores.ts";
import { StateUnavailable } from "../db/state/unavailable.ts";
import type { Batch } from "./batcher.ts";
import { failure, type TokenOutcome, tokenOutcomes } from "./client-response.ts";
import type { BatchResponse, PostBatch } from "./post-batch.ts";
import type { SendCounters } from "./send-stats.ts";
import type { Slot, Slots } from "./slots.ts";
import type { CampaignWork, DeliveryLedger, Settlement } from "./store/campaigns.ts";

const MIN_LEASE_SECS = 30;
/** How much longer than the call a claim lasts: for the wait before it. */
const LEASE_MARGIN_SECS = 20;
/** Between two attempts to store something while the state is unavailable. */
const FIRST_STORE_WAIT_MS = 100;
const MAX_STORE_WAIT_MS = 2_000;
/** Waits differ by up to this part, so that batches that failed together do not return together. */
const JITTER = 0.2;

export interface DeliveryParts {
  readonly tokens: TokenStore;
  readonly ledger: DeliveryLedger;
  readonly post: PostBatch;
  readonly slots: Slots;
  readonly stats: SendCounters;
  /** Measures leases: no jump of the machine's clock moves it. */
  readonly monotonicMs: () => number;
  readonly settings: BatchDeliverySettings;
  /** Told what became of tokens once that is stored. */
  readonly onSettled: (settlements: readonly Settlement[]) => void;
}

export interface BatchDeliverySettings {
  /** How long the ledger keeps who has a notification. */
  readonly dedupeTtlSecs: number;
  /** Of one call. */
  readonly timeoutMs: number;
  /** Of one batch, the first included. */
  readonly maxAttempts: number;
  /** Before the second attempt; twice as long before the third. */
  readonly backoffMs: number;
}

/** How a run is ended before its end. */
export interface RunSignals {
  /** Nothing new is begun. */
  readonly stop: AbortSignal;
  /** Calls are given up. */
  readonly cut: AbortSignal;
}

/** Where a lane sees how many of its batches wait for another attempt. */
export interface Retries {
  waiting: number;
}

/** Tokens that the campaign has to itself. */
export interface ClaimedTokens {
  readonly tokens: readonly LiveToken[];
  /** On the clock of `DeliveryParts.monotonicMs`. */
  readonly leaseEndsAtMs: number;
}

/** Delivers the batches of one campaign. */
export interface BatchDelivery {
  /** Claims those of some tokens that the campaign has not counted, and counts those that another campaign has. */
  claim(host: string, tokens: readonly LiveToken[]): Promise<ClaimedTokens>;
  /**
   * Calls the client until it answers or the attempts are used up, and settles what became of each token. A run that is
   * ended leaves the claims as they are, for the next run of the campaign.
   *
   * @throws the reason of the signal that ended it
   */
  deliver(host: string, batch: Batch, first: Slot | "given-up", retries: Retries): Promise<void>;
}

export function createBatchDelivery(
  parts: DeliveryParts,
  work: CampaignWork,
  signals: RunSignals,
): BatchDelivery {
  const { tokens, ledger, post, slots, stats, settings, monotonicMs, onSettled } = parts;
  const callSecs = Math.ceil(settings.timeoutMs / 1000);
  const leaseSecs = Math.max(MIN_LEASE_SECS, callSecs + LEASE_MARGIN_SECS);

  /**
   * Tries a write again while the state is unavailable, so that nothing that was sent is forgotten. Only for writes that
   * change nothing when they are repeated.
   */
  async function untilStored<T>(write: () => Promise<T>): Promise<T> {
    for (let waitMs = FIRST_STORE_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_STORE_WAIT_MS)) {
      try {
        return await write();
      } catch (cause) {
        if (!(cause instanceof StateUnavailable)) throw cause;
        await sleep(waitMs, undefined, { signal: signals.cut });
      }
    }
  }

  async function claimTokens(held: readonly LiveToken[]) {
    return untilStored(async () => {
      const leaseEndsAtMs = monotonicMs() + leaseSecs * 1000;
      return { ...(await ledger.claim(work, held, leaseSecs)), leaseEndsAtMs };
    });
  }

  /** @param verdicts on each of the tokens, in their order */
  async function settle(
    host: string,
    held: readonly LiveToken[],
    verdicts: readonly TokenOutcome[],
  ): Promise<void> {
    if (held.length === 0) return;
    const settlements: Settlement[] = [];
    const gone: (TokenKey & { readonly token: string })[] = [];
    for (const [at, { kind, reason, isRetryable, isGone }] of verdicts.entries()) {
      const token = held[at];
      if (!token) throw new Error("there are more verdicts than tokens");
      const { appId, fid, clientFid, details } = token;
      settlements.push({ fid, clientFid, kind, reason, isRetryable });
      if (isGone) gone.push({ appId, fid, clientFid, token: details.token });
    }
    await untilStored(() => ledger.settle(work, host, settlements, settings.dedupeTtlSecs));
    stats.countTokens(host, settlements);
    onSettled(settlements);
    // Later than the counts: a crash in between leaves a token that the next send finds invalid again.
    if (gone.length > 0) await untilStored(() => tokens.deleteMatching(gone));
  }

  function settleAsFailed(host: string, held: readonly LiveToken[], reason: string): Promise<void> {
    const verdict = failure(reason);
    return settle(
      host,
      held,
      held.map(() => verdict),
    );
  }

  async function call(host: string, { url, tokens: held }: Batch): Promise<BatchResponse> {
    const startedAt = performance.now();
    // Where one token stands in two rows, the client is told of it once.
    const distinct = [...new Set(held.map(({ details }) => details.token))];
    const { notification } = work;
    const reply = await post({ url, notification, tokens: distinct, signal: signals.cut });
    if (reply.kind === "cancelled") throw signals.cut.reason;
    const outcome = reply.kind === "answered" ? "answered" : reply.reason;
    stats.countCall(host, outcome, performance.now() - startedAt);
    return reply;
  }

  async function waitForRetry(
    host: string,
    reply: BatchResponse & { readonly kind: "failed" },
    attempt: number,
  ): Promise<Slot | "given-up"> {
    const backoffMs = settings.backoffMs * 2 ** (attempt - 1);
    const jittered = backoffMs * (1 + JITTER * (2 * Math.random() - 1));
    await sleep(Math.max(jittered, reply.waitMs), undefined, { signal: signals.stop });
    return slots.acquire({ campaign: work.campaignId, host, signal: signals.stop });
  }

  /** Where a call could outlast the claim, claims again. */
  async function renew(host: string, batch: Batch): Promise<Batch> {
    if (monotonicMs() + settings.timeoutMs < batch.leaseEndsAtMs) return batch;
    const { taken, refused, leaseEndsAtMs } = await claimTokens(batch.tokens);
    // The lease ended while they waited, and another campaign has them now.
    await settleAsFailed(host, refused, "claimed_by_another");
    return { ...batch, tokens: taken, leaseEndsAtMs };
  }

  return {
    async claim(host, wanted) {
      const { taken, refused, leaseEndsAtMs } = await claimTokens(wanted);
      if (refused.length > 0) {
        stats.countNotAttempted(host, refused.length);
        await ledger.countNotAttempted(work, host, { duplicate: refused.length });
      }
      return { tokens: taken, leaseEndsAtMs };
    },

    async deliver(host, claimed, first, retries) {
      let slot = first;
      let batch = claimed;
      let reason = "host_down";
      try {
        for (let attempt = 1; ; attempt++) {
          batch = await renew(host, batch);
          const held = batch.tokens;
          if (held.length === 0) return;
          if (slot === "given-up") return await settleAsFailed(host, held, reason);

          const reply = await call(host, batch);
          if (reply.kind === "cancelled") return;
          if (reply.kind === "answered") {
            slot.release("well");
            const texts = held.map(({ details }) => details.token);
            return await settle(host, held, tokenOutcomes(texts, reply.answer));
          }
          slot.release(reply.sign, reply.waitMs);
          reason = reply.reason;
          if (!reply.isPassing || attempt === settings.maxAttempts) {
            return await settleAsFailed(host, held, reason);
          }
          retries.waiting += 1;
          try {
            slot = await waitForRetry(host, reply, attempt);
          } finally {
            retries.waiting -= 1;
          }
        }
      } finally {
        if (slot !== "given-up") slot.release("none");
      }
    },
  };
}
