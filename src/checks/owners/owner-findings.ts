import { sql } from "../../db/state/sql.ts";
import type { StateDb } from "../../db/state/state-db.ts";
import { STATS_STEP_SECS } from "../../webhooks/store/attempt-stats.ts";
import type { Measured } from "../check.ts";
import { MAX_SHARE, MIN_DELIVERIES, type OwnerCheckId, SHARE_SECS } from "./owner-table.ts";

/** A problem with a record for which no incident is open. */
export interface OwnerFinding {
  readonly checkId: OwnerCheckId;
  /** The id of the record. */
  readonly subject: string;
  readonly ownerFid: number;
  readonly measured: Measured;
}

/** A managed signer of a user. */
export interface FoundSigner {
  readonly seq: number;
  readonly signerUuid: string;
  readonly ownerFid: number;
  readonly publicKey: Uint8Array;
  readonly fid: number;
}

/** Delivery state of a webhook. */
export interface WebhookStanding {
  /** Disabled by its owner, who knows about it. */
  readonly isOff: boolean;
  /** Disabled by the node. */
  readonly isDeactivated: boolean;
  readonly failures: number;
  readonly lastSuccessAt: number | null;
  readonly lastFailureAt: number | null;
  /** Number of deliveries since the last failure, in steps of `STATS_STEP_SECS`. */
  readonly deliveredSince: number;
  /** Number that failed in the last half hour. */
  readonly failed: number;
  readonly total: number;
}

/** Reads the state of owners' records. Each list has at most `MAX_FOUND` entries. Times are in Unix seconds. */
export interface OwnerFindings {
  webhooks(nowSecs: number): Promise<readonly OwnerFinding[]>;
  apiKeys(nowSecs: number): Promise<readonly OwnerFinding[]>;
  sends(nowSecs: number): Promise<readonly OwnerFinding[]>;
  /** Returns users' signers after a given one, in the order of creation (by `seq`). */
  signersAfter(seq: number): Promise<readonly FoundSigner[]>;
  signer(signerUuid: string): Promise<FoundSigner | undefined>;
  /** Returns the state of a webhook; undefined if it no longer exists. */
  webhook(webhookId: string, nowSecs: number): Promise<WebhookStanding | undefined>;
  /** Returns when an active key expires; undefined if it no longer exists or is not active. */
  apiKey(apiKeyId: string): Promise<{ readonly expiresAt: number | null } | undefined>;
}

/** Maximum number of findings of one kind per pass. */
export const MAX_FOUND = 100;
/**
 * Maximum number of open incidents per check and owner, because an app may have thousands of expiring signers, and other
 * owners share the state.
 */
export const MAX_OPEN_OF_CHECK = 20;
export const MIN_FAILURES = 5;
export const FAILING_SECS = 600;
export const EXPIRES_SECS = 7 * 86_400;
const DAY_SECS = 86_400;
/** How long an unsent send is worth reporting, in seconds. */
const NOT_SENT_SECS = 7 * DAY_SECS;

const hasNone = (check: string, subject: string, more = "AND i.resolved_at IS NULL") =>
  `NOT EXISTS (SELECT 1 FROM incidents i WHERE i.check_id = ${check} AND i.node_id = ${subject} ${more})`;

/** Excludes owners who already have the maximum number of open incidents, because they would crowd out others in a pass. */
const hasRoom = (check: string, owner: string) =>
  `(SELECT count(*) FROM incidents o
    WHERE o.check_id = ${check} AND o.owner_fid = ${owner} AND o.resolved_at IS NULL) < ${MAX_OPEN_OF_CHECK}`;

interface FailingRow {
  readonly webhook_id: string;
  readonly owner_fid: number;
  readonly target_url: string;
  readonly failed: number;
  readonly total: number;
  /** How its last failed delivery ended: a status, or an error class; null once the log no longer contains it. */
  readonly last: string | null;
}

/** SQL for how the last failed delivery of a webhook `w` ended. */
const LAST = `(SELECT coalesce(a.status::text, a.error) FROM delivery_attempts a WHERE a.delivery =
     (SELECT d.seq FROM deliveries d WHERE d.webhook = w.seq AND d.state = 'failed' ORDER BY d.created_at DESC, d.seq DESC LIMIT 1)
   ORDER BY a.seq DESC LIMIT 1) AS last`;
const failingRuns = sql<FailingRow, [since: number, max: number]>(
  "owner-checks.failing-runs",
  `SELECT w.webhook_id, w.owner_fid, w.target_url, h.consecutive_failures AS failed, h.consecutive_failures AS total,
     ${LAST}
   FROM webhook_health h JOIN webhooks w ON w.seq = h.webhook
   WHERE h.failing_since <= $1 AND h.consecutive_failures >= ${MIN_FAILURES} AND w.active
     AND ${hasNone("'webhook_failing'", "w.webhook_id")} AND ${hasRoom("'webhook_failing'", "w.owner_fid")} ORDER BY h.failing_since LIMIT $2`,
);
const SHARE = `sum(a.failed)::bigint AS failed, sum(a.delivered + a.failed)::bigint AS total`;
const failingShares = sql<FailingRow, [since: number, max: number]>(
  "owner-checks.failing-shares",
  `SELECT w.webhook_id, w.owner_fid, w.target_url, s.failed, s.total, ${LAST}
   FROM (SELECT a.webhook, ${SHARE} FROM attempt_stats a
     WHERE a.webhook IN (SELECT f.webhook FROM attempt_stats f WHERE f.failed > 0 AND f.starts_at >= $1)
       AND a.starts_at >= $1 GROUP BY a.webhook) s
   JOIN webhooks w ON w.seq = s.webhook
   WHERE s.total >= ${MIN_DELIVERIES} AND s.failed > ${MAX_SHARE} * s.total AND w.active
     AND ${hasNone("'webhook_failing'", "w.webhook_id")} AND ${hasRoom("'webhook_failing'", "w.owner_fid")} LIMIT $2`,
);
const deactivated = sql<Omit<FailingRow, "failed" | "total">, [since: number, max: number]>(
  "owner-checks.deactivated",
  `SELECT w.webhook_id, w.owner_fid, w.target_url, ${LAST}
   FROM webhook_health h JOIN webhooks w ON w.seq = h.webhook
   WHERE h.deactivated_at >= $1 AND ${hasNone("'webhook_disabled'", "w.webhook_id")}
     AND ${hasRoom("'webhook_disabled'", "w.owner_fid")} LIMIT $2`,
);
const expiringKeys = sql<
  { api_key_id: string; owner_fid: number; prefix: string },
  [nowSecs: number, until: number, max: number]
>(
  "owner-checks.expiring-keys",
  `SELECT k.api_key_id, k.owner_fid, k.prefix FROM api_keys k
   WHERE k.expires_at > $1 AND k.expires_at <= $2 AND k.active
     AND ${hasNone("'api_key_expires'", "k.api_key_id")} AND ${hasRoom("'api_key_expires'", "k.owner_fid")} ORDER BY k.expires_at LIMIT $3`,
);
const notSent = sql<
  { subject: string; owner_fid: number; state: "held" | "missed" },
  [sinceMs: number, max: number]
>(
  "owner-checks.not-sent",
  `SELECT DISTINCT s.app_id || '/' || s.schedule_id AS subject, s.owner_fid, v.state
   FROM schedule_waves v JOIN schedules s ON s.seq = v.schedule
   WHERE v.state IN ('held', 'missed') AND v.due_at_ms >= $1
     AND ${hasNone("'send_' || v.state", "s.app_id || '/' || s.schedule_id", "")}
     AND ${hasRoom("'send_' || v.state", "s.owner_fid")} LIMIT $2`,
);
interface SignerRow {
  readonly seq: number;
  readonly signer_uuid: string;
  readonly owner_fid: number;
  readonly public_key: Uint8Array;
  readonly fid: number;
}
const SIGNER = "seq, signer_uuid, owner_fid, public_key, fid";
const signersAfter = sql<SignerRow, [seq: number, max: number]>(
  "owner-checks.signers",
  `SELECT ${SIGNER} FROM managed_signers WHERE seq > $1 AND fid IS NOT NULL ORDER BY seq LIMIT $2`,
);
const signerById = sql<SignerRow, [signerUuid: string]>(
  "owner-checks.signer",
  `SELECT ${SIGNER} FROM managed_signers WHERE signer_uuid = $1 AND fid IS NOT NULL`,
);
const keyById = sql<{ expires_at: number | null }, [apiKeyId: string]>(
  "owner-checks.key",
  "SELECT k.expires_at FROM api_keys k WHERE k.api_key_id = $1 AND k.active",
);
const webhookById = sql<
  {
    active: number | boolean;
    deactivated_at: number | null;
    consecutive_failures: number;
    last_success_at: number | null;
    last_failure_at: number | null;
    delivered: number | null;
    failed: number | null;
    total: number | null;
  },
  [webhookId: string, since: number]
>(
  "owner-checks.webhook",
  `SELECT w.active, h.deactivated_at, h.consecutive_failures, h.last_success_at, h.last_failure_at,
     (SELECT sum(a.delivered)::bigint FROM attempt_stats a
      WHERE a.webhook = w.seq AND a.starts_at > coalesce(h.last_failure_at, 0)) AS delivered,
     (SELECT sum(a.failed)::bigint FROM attempt_stats a WHERE a.webhook = w.seq AND a.starts_at >= $2) AS failed,
     (SELECT sum(a.delivered + a.failed)::bigint FROM attempt_stats a
      WHERE a.webhook = w.seq AND a.starts_at >= $2) AS total
   FROM webhooks w JOIN webhook_health h ON h.webhook = w.seq WHERE w.webhook_id = $1`,
);

const toSigner = (row: SignerRow): FoundSigner => ({
  seq: row.seq,
  signerUuid: row.signer_uuid,
  ownerFid: row.owner_fid,
  publicKey: new Uint8Array(row.public_key),
  fid: row.fid,
});

/** Returns the start of the steps over which the share of failures is computed. */
const shareSince = (nowSecs: number) => nowSecs - SHARE_SECS - (nowSecs % STATS_STEP_SECS);

export function createOwnerFindings(db: StateDb): OwnerFindings {
  return {
    async webhooks(nowSecs) {
      const [runs, shares, disabled] = await Promise.all([
        db.all(failingRuns, nowSecs - FAILING_SECS, MAX_FOUND),
        db.all(failingShares, shareSince(nowSecs), MAX_FOUND),
        db.all(deactivated, nowSecs - DAY_SECS, MAX_FOUND),
      ]);
      const failing = new Map([...shares, ...runs].map((row) => [row.webhook_id, row]));
      return [
        ...[...failing.values()].map((row) => findingOf("webhook_failing", row)),
        ...disabled.map((row) => findingOf("webhook_disabled", { ...row, failed: 0, total: 0 })),
      ];
    },
    apiKeys: async (nowSecs) =>
      (await db.all(expiringKeys, nowSecs, nowSecs + EXPIRES_SECS, MAX_FOUND)).map((row) => ({
        checkId: "api_key_expires",
        subject: row.api_key_id,
        ownerFid: row.owner_fid,
        measured: { value: 0, labels: { prefix: row.prefix } },
      })),
    sends: async (nowSecs) =>
      (await db.all(notSent, (nowSecs - NOT_SENT_SECS) * 1000, MAX_FOUND)).map((row) => ({
        checkId: `send_${row.state}`,
        subject: row.subject,
        ownerFid: row.owner_fid,
        measured: { value: 0 },
      })),
    signersAfter: async (seq) => (await db.all(signersAfter, seq, MAX_FOUND)).map(toSigner),
    async signer(signerUuid) {
      const row = await db.get(signerById, signerUuid);
      return row && toSigner(row);
    },
    async webhook(webhookId, nowSecs) {
      const row = await db.get(webhookById, webhookId, shareSince(nowSecs));
      if (!row) return undefined;
      const isDeactivated = row.deactivated_at !== null;
      return {
        isOff: !row.active && !isDeactivated,
        isDeactivated,
        failures: row.consecutive_failures,
        lastSuccessAt: row.last_success_at,
        lastFailureAt: row.last_failure_at,
        deliveredSince: row.delivered ?? 0,
        failed: row.failed ?? 0,
        total: row.total ?? 0,
      };
    },
    async apiKey(apiKeyId) {
      const row = await db.get(keyById, apiKeyId);
      return row && { expiresAt: row.expires_at };
    },
  };
}

function findingOf(checkId: OwnerCheckId, row: FailingRow): OwnerFinding {
  const { webhook_id: subject, owner_fid: ownerFid, target_url: url, failed, total, last } = row;
  const labels = {
    webhook: subject,
    last: last ?? "unknown",
    host: URL.parse(url)?.hostname ?? "",
    failed: String(failed),
    total: String(total),
  };
  return { checkId, subject, ownerFid, measured: { value: failed, labels } };
}
