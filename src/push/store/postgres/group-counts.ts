import type { PgTransaction } from "../../../db/postgres/pool.ts";
import type { ClientCount, OutcomeCount, OutcomeCounts } from "../campaign-store.ts";
import { countResults } from "../count-results.ts";
import type { TokenResult } from "../notification-ledger.ts";
import {
  addToCampaignClients,
  addToCampaignCounts,
  addToCampaignTotals,
  readNotAttempted,
} from "./campaign-counts.ts";

/** What a group of calls of the ledger adds to the counts of its campaign. */
export class GroupCounts {
  readonly #byReason = new Map<string, OutcomeCount>();
  readonly #byClient = new Map<number, ClientCount>();
  /** By host and reason. */
  readonly #notAttempted = new Map<string, Omit<OutcomeCount, "kind">>();
  readonly #retryable: number[] = [];
  #totals: OutcomeCounts = { success: 0, failure: 0, notAttempted: 0 };
  #keptUntil = 0;

  /** Fids with a token that may get the notification later. */
  get retryable(): readonly number[] {
    return this.#retryable;
  }

  /** When the last success expires, unix seconds; 0 without a success. */
  get keptUntil(): number {
    return this.#keptUntil;
  }

  /** @param fresh the results that were not counted before */
  addResults(
    host: string,
    fresh: readonly TokenResult[],
    results: readonly TokenResult[],
    keptUntil: number,
  ): void {
    for (const { fid, kind, isRetryable } of results) {
      if (isRetryable) this.#retryable.push(fid);
      if (kind === "success") this.#keptUntil = Math.max(this.#keptUntil, keptUntil);
    }
    const { totals, byReason, byClient } = countResults(fresh);
    for (const counted of byReason) this.#add({ host, ...counted });
    for (const { clientFid, tokens, successes } of byClient) {
      const before = this.#byClient.get(clientFid);
      this.#byClient.set(clientFid, {
        clientFid,
        tokens: tokens + (before?.tokens ?? 0),
        successes: successes + (before?.successes ?? 0),
      });
    }
    this.#totals = {
      ...this.#totals,
      success: this.#totals.success + totals.success,
      failure: this.#totals.failure + totals.failure,
    };
  }

  setNotAttempted(host: string, totals: Readonly<Record<string, number>>): void {
    for (const [reason, count] of Object.entries(totals)) {
      const key = JSON.stringify([host, reason]);
      const known = this.#notAttempted.get(key)?.count ?? 0;
      if (count > known) this.#notAttempted.set(key, { host, reason, count });
    }
  }

  /** Writes the counts, as the last statements of the transaction. */
  async write(tx: PgTransaction, campaign: number): Promise<void> {
    const notAttempted = await this.#growNotAttempted(tx, campaign);
    await addToCampaignCounts(tx, campaign, [...this.#byReason.values()]);
    await addToCampaignClients(tx, campaign, [...this.#byClient.values()]);
    await addToCampaignTotals(tx, campaign, { ...this.#totals, notAttempted });
  }

  /** Adds by how much the numbers of tokens that were not attempted grow. Returns their sum. */
  async #growNotAttempted(tx: PgTransaction, campaign: number): Promise<number> {
    if (this.#notAttempted.size === 0) return 0;
    const hosts = new Set([...this.#notAttempted.values()].map(({ host }) => host));
    const stored = new Map(
      (await readNotAttempted(tx, campaign, [...hosts])).map(({ host, reason, count }) => [
        JSON.stringify([host, reason]),
        count,
      ]),
    );
    let sum = 0;
    for (const [key, { host, reason, count }] of this.#notAttempted) {
      const grown = count - (stored.get(key) ?? 0);
      if (grown <= 0) continue;
      this.#add({ host, kind: "not_attempted", reason, count: grown });
      sum += grown;
    }
    return sum;
  }

  #add(added: OutcomeCount): void {
    const key = JSON.stringify([added.host, added.kind, added.reason]);
    const count = added.count + (this.#byReason.get(key)?.count ?? 0);
    this.#byReason.set(key, { ...added, count });
  }
}
