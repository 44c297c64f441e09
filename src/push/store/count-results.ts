import type { ClientCount, OutcomeCounts, OutcomeKind } from "./campaign-store.ts";
import type { TokenResult } from "./notification-ledger.ts";

/** Number of tokens by outcome, by reason and by client app. */
export interface ResultCounts {
  readonly totals: OutcomeCounts;
  readonly byReason: readonly {
    readonly kind: OutcomeKind;
    readonly reason: string;
    readonly count: number;
  }[];
  readonly byClient: readonly ClientCount[];
}

/** Counts results of one client host. */
export function countResults(results: readonly TokenResult[]): ResultCounts {
  const byReason = new Map<string, number>();
  const byClient = new Map<number, { tokens: number; successes: number }>();
  let success = 0;
  for (const { clientFid, kind, reason } of results) {
    byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
    let client = byClient.get(clientFid);
    if (!client) {
      client = { tokens: 0, successes: 0 };
      byClient.set(clientFid, client);
    }
    client.tokens += 1;
    if (kind !== "success") continue;
    client.successes += 1;
    success += 1;
  }
  return {
    totals: { success, failure: results.length - success, notAttempted: 0 },
    // Only a success has an empty reason.
    byReason: [...byReason].map(([reason, count]) => ({
      kind: reason === "" ? "success" : "failure",
      reason,
      count,
    })),
    byClient: [...byClient].map(([clientFid, counts]) => ({ clientFid, ...counts })),
  };
}
