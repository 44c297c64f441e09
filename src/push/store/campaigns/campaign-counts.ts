import { sql, sqlEach } from "../../../db/state/sql.ts";
import type { Queries, Tx } from "../../../db/state/state-db.ts";
import type { Row } from "../../../db/state/table.ts";
import type { campaignClients, campaignCounts } from "../tables.ts";
import type {
  CampaignBreakdown,
  CampaignTotals,
  ClientCount,
  OutcomeCount,
  OutcomeKind,
} from "./campaign-store.ts";
import type { TokenResult } from "./notification-ledger.ts";

const addCounts = sqlEach<
  unknown,
  [host: string, kind: OutcomeKind, reason: string, count: number],
  [campaign: number]
>(
  "campaign-counts.add",
  `INSERT INTO campaign_counts AS c (campaign, host, kind, reason, count)
   SELECT $2::bigint, t.value ->> 0, t.value ->> 1, t.value ->> 2, (t.value ->> 3)::bigint FROM rows($1) t WHERE true
   ON CONFLICT (campaign, host, kind, reason) DO UPDATE SET count = c.count + excluded.count`,
);
const addClients = sqlEach<
  unknown,
  [clientFid: number, tokens: number, successes: number],
  [campaign: number]
>(
  "campaign-clients.add",
  `INSERT INTO campaign_clients AS c (campaign, client_fid, tokens, successes)
   SELECT $2::bigint, (t.value ->> 0)::bigint, (t.value ->> 1)::bigint, (t.value ->> 2)::bigint FROM rows($1) t WHERE true
   ON CONFLICT (campaign, client_fid)
   DO UPDATE SET tokens = c.tokens + excluded.tokens, successes = c.successes + excluded.successes`,
);
const addTotals = sql<unknown, [campaign: number, success: number, failure: number, notAttempted: number]>(
  "campaigns.add-counts",
  `UPDATE campaigns SET success_count = success_count + $2, failure_count = failure_count + $3,
     not_attempted_count = not_attempted_count + $4 WHERE seq = $1`,
);
const notAttempted = sql<
  Pick<Row<typeof campaignCounts>, "host" | "reason" | "count">,
  [campaign: number, hosts: readonly string[]]
>(
  "campaign-counts.not-attempted",
  `SELECT host, reason, count FROM campaign_counts
   WHERE campaign = $1 AND host = ANY ($2::text[]) AND kind = 'not_attempted'`,
);
const deleteNotAttempted = sql<unknown, [campaigns: readonly number[]]>(
  "campaign-counts.forget",
  "DELETE FROM campaign_counts WHERE campaign = ANY ($1::bigint[]) AND kind = 'not_attempted'",
);
const byReason = sql<Omit<OutcomeCount, "host">, [campaign: number]>(
  "campaign-counts.by-reason",
  `SELECT kind, reason, sum(count)::bigint AS count FROM campaign_counts WHERE campaign = $1
   GROUP BY kind, reason ORDER BY kind, reason`,
);
const byHost = sql<OutcomeCount, [campaign: number, maxHosts: number]>(
  "campaign-counts.by-host",
  `WITH largest AS MATERIALIZED (
     SELECT host, sum(count) AS tokens FROM campaign_counts WHERE campaign = $1
     GROUP BY host ORDER BY tokens DESC, host LIMIT $2
   )
   SELECT c.host, c.kind, c.reason, c.count FROM largest
   CROSS JOIN campaign_counts c WHERE c.campaign = $1 AND c.host = largest.host
   ORDER BY largest.tokens DESC, c.host, c.kind, c.reason`,
);
const countHosts = sql<{ hosts: number }, [campaign: number]>(
  "campaign-counts.hosts",
  "SELECT count(DISTINCT host) AS hosts FROM campaign_counts WHERE campaign = $1",
);
const byClient = sql<Omit<Row<typeof campaignClients>, "campaign">, [campaign: number, max: number]>(
  "campaign-clients.first",
  `SELECT client_fid, tokens, successes FROM campaign_clients
   WHERE campaign = $1 ORDER BY client_fid LIMIT $2`,
);

/** Deletes the counts of tokens that were not attempted; the caller resets the totals in the rows of the campaigns. */
export async function resetNotAttemptedCounts(tx: Tx, campaigns: readonly number[]): Promise<void> {
  await tx.run(deleteNotAttempted, campaigns);
}

export async function readBreakdown(
  db: Queries,
  campaign: number,
  maxHosts: number,
): Promise<CampaignBreakdown> {
  return {
    byHost: await db.all(byHost, campaign, maxHosts),
    hostCount: (await db.get(countHosts, campaign))?.hosts ?? 0,
    byReason: await db.all(byReason, campaign),
  };
}

export async function readTotals(db: Queries, campaign: number, maxClients: number): Promise<CampaignTotals> {
  const clients = await db.all(byClient, campaign, maxClients);
  return {
    byReason: await db.all(byReason, campaign),
    byClient: clients.map(({ client_fid, tokens, successes }) => ({
      clientFid: client_fid,
      tokens,
      successes,
    })),
  };
}

/** The changes that a group of ledger calls makes to the counts of its campaign. */
export class GroupCounts {
  readonly #byReason = new Map<string, OutcomeCount>();
  readonly #byClient = new Map<number, { -readonly [name in keyof ClientCount]: number }>();
  /** By host and reason. */
  readonly #notAttempted = new Map<string, Omit<OutcomeCount, "kind">>();
  readonly #retryable: number[] = [];
  #successes = 0;
  #failures = 0;
  #keptUntil = 0;

  /** Fids with a token that may get the notification later. */
  get retryable(): readonly number[] {
    return this.#retryable;
  }

  /** When the last success expires, unix seconds; 0 without a success. */
  get keptUntil(): number {
    return this.#keptUntil;
  }

  /**
   * Adds the results of one host.
   *
   * @param fresh the results that were not counted before
   */
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
    const byReason = new Map<string, number>();
    for (const { clientFid, kind, reason } of fresh) {
      byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
      let client = this.#byClient.get(clientFid);
      if (!client) {
        client = { clientFid, tokens: 0, successes: 0 };
        this.#byClient.set(clientFid, client);
      }
      client.tokens += 1;
      if (kind === "success") client.successes += 1;
    }
    // Only a success has an empty reason.
    for (const [reason, count] of byReason) {
      this.#add({ host, kind: reason === "" ? "success" : "failure", reason, count });
      if (reason === "") this.#successes += count;
      else this.#failures += count;
    }
  }

  setNotAttempted(host: string, totals: Readonly<Record<string, number>>): void {
    for (const [reason, count] of Object.entries(totals)) {
      const key = JSON.stringify([host, reason]);
      const known = this.#notAttempted.get(key)?.count ?? 0;
      if (count > known) this.#notAttempted.set(key, { host, reason, count });
    }
  }

  /** Writes the counts, as the last statements of the transaction. */
  async write(tx: Tx, campaign: number): Promise<void> {
    const grown = await this.#growNotAttempted(tx, campaign);
    await tx.each(
      addCounts,
      [...this.#byReason.values()].map(
        ({ host, kind, reason, count }) => [host, kind, reason, count] as const,
      ),
      campaign,
    );
    await tx.each(
      addClients,
      [...this.#byClient.values()].map(
        ({ clientFid, tokens, successes }) => [clientFid, tokens, successes] as const,
      ),
      campaign,
    );
    if (this.#successes + this.#failures + grown === 0) return;
    await tx.run(addTotals, campaign, this.#successes, this.#failures, grown);
  }

  /** Adds the increases of the numbers of tokens that were not attempted. Returns their sum. */
  async #growNotAttempted(tx: Tx, campaign: number): Promise<number> {
    if (this.#notAttempted.size === 0) return 0;
    const hosts = new Set([...this.#notAttempted.values()].map(({ host }) => host));
    const stored = new Map(
      (await tx.all(notAttempted, campaign, [...hosts])).map(({ host, reason, count }) => [
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
