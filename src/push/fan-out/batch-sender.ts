import { setTimeout as sleep } from "node:timers/promises";
import type { AppStore } from "../../apps/app-store.ts";
import { StateUnavailable } from "../../db/state/unavailable.ts";
import { exponentialBackoffMs, withJitter } from "../../net/backoff.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { OpenLinks } from "../open-links.ts";
import type { CampaignWork } from "../store/campaigns/campaign-store.ts";
import type { BatchResults, NotificationLedger } from "../store/campaigns/notification-ledger.ts";
import type { LiveToken, TokenKey, TokenStore } from "../store/tokens/token-store.ts";
import type { Batch, ClaimLease } from "./batcher.ts";
import { type ClientOutcome, failure, tokenOutcomes } from "./client-response.ts";
import { distinct } from "./distinct.ts";
import type { BatchOutcome, PostBatch } from "./post-batch.ts";
import type { SendCounters } from "./send-stats.ts";
import { type SendPermission, type Slot, type Slots, untilGranted } from "./slots.ts";

const MIN_LEASE_SECS = 30;
/** The lease of a claim exceeds the timeout of the call by this much, for the wait before the call. */
const LEASE_MARGIN_SECS = 20;
/** Backoff between attempts to reach the state while it is unavailable. */
const INITIAL_STATE_BACKOFF_MS = 100;
const MAX_STATE_BACKOFF_MS = 2_000;

/** The app of a campaign was deleted while it ran. */
export class AppDeleted extends Error {
  override readonly name = "AppDeleted";
}

export interface BatchSenderDeps {
  readonly apps: Pick<AppStore, "find">;
  readonly tokens: TokenStore;
  readonly ledger: NotificationLedger;
  readonly post: PostBatch;
  readonly slots: Slots;
  readonly stats: SendCounters;
  readonly openLinks: OpenLinks;
  readonly clock: Clock;
  /** Calls start only while it is granted. */
  readonly permission: () => SendPermission;
  /** The number of the node's lease; incremented when the node has lost one. */
  readonly leaseNumber: () => number;
  /** Measures leases; unaffected by jumps of the machine's clock. */
  readonly monotonicMs: () => number;
  readonly settings: BatchSendSettings;
  /** Called with the results of tokens after they are stored. */
  readonly onResults: (results: BatchResults) => void;
}

export interface BatchSendSettings {
  /** How long the ledger remembers which tokens got a notification. */
  readonly dedupeTtlSecs: number;
  /** Timeout per call. */
  readonly timeoutMs: number;
  /** Attempts of one batch, including the first. */
  readonly maxAttempts: number;
  /** Delay before the second attempt; it doubles with each further one. */
  readonly backoffMs: number;
}

/** Signals that stop a run early. */
export interface RunSignals {
  /** Stops starting further calls. */
  readonly stop: AbortSignal;
  /** Aborts calls in flight. */
  readonly cancelCalls: AbortSignal;
}

/** Progress of a run at one client host. */
export interface HostProgress {
  /** Batches that wait for a retry. */
  retriesWaiting: number;
  /** Tokens that the run has not attempted so far, by reason. */
  readonly notAttempted: Record<string, number>;
}

/** Tokens that the campaign has claimed. */
export interface ClaimedTokens {
  readonly tokens: readonly LiveToken[];
  readonly lease: ClaimLease;
}

/** Sends the batches of one campaign. */
export function createBatchSender(deps: BatchSenderDeps, work: CampaignWork, signals: RunSignals) {
  const { apps, tokens, ledger, post, slots, stats, settings, openLinks, clock } = deps;
  const { permission, leaseNumber, monotonicMs, onResults } = deps;
  const callSecs = Math.ceil(settings.timeoutMs / 1000);
  // In a schedule with several waves, the ledger must remember the first wave until the last is sent.
  const ledgerSecs = Math.max(settings.dedupeTtlSecs, work.ledgerEndsAt - nowSecs(clock));
  const leaseSecs = Math.max(MIN_LEASE_SECS, callSecs + LEASE_MARGIN_SECS);

  /**
   * Retries a read or an idempotent write while the state is unavailable, so that no result is lost.
   */
  async function retryUntilAvailable<T>(access: () => Promise<T>): Promise<T> {
    for (let waitMs = INITIAL_STATE_BACKOFF_MS; ; waitMs = Math.min(2 * waitMs, MAX_STATE_BACKOFF_MS)) {
      try {
        return await access();
      } catch (cause) {
        if (!(cause instanceof StateUnavailable)) throw cause;
        await sleep(waitMs, undefined, { signal: signals.cancelCalls });
      }
    }
  }

  async function claimWithRetry(batchTokens: readonly LiveToken[]) {
    return retryUntilAvailable(async () => {
      const lease = { endsAtMs: monotonicMs() + leaseSecs * 1000, nodeLease: leaseNumber() };
      return { ...(await ledger.claim(work, batchTokens, leaseSecs)), lease };
    });
  }

  /** @param outcomes one per token, in the same order */
  async function record(
    host: string,
    batchTokens: readonly LiveToken[],
    outcomes: readonly ClientOutcome[],
  ): Promise<void> {
    if (batchTokens.length === 0) return;
    const results = { tokens: batchTokens, outcomes };
    await retryUntilAvailable(() => ledger.record(work, host, results, ledgerSecs));
    stats.countTokens(host, outcomes);
    onResults(results);
  }

  /** Deleted after their results are recorded: after a crash in between, the next send finds the tokens invalid again. */
  async function deleteGone(
    batchTokens: readonly LiveToken[],
    outcomes: readonly ClientOutcome[],
  ): Promise<void> {
    const gone = batchTokens.filter((_, at) => outcomes[at]?.isGone);
    if (gone.length > 0) await retryUntilAvailable(() => tokens.deleteMatching(gone.map(keyAndText)));
  }

  function recordFailure(host: string, batchTokens: readonly LiveToken[], reason: string): Promise<void> {
    const outcome = failure(reason);
    return record(
      host,
      batchTokens,
      batchTokens.map(() => outcome),
    );
  }

  async function call(host: string, url: string, texts: readonly string[]): Promise<BatchOutcome> {
    const startedAt = performance.now();
    const targetUrl = await openLinks(work, host);
    const notification = { ...work.notification, targetUrl };
    // A token that is in two rows is sent only once.
    const outcome = await post({
      url,
      notification,
      tokens: distinct(texts),
      signal: signals.cancelCalls,
    });
    if (outcome.kind === "cancelled") throw signals.cancelCalls.reason;
    const label = outcome.kind === "response" ? "response" : outcome.reason;
    stats.countCall(host, label, performance.now() - startedAt);
    return outcome;
  }

  async function waitForRetry(
    host: string,
    outcome: BatchOutcome & { readonly kind: "failed" },
    attempt: number,
  ): Promise<Slot | "given-up"> {
    const backoffMs = exponentialBackoffMs(settings.backoffMs, attempt, Number.POSITIVE_INFINITY);
    const jittered = withJitter(backoffMs, Math.random());
    await sleep(Math.max(jittered, outcome.waitMs), undefined, { signal: signals.stop });
    return slots.acquire({ campaign: work.campaignId, host, signal: signals.stop });
  }

  /** Counts tokens that the run does not attempt, by reason. */
  async function countNotAttempted(
    host: string,
    added: Readonly<Record<string, number>>,
    { notAttempted }: HostProgress,
  ): Promise<void> {
    const grown: Record<string, number> = {};
    for (const [reason, count] of Object.entries(added)) {
      if (count === 0) continue;
      stats.countNotAttempted(host, count);
      notAttempted[reason] = (notAttempted[reason] ?? 0) + count;
      grown[reason] = notAttempted[reason];
    }
    if (Object.keys(grown).length > 0) {
      await retryUntilAvailable(() => ledger.setNotAttempted(work, host, grown));
    }
  }

  /** @throws AppDeleted; the reason of the signal that has stopped the run */
  async function requireApp(): Promise<void> {
    const app = await retryUntilAvailable(() => {
      signals.stop.throwIfAborted();
      return apps.find(work.appId, nowSecs(clock));
    });
    signals.stop.throwIfAborted();
    if (!app) throw new AppDeleted(`app ${work.appId} was deleted`);
  }

  /**
   * Waits for the permission to call, and claims tokens again whose claim would not last for the whole call.
   *
   * @throws like `requireApp`
   */
  async function prepare(host: string, batch: Batch): Promise<Batch> {
    for (let ready = batch; ; ready = await claimAgain(host, ready)) {
      do {
        await untilGranted(permission, signals.stop);
        await requireApp();
      } while (permission() !== "granted");
      // Checked after the permission: if the lease was lost and replaced before that, it has another number.
      if (isHeld(ready.lease)) return ready;
    }
  }

  const isHeld = ({ endsAtMs, nodeLease }: ClaimLease) =>
    nodeLease === leaseNumber() && monotonicMs() + settings.timeoutMs < endsAtMs;

  async function claimAgain(host: string, batch: Batch): Promise<Batch> {
    const { claimed, conflicting, lease } = await claimWithRetry(batch.tokens);
    // The lease expired while they waited, and another campaign has claimed them.
    await recordFailure(host, conflicting, "claimed_by_another");
    return { ...batch, tokens: claimed, lease };
  }

  return {
    countNotAttempted,

    /** Claims tokens that the campaign has not counted yet, and counts those that another campaign has claimed. */
    async claim(
      host: string,
      candidates: readonly LiveToken[],
      progress: HostProgress,
    ): Promise<ClaimedTokens> {
      const { claimed, conflicting, lease } = await claimWithRetry(candidates);
      await countNotAttempted(host, { duplicate: conflicting.length }, progress);
      return { tokens: claimed, lease };
    },

    /**
     * Calls the client until it responds or the attempts are used up, and records the result of each token. If the run is stopped, its
     * claims are left to the campaign's next run.
     *
     * @throws AppDeleted, before a call; the reason of the signal that stopped it
     */
    async send(
      host: string,
      claimed: Batch,
      first: Slot | "given-up",
      progress: HostProgress,
    ): Promise<void> {
      let slot = first;
      let batch = claimed;
      let reason = "host_down";
      try {
        for (let attempt = 1; ; attempt++) {
          batch = await prepare(host, batch);
          const batchTokens = batch.tokens;
          if (batchTokens.length === 0) return;
          if (slot === "given-up") return await recordFailure(host, batchTokens, reason);

          const texts = batchTokens.map(({ details }) => details.token);
          const outcome = await call(host, batch.url, texts);
          if (outcome.kind === "cancelled") return;
          // The slot serves the next batch only after the outcome of this one is stored, so that a crash repeats one batch per slot.
          if (outcome.kind === "response") {
            const outcomes = tokenOutcomes(texts, outcome.response);
            await record(host, batchTokens, outcomes);
            slot.release("ok");
            return await deleteGone(batchTokens, outcomes);
          }
          reason = outcome.reason;
          const isLast = !outcome.isRetryable || attempt === settings.maxAttempts;
          if (isLast) await recordFailure(host, batchTokens, reason);
          slot.release(outcome.hostStatus, outcome.waitMs);
          if (isLast) return;
          progress.retriesWaiting += 1;
          try {
            slot = await waitForRetry(host, outcome, attempt);
          } finally {
            progress.retriesWaiting -= 1;
          }
        }
      } finally {
        if (slot !== "given-up") slot.release("none");
      }
    },
  };
}

function keyAndText({ appId, fid, clientFid, details }: LiveToken): TokenKey & { readonly token: string } {
  return { appId, fid, clientFid, token: details.token };
}
