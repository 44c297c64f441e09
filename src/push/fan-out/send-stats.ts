import { CallDurations, type DurationStats } from "../../runtime/figures/call-durations.ts";
import type { OutcomeKind } from "../store/campaigns/campaign-store.ts";
import type { TokenOutcome } from "../store/campaigns/notification-ledger.ts";

/** Limit of hosts that are counted separately: clients choose the hosts. */
const MAX_HOSTS = 100;
export const OTHER_HOSTS = "other";

/** Counts since the start of the process, by host. */
export interface SendStats {
  readonly tokens: readonly {
    readonly host: string;
    readonly outcome: OutcomeKind;
    readonly count: number;
  }[];
  readonly calls: readonly { readonly host: string; readonly outcome: string; readonly count: number }[];
  readonly callDurations: DurationStats;
}

/** Counts by host, then by outcome. */
type HostCounts = Map<string, Map<string, number>>;

/** Counters of sends, in bounded memory. */
export class SendCounters {
  readonly #hosts = new Set<string>();
  readonly #tokens: HostCounts = new Map();
  readonly #calls: HostCounts = new Map();
  readonly #durations = new CallDurations();

  countTokens(host: string, outcomes: readonly TokenOutcome[]): void {
    let success = 0;
    for (const { kind } of outcomes) if (kind === "success") success += 1;
    this.#add(this.#tokens, host, "success", success);
    this.#add(this.#tokens, host, "failure", outcomes.length - success);
  }

  countNotAttempted(host: string, count: number): void {
    this.#add(this.#tokens, host, "not_attempted", count);
  }

  /** @param outcome `response`, or the error class */
  countCall(host: string, outcome: string, durationMs: number): void {
    this.#add(this.#calls, host, outcome, 1);
    this.#durations.count(durationMs);
  }

  stats(): SendStats {
    return {
      tokens: toList<OutcomeKind>(this.#tokens),
      calls: toList(this.#calls),
      callDurations: this.#durations.stats(),
    };
  }

  #add(counts: HostCounts, host: string, outcome: string, added: number): void {
    if (added === 0) return;
    if (this.#hosts.size < MAX_HOSTS) this.#hosts.add(host);
    const name = this.#hosts.has(host) ? host : OTHER_HOSTS;
    let ofHost = counts.get(name);
    if (!ofHost) {
      ofHost = new Map();
      counts.set(name, ofHost);
    }
    ofHost.set(outcome, (ofHost.get(outcome) ?? 0) + added);
  }
}

function toList<Outcome extends string>(counts: HostCounts) {
  return [...counts].flatMap(([host, ofHost]) =>
    [...ofHost].map(([outcome, count]) => ({ host, outcome: outcome as Outcome, count })),
  );
}
