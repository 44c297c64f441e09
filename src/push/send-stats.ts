import { CallDurations, type DurationStats } from "../lib/call-durations.ts";
import type { OutcomeKind } from "./store/campaign-store.ts";
import type { TokenResult } from "./store/notification-ledger.ts";

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

/** Counters of sends, in bounded memory. */
export class SendCounters {
  readonly #hosts = new Set<string>();
  readonly #tokens = new Map<string, number>();
  readonly #calls = new Map<string, number>();
  readonly #durations = new CallDurations();

  countTokens(host: string, results: readonly Pick<TokenResult, "kind">[]): void {
    const success = results.reduce((sum, { kind }) => sum + (kind === "success" ? 1 : 0), 0);
    this.#add(this.#tokens, host, "success", success);
    this.#add(this.#tokens, host, "failure", results.length - success);
  }

  countNotAttempted(host: string, count: number): void {
    this.#add(this.#tokens, host, "not_attempted", count);
  }

  /** @param outcome `answered`, or the error class */
  countCall(host: string, outcome: string, durationMs: number): void {
    this.#add(this.#calls, host, outcome, 1);
    this.#durations.count(durationMs);
  }

  stats(): SendStats {
    return {
      tokens: split(this.#tokens).map((part) => ({ ...part, outcome: part.outcome as OutcomeKind })),
      calls: split(this.#calls),
      callDurations: this.#durations.stats(),
    };
  }

  #add(counts: Map<string, number>, host: string, outcome: string, added: number): void {
    if (added === 0) return;
    if (this.#hosts.size < MAX_HOSTS) this.#hosts.add(host);
    const key = `${this.#hosts.has(host) ? host : OTHER_HOSTS} ${outcome}`;
    counts.set(key, (counts.get(key) ?? 0) + added);
  }
}

/** Hosts and outcomes contain no space. */
function split(counts: ReadonlyMap<string, number>) {
  return [...counts].map(([key, count]) => {
    const [host = "", outcome = ""] = key.split(" ");
    return { host, outcome, count };
  });
}
