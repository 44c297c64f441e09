import { sql, sqlEach } from "../../../db/state/sql.ts";
import { stateSecs } from "../../../db/state/state-clock.ts";
import type { Tx } from "../../../db/state/state-db.ts";
import { countAttempts, type Settled } from "../attempt-stats.ts";
import type { DeliveryState } from "../delivery-log.ts";
import type { Deactivation } from "../delivery-publications.ts";
import type { FailureRule, Settlement } from "../delivery-queue.ts";
import { addToDeliveryTotals } from "../delivery-totals.ts";
import { failureRunReason, GONE } from "../webhook-changes.ts";

interface HealthRow {
  readonly webhook: number;
  readonly last_success_at: number | null;
  readonly last_failure_at: number | null;
  readonly consecutive_failures: number;
  readonly failing_since: number | null;
  readonly held_until_ms: number | null;
}

type LeaseEnd = readonly [
  seq: number,
  leaseEndsAtMs: number,
  state: DeliveryState,
  dueAtMs: number | null,
  endedAt: number | null,
];
type HealthChange = readonly [
  webhook: number,
  ended: number,
  lastSuccessAt: number | null,
  lastFailureAt: number | null,
  failures: number,
  failingSince: number | null,
  heldUntilMs: number | null,
];

/** Locks the queues of the deliveries. */
const lockHealth = sqlEach<HealthRow, [seq: number]>(
  "webhook-health.lock-settled",
  `SELECT webhook, last_success_at, last_failure_at, consecutive_failures, failing_since, held_until_ms FROM webhook_health
   WHERE webhook = ANY (ARRAY(SELECT d.webhook FROM deliveries d, rows($1) t
     WHERE d.seq = (t.value ->> 0)::bigint)::bigint[]) ORDER BY webhook FOR NO KEY UPDATE`,
);
const endLeases = sqlEach<{ seq: number; webhook: number }, LeaseEnd, [bootId: string]>(
  "deliveries.settle",
  `UPDATE deliveries SET state = t.value ->> 2, attempts = attempts + 1, due_at_ms = (t.value ->> 3)::bigint,
     lease_ends_at_ms = NULL, claimed_by = NULL, ended_at = (t.value ->> 4)::bigint
   FROM rows($1) t WHERE seq = (t.value ->> 0)::bigint AND lease_ends_at_ms = (t.value ->> 1)::bigint AND claimed_by = $2
   RETURNING seq, webhook`,
);
const insertAttempts = sqlEach<
  unknown,
  [
    delivery: number,
    atMs: number,
    status: number | null,
    error: string | null,
    durationMs: number,
    responseText: string,
  ]
>(
  "delivery-attempts.insert",
  `INSERT INTO delivery_attempts (delivery, at_ms, status, error, duration_ms, answer)
   SELECT (t.value ->> 0)::bigint, (t.value ->> 1)::bigint, (t.value ->> 2)::integer, t.value ->> 3,
     (t.value ->> 4)::bigint, t.value ->> 5 FROM rows($1) t`,
);
const setHealth = sqlEach<unknown, HealthChange>(
  "webhook-health.settle",
  `UPDATE webhook_health SET queued = queued - (t.value ->> 1)::bigint, last_success_at = (t.value ->> 2)::bigint,
     last_failure_at = (t.value ->> 3)::bigint, consecutive_failures = (t.value ->> 4)::bigint,
     failing_since = (t.value ->> 5)::bigint, held_until_ms = (t.value ->> 6)::bigint
   FROM rows($1) t WHERE webhook = (t.value ->> 0)::bigint`,
);
const activeVersions = sql<
  { seq: number; webhook_id: string; version: number },
  [webhooks: readonly number[]]
>(
  "webhooks.active-versions",
  `SELECT w.seq, w.webhook_id, c.version FROM webhooks w JOIN webhook_changes c ON c.webhook_id = w.webhook_id
   WHERE w.seq = ANY ($1::bigint[]) AND w.active`,
);

const STATE_AFTER = {
  delivered: "delivered",
  retry: "queued",
  failed: "failed",
  gone: "failed",
} as const satisfies Record<Settlement["verdict"]["kind"], DeliveryState>;

/** Returns when the attempt of a settlement ended, in unix seconds. */
const endedAt = ({ attempt }: Settlement) => Math.floor((attempt.atMs + attempt.durationMs) / 1000);

/** The health of a webhook while its settlements are applied. */
interface Health {
  ended: number;
  lastSuccessAt: number | null;
  lastFailureAt: number | null;
  failures: number;
  failingSince: number | null;
  heldUntilMs: number | null;
}

/**
 * Settles deliveries in order (`DeliveryQueue.settle`), within the caller's transaction.
 *
 * @returns the deactivation that each settlement requires, with the version of the webhook that it saw. The caller deactivates in a
 * separate transaction, which takes the lock of changes first.
 */
export async function settleDeliveries(
  tx: Tx,
  settlements: readonly Settlement[],
  rule: FailureRule,
): Promise<readonly (Deactivation | undefined)[]> {
  const seqs = [...new Set(settlements.map(({ delivery }) => delivery.seq))];
  const queues = await tx.each(
    lockHealth,
    seqs.map((seq) => [seq] as const),
  );
  const health = new Map(queues.map((row) => [row.webhook, healthOf(row)]));
  const settled = await endHeldLeases(tx, settlements);
  if (settled.length === 0) return settlements.map(() => undefined);
  await insertAllAttempts(tx, settled);
  await countAttempts(tx, settled);
  const ended = { delivered: 0, failed: 0 };
  /** The settlements that require a deactivation, with the number of consecutive failures; 0 for a receiver that returned 410. */
  const over = new Map<Settlement, { readonly webhook: number; readonly failures: number }>();
  for (const { webhook, settlement, nowSecs } of settled) {
    const now = health.get(webhook);
    if (!now) continue;
    const { verdict, holdUntilMs } = settlement;
    const state = STATE_AFTER[verdict.kind];
    apply(now, verdict.kind, nowSecs);
    if (holdUntilMs !== null) now.heldUntilMs = holdUntilMs;
    if (state !== "queued") ended[state] += 1;
    // A jump of the machine's clock does not lengthen a run of failures.
    const ranSecs = Math.min(nowSecs, stateSecs(tx.clock)) - (now.failingSince ?? nowSecs);
    if (verdict.kind === "gone") over.set(settlement, { webhook, failures: 0 });
    else if (verdict.kind === "failed" && now.failures >= rule.failures && ranSecs >= rule.runSecs)
      over.set(settlement, { webhook, failures: now.failures });
  }
  const touched = new Set(settled.map(({ webhook }) => webhook));
  await tx.each(
    setHealth,
    [...health].flatMap(([webhook, now]) => (touched.has(webhook) ? [changeOf(webhook, now)] : [])),
  );
  const deactivations = over.size === 0 ? new Map() : await deactivationsOf(tx, over, rule);
  await addToDeliveryTotals(tx, "unsynced", { ...ended, queued: -(ended.delivered + ended.failed) });
  return settlements.map((settlement) => deactivations.get(settlement));
}

/** Ends the leases that this process still holds, and returns those settlements in order. */
async function endHeldLeases(tx: Tx, settlements: readonly Settlement[]): Promise<readonly Settled[]> {
  const held = new Map<Settlement, Settled>();
  // A statement changes a row only once, so a second settlement of the same delivery needs another statement.
  for (let left = settlements; left.length > 0; ) {
    const bySeq = Map.groupBy(left, ({ delivery }) => delivery.seq);
    const given = [...bySeq.values()].flatMap(([first]) => (first ? [first] : []));
    const rows = await tx.each(endLeases, given.map(endOf), tx.node.bootId);
    for (const { seq, webhook } of rows) {
      const settlement = bySeq.get(seq)?.[0];
      if (settlement) held.set(settlement, { webhook, settlement, nowSecs: endedAt(settlement) });
    }
    left = [...bySeq.values()].flatMap((same) => same.slice(1));
  }
  return [...new Set(settlements)].flatMap((settlement) => held.get(settlement) ?? []);
}

/** Returns the delivery after a settlement, in the form that `endLeases` takes. */
function endOf(settlement: Settlement): LeaseEnd {
  const { delivery, verdict } = settlement;
  const state = STATE_AFTER[verdict.kind];
  const dueAtMs = verdict.kind === "retry" ? verdict.dueAtMs : null;
  const end = state === "queued" ? null : endedAt(settlement);
  return [delivery.seq, delivery.leaseEndsAtMs, state, dueAtMs, end];
}

function insertAllAttempts(tx: Tx, settled: readonly Settled[]): Promise<unknown> {
  return tx.each(
    insertAttempts,
    settled.map(({ settlement: { delivery, attempt } }) => {
      const { atMs, status, error, durationMs, responseText } = attempt;
      return [delivery.seq, atMs, status, error, durationMs, storable(responseText)];
    }),
  );
}

/** Replaces NUL, which PostgreSQL cannot store and a receiver may send. */
function storable(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}

function healthOf(row: HealthRow): Health {
  return {
    ended: 0,
    lastSuccessAt: row.last_success_at,
    lastFailureAt: row.last_failure_at,
    failures: row.consecutive_failures,
    failingSince: row.failing_since,
    heldUntilMs: row.held_until_ms,
  };
}

function changeOf(webhook: number, health: Health): HealthChange {
  const { ended, lastSuccessAt, lastFailureAt, failures, failingSince, heldUntilMs } = health;
  return [webhook, ended, lastSuccessAt, lastFailureAt, failures, failingSince, heldUntilMs];
}

function apply(health: Health, verdict: Settlement["verdict"]["kind"], nowSecs: number): void {
  if (verdict !== "retry") health.ended += 1;
  if (verdict === "delivered") {
    health.lastSuccessAt = nowSecs;
    health.failures = 0;
    health.failingSince = null;
    return;
  }
  health.lastFailureAt = nowSecs;
  if (verdict === "retry") return;
  health.failures += 1;
  health.failingSince ??= nowSecs;
}

async function deactivationsOf(
  tx: Tx,
  over: ReadonlyMap<Settlement, { readonly webhook: number; readonly failures: number }>,
  rule: FailureRule,
): Promise<ReadonlyMap<Settlement, Deactivation>> {
  const seqs = [...new Set([...over.values()].map(({ webhook }) => webhook))];
  const active = new Map((await tx.all(activeVersions, seqs)).map((row) => [row.seq, row]));
  return new Map(
    [...over].flatMap(([settlement, { webhook, failures }]) => {
      const found = active.get(webhook);
      if (!found) return [];
      const reason = failures === 0 ? GONE : failureRunReason(failures, rule);
      const { webhook_id: webhookId, version } = found;
      return [[settlement, { webhookId, reason, version, nowSecs: endedAt(settlement) }]];
    }),
  );
}
