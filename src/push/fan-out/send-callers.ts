import { StateUnavailable } from "../../db/state/unavailable.ts";
import type { CampaignStore, CampaignWork } from "../store/campaigns/campaign-store.ts";
import type { BatchResults, TokenResult } from "../store/campaigns/notification-ledger.ts";

/** Outcome of a campaign, apart from what is stored. */
export interface CampaignOutcome {
  /** The result of each token; undefined if there were too many, or if a run elsewhere had sent to some of them. */
  readonly results: readonly TokenResult[] | undefined;
}

/** How often the store is asked whether campaigns have ended. */
const POLL_INTERVAL_MS = 500;
/** Maximum number of campaigns in one query. */
const MAX_POLLED = 500;
/** A caller stops waiting when the state has not responded for this long. */
const MAX_UNAVAILABLE_MS = 10_000;
/** A caller stops waiting after this many faults of the node. */
const MAX_FAULTS = 5;

interface Caller {
  readonly outcome: PromiseWithResolvers<CampaignOutcome | undefined>;
  /** Results of all runs so far, if all of them were on this node. */
  results: ResultList | undefined;
  runs: number;
  faults: number;
}

/** Requests waiting for the end of their campaign. */
export type SendCallers = ReturnType<typeof createSendCallers>;

export function createSendCallers(deps: {
  readonly campaigns: Pick<CampaignStore, "ended">;
  /** Reports whether a campaign runs on this node, which then reports its end. */
  readonly isRunning: (campaignId: string) => boolean;
  readonly isPaused: () => boolean;
  readonly monotonicMs: () => number;
  readonly onFault: (cause: unknown) => void;
}) {
  const { campaigns, isRunning, isPaused, monotonicMs, onFault } = deps;
  const callers = new Map<string, Caller>();
  let unavailableSinceMs: number | undefined;
  let polling: ReturnType<typeof setInterval> | undefined;
  let isChecking = false;

  /** Ends the wait for a campaign that has run on this node. */
  function end(campaignId: string, outcome: CampaignOutcome | undefined): void {
    const caller = callers.get(campaignId);
    callers.delete(campaignId);
    caller?.outcome.resolve(outcome);
    if (callers.size > 0) return;
    clearInterval(polling);
    polling = undefined;
    unavailableSinceMs = undefined;
  }

  /** Asks the store which campaigns have ended elsewhere. */
  async function check(): Promise<void> {
    const waiting = [...callers.keys()];
    if (isPaused()) return endAll(waiting);
    if (isChecking) return;
    isChecking = true;
    try {
      for (let at = 0; at < waiting.length; at += MAX_POLLED) {
        // Includes those that run here: the response shows that the state is available.
        const asked = waiting.slice(at, at + MAX_POLLED);
        for (const campaignId of await campaigns.ended(asked)) {
          if (!isRunning(campaignId)) end(campaignId, { results: undefined });
        }
      }
      unavailableSinceMs = undefined;
    } catch (cause) {
      onFault(cause);
      if (!(cause instanceof StateUnavailable)) return;
      unavailableSinceMs ??= monotonicMs();
      if (monotonicMs() - unavailableSinceMs >= MAX_UNAVAILABLE_MS) endAll(waiting);
    } finally {
      isChecking = false;
    }
  }

  function endAll(campaignIds: readonly string[]): void {
    for (const campaignId of campaignIds) end(campaignId, undefined);
  }

  return {
    /** Resolves when the campaign has ended; undefined if the caller should not wait for it. */
    wait(campaignId: string): Promise<CampaignOutcome | undefined> {
      let caller = callers.get(campaignId);
      if (!caller) {
        caller = { outcome: Promise.withResolvers(), results: undefined, runs: 0, faults: 0 };
        callers.set(campaignId, caller);
        polling ??= setInterval(check, POLL_INTERVAL_MS);
      }
      return caller.outcome.promise;
    },

    end,

    /** Notes the end of a run after which another one continues the campaign. */
    interrupted(
      { campaignId, runs }: CampaignWork,
      results: ResultList | undefined,
      by: "state" | "fault",
    ): void {
      const caller = callers.get(campaignId);
      if (!caller) return;
      caller.results = results;
      caller.runs = runs;
      if (by === "fault") caller.faults += 1;
      if (caller.faults >= MAX_FAULTS) end(campaignId, undefined);
    },

    /** Returns the list of results that a further run continues; undefined if it would be incomplete. */
    resultsBefore({ campaignId, runs }: CampaignWork): ResultList | undefined {
      const caller = callers.get(campaignId);
      return caller?.runs === runs - 1 ? caller.results : undefined;
    },

    stop(): void {
      clearInterval(polling);
      polling = undefined;
    },
  };
}

/** A send to more tokens than this does not return the result of each. */
const MAX_LISTED = 100;

/** Results of the tokens of one send, up to a limit. */
export class ResultList {
  readonly #results: TokenResult[] = [];
  #isFull = false;

  add({ tokens, outcomes }: BatchResults): void {
    this.#isFull ||= this.#results.length + tokens.length > MAX_LISTED;
    if (this.#isFull) {
      this.#results.length = 0;
      return;
    }
    for (const [at, { fid, clientFid }] of tokens.entries()) {
      const outcome = outcomes[at];
      if (!outcome) throw new Error("a token has no outcome");
      const { kind, reason, isRetryable } = outcome;
      this.#results.push({ fid, clientFid, kind, reason, isRetryable });
    }
  }

  /** Undefined if there were too many. */
  all(): readonly TokenResult[] | undefined {
    return this.#isFull ? undefined : this.#results;
  }
}
