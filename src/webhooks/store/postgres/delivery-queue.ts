import type { PgPools } from "../../../db/postgres/pools.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { Secret } from "../../../db/state/secret.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import { durationClassOf, statsStepOf } from "../attempt-stats.ts";
import { failureRunReason, GONE } from "../deactivation-reason.ts";
import {
  CALLS_PER_WEBHOOK,
  type Claimed,
  type ClaimedDelivery,
  type ClaimRequest,
  type DeliveryQueue,
  type FailureRule,
  type Settlement,
} from "../delivery-queue.ts";
import { rateWindowOf } from "../rate-window.ts";
import { settledDelivery } from "../settled-delivery.ts";
import { totalsSlot } from "./delivery-totals.ts";
import { createQueueGroups } from "./queue-groups.ts";
import { deactivateUnchanged } from "./webhook-deactivation.ts";

interface ClaimRow {
  /** Index of the request. */
  readonly request: number;
  /** Null in the row of the request, which follows those of its deliveries. */
  readonly seq: number | null;
  readonly message_id: string;
  readonly attempts: number;
  readonly due_at_ms: number;
  readonly body: string;
  readonly counted_at_ms: number | null;
  readonly owner_fid: number;
  readonly target_url: string;
  readonly compat_prefix: string | null;
  readonly secrets: string | null;
  readonly dropped: number;
  readonly next_at_ms: number | null;
}

const claim = pgStatement<ClaimRow, [requests: string, bootId: string, slot: number, atOnce: number]>(
  "deliveries.claim",
  `SELECT request, seq, message_id, attempts, due_at_ms, body, counted_at_ms, owner_fid, target_url, compat_prefix,
     secrets, dropped, next_at_ms
   FROM claim_deliveries_v1($1::text::jsonb, $2::uuid, $3::integer, $4::integer)`,
);
const settle = pgStatement<
  { settlement: number; webhook_id: string; version: number; failures: number | null },
  [settlements: string, bootId: string, slot: number, nowSecs: number, failures: number, runSecs: number]
>(
  "deliveries.settle",
  `SELECT settlement, webhook_id, version, failures
   FROM settle_deliveries_v1($1::text::jsonb, $2::uuid, $3::integer, $4::bigint, $5::integer, $6::bigint)`,
);
const unclaim = pgStatement<
  unknown,
  [seqs: number[], leaseEnds: number[], dueAts: number[], countedAts: number[], bootId: string]
>(
  "deliveries.unclaim",
  `WITH released AS (
     UPDATE deliveries d SET due_at_ms = r.due_at_ms, lease_ends_at_ms = NULL, claimed_by = NULL
     FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
       AS r(seq, lease_ends_at_ms, due_at_ms, counted_at_ms)
     WHERE d.seq = r.seq AND d.lease_ends_at_ms = r.lease_ends_at_ms AND d.claimed_by = $5
     RETURNING d.webhook, r.counted_at_ms
   )
   UPDATE delivery_rates c SET count = c.count - u.calls
   FROM (SELECT webhook, counted_at_ms, count(*) AS calls FROM released GROUP BY webhook, counted_at_ms) u
   WHERE c.webhook = u.webhook AND c.starts_at_ms = u.counted_at_ms`,
);
const release = pgStatement<unknown, [dueAtMs: number, seq: number, leaseEndsAtMs: number, bootId: string]>(
  "deliveries.release",
  `UPDATE deliveries SET due_at_ms = $1, lease_ends_at_ms = NULL, claimed_by = NULL
   WHERE seq = $2 AND lease_ends_at_ms = $3 AND claimed_by = $4`,
);
/** By PostgreSQL's clock: a process whose own clock is wrong must not take all others for dead. */
const endLeases = pgStatement<unknown, [nowMs: number, bootId: string, max: number]>(
  "deliveries.end-leases",
  `UPDATE deliveries SET due_at_ms = $1, lease_ends_at_ms = NULL, claimed_by = NULL WHERE seq IN (
     SELECT d.seq FROM deliveries d WHERE d.lease_ends_at_ms > 0 AND d.claimed_by <> $2
       AND d.claimed_by NOT IN (SELECT n.boot FROM nodes n
                                WHERE n.ends_at_ms > extract(epoch FROM clock_timestamp()) * 1000)
     LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED)`,
);
/** A loose scan of the index: each step seeks the next webhook. */
const dueWebhooks = pgStatement<
  { seq: number; webhook_id: string | null; due_at_ms: number; is_failing: boolean | null },
  [afterWebhook: number, max: number]
>(
  "deliveries.due-webhooks",
  `WITH RECURSIVE due AS (
     (SELECT d.webhook, d.due_at_ms FROM deliveries d WHERE d.webhook > $1 AND d.due_at_ms IS NOT NULL
      ORDER BY d.webhook, d.due_at_ms LIMIT 1)
     UNION ALL
     SELECT n.webhook, n.due_at_ms FROM due CROSS JOIN LATERAL (
       SELECT d.webhook, d.due_at_ms FROM deliveries d WHERE d.webhook > due.webhook AND d.due_at_ms IS NOT NULL
       ORDER BY d.webhook, d.due_at_ms LIMIT 1) n
   ), page AS MATERIALIZED (SELECT webhook, due_at_ms FROM due LIMIT $2)
   SELECT p.webhook AS seq, w.webhook_id, p.due_at_ms,
     h.last_failure_at > coalesce(h.last_success_at, 0) AS is_failing
   FROM page p LEFT JOIN webhooks w ON w.seq = p.webhook AND w.active
     LEFT JOIN webhook_health h ON h.webhook = p.webhook
   ORDER BY p.webhook`,
);

/**
 * The queue of deliveries in PostgreSQL. Claims and settlements are made in groups, one after the other, as by the writer of
 * a SQLite state: a group costs one round trip and one commit, a claim never overtakes an earlier settlement of its webhook,
 * and the claims of this process do not find the queue of a webhook locked by its own settlements.
 */
export function createPostgresDeliveryQueue(
  { main, queue }: Pick<PgPools, "main" | "queue">,
  { node, clock }: { readonly node: StateNode; readonly clock: StateClock },
): DeliveryQueue {
  const { bootId } = node;
  const slot = totalsSlot(node, "queue");
  /** Webhooks that are being deactivated. */
  const deactivating = new Map<string, Promise<unknown>>();

  async function claimAll(requests: readonly ClaimRequest[]): Promise<(Claimed | undefined)[]> {
    const rows = await queue.all(
      claim,
      JSON.stringify(requests.map(claimJson)),
      bootId,
      slot,
      CALLS_PER_WEBHOOK,
    );
    const byRequest = Map.groupBy(rows, ({ request }) => request);
    return requests.map((request, at) => toClaimed(request, byRequest.get(at) ?? []));
  }

  async function settleAll(
    settlements: readonly Settlement[],
    rule: FailureRule,
  ): Promise<readonly (() => Promise<string | undefined>)[]> {
    const rows = await queue.all(
      settle,
      JSON.stringify(settlements.map(settlementJson)),
      bootId,
      slot,
      stateSecs(clock),
      rule.failures,
      rule.runSecs,
    );
    const bySettlement = new Map(rows.map((row) => [row.settlement, row]));
    return settlements.map((settlement, at) => {
      const asked = bySettlement.get(at);
      if (!asked) return async () => undefined;
      const { webhook_id: webhookId, version, failures } = asked;
      const reason = failures === null ? GONE : failureRunReason(failures, rule);
      const nowSecs = settledDelivery(settlement).attemptedAt;
      const done = deactivateUnchanged(main, { webhookId, reason, version, nowSecs });
      // Its claims wait, so that a receiver that is gone gets no more calls.
      const waiting = Promise.allSettled([deactivating.get(webhookId), done]).finally(() => {
        if (deactivating.get(webhookId) === waiting) deactivating.delete(webhookId);
      });
      deactivating.set(webhookId, waiting);
      return async () => ((await done) ? reason : undefined);
    });
  }

  const groups = createQueueGroups({ claimAll, settleAll });

  return {
    endLeasesOfTheDead: (nowMs, max) => queue.run(endLeases, nowMs, bootId, max),

    async dueWebhooks(after, max) {
      const rows = await queue.all(dueWebhooks, after, max);
      return {
        webhooks: rows.flatMap(({ webhook_id, due_at_ms, is_failing }) =>
          webhook_id === null
            ? []
            : [{ webhookId: webhook_id, dueAtMs: due_at_ms, isFailing: is_failing === true }],
        ),
        last: rows.length < max ? undefined : rows.at(-1)?.seq,
      };
    },

    async claim(request) {
      await deactivating.get(request.webhookId);
      return groups.claim(request);
    },
    settle: (settlements, rule) => groups.settle(settlements, rule),

    unclaim: (deliveries) =>
      groups.run(async () => {
        if (deliveries.length === 0) return;
        await queue.run(
          unclaim,
          deliveries.map(({ seq }) => seq),
          deliveries.map(({ leaseEndsAtMs }) => leaseEndsAtMs),
          deliveries.map(({ dueAtMs }) => dueAtMs),
          deliveries.map(({ countedAtMs }) => countedAtMs),
          bootId,
        );
      }),
    release: ({ seq, leaseEndsAtMs }, nowMs) =>
      groups.run(async () => void (await queue.run(release, nowMs, seq, leaseEndsAtMs, bootId))),
  };
}

function claimJson(request: ClaimRequest) {
  const { webhookId, nowMs, leaseEndsAtMs, maxRetryDelayMs, limit, max } = request;
  const { partMs, reachMs } = rateWindowOf(request);
  return {
    webhook_id: webhookId,
    now_ms: nowMs,
    lease_ends_at_ms: leaseEndsAtMs,
    farthest_ms: nowMs + maxRetryDelayMs,
    calls: limit.calls,
    part_ms: partMs,
    reach_ms: reachMs,
    max_wait_ms: limit.maxWaitMs,
    max,
  };
}

function toClaimed({ leaseEndsAtMs }: ClaimRequest, rows: readonly ClaimRow[]): Claimed | undefined {
  const webhook = rows.at(-1);
  if (!webhook) return undefined;
  const { dropped, next_at_ms: nextAtMs } = webhook;
  const secrets: readonly Secret[] = JSON.parse(webhook.secrets ?? "[]");
  const deliveries = rows.flatMap((row): ClaimedDelivery[] =>
    row.seq === null
      ? []
      : [
          {
            seq: row.seq,
            leaseEndsAtMs,
            dueAtMs: row.due_at_ms,
            countedAtMs: webhook.counted_at_ms ?? 0,
            messageId: row.message_id,
            attempts: row.attempts,
            body: row.body,
            ownerFid: webhook.owner_fid,
            targetUrl: webhook.target_url,
            compatPrefix: webhook.compat_prefix,
            secrets,
          },
        ],
  );
  return { deliveries, dropped, nextAtMs };
}

function settlementJson(settlement: Settlement) {
  const { delivery, attempt, verdict, holdUntilMs } = settlement;
  const { state, dueAtMs, attemptedAt } = settledDelivery(settlement);
  return {
    seq: delivery.seq,
    lease_ends_at_ms: delivery.leaseEndsAtMs,
    verdict: verdict.kind,
    state,
    due_at_ms: dueAtMs,
    hold_until_ms: holdUntilMs,
    ended_at_secs: attemptedAt,
    at_ms: attempt.atMs,
    status: attempt.status,
    error: attempt.error,
    duration_ms: attempt.durationMs,
    duration_class: durationClassOf(attempt.durationMs),
    counted_at_secs: statsStepOf(attemptedAt),
    answer: storable(attempt.responseText),
  };
}

/** PostgreSQL stores no NUL, and a receiver may send one. */
function storable(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}
