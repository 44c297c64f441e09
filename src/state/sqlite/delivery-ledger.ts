import type { CampaignWork, Claimed, DeliveryLedger, OutcomeKind, Settlement } from "../campaigns.ts";
import type { StateDatabase } from "../database.ts";
import { statement } from "../statement.ts";
import type { Sweep, TokenPosition } from "../stores.ts";
import { addToCampaignCounts, addToCampaignTotals } from "./campaign-counts.ts";
import { createGroupCommit } from "./group-commit.ts";

interface PositionRow {
  readonly fid: number;
  readonly client_fid: number;
}

/** Lists of tokens go in as JSON: `[[fid, clientFid], …]`. */
const given = "SELECT value ->> 0 AS fid, value ->> 1 AS client_fid FROM json_each(?1)";

const claimTokens = statement<
  PositionRow,
  [tokens: string, key: number, campaign: number, endsAt: number, nowSecs: number]
>(
  "dedupe.claim",
  `INSERT INTO dedupe (key, fid, client_fid, campaign, sent, expires_at)
   SELECT ?2, value ->> 0, value ->> 1, ?3, 0, ?4 FROM json_each(?1)
   WHERE NOT EXISTS (SELECT 1 FROM campaign_failures f
     WHERE f.campaign = ?3 AND f.fid = value ->> 0 AND f.client_fid = value ->> 1)
   ON CONFLICT (key, fid, client_fid) DO UPDATE SET campaign = ?3, sent = 0, expires_at = ?4
     WHERE iif(dedupe.campaign = ?3, dedupe.sent = 0, dedupe.expires_at <= ?5)
   RETURNING fid, client_fid`,
);
const countedTokens = statement<PositionRow, [tokens: string, key: number, campaign: number]>(
  "dedupe.counted",
  `SELECT j.value ->> 0 AS fid, j.value ->> 1 AS client_fid FROM json_each(?1) AS j
   WHERE EXISTS (SELECT 1 FROM dedupe d WHERE d.key = ?2 AND d.fid = j.value ->> 0
       AND d.client_fid = j.value ->> 1 AND d.campaign = ?3 AND d.sent = 1)
     OR EXISTS (SELECT 1 FROM campaign_failures f
       WHERE f.campaign = ?3 AND f.fid = j.value ->> 0 AND f.client_fid = j.value ->> 1)`,
);
const keepSent = statement<unknown, [tokens: string, key: number, campaign: number, keptUntil: number]>(
  "dedupe.sent",
  `INSERT INTO dedupe (key, fid, client_fid, campaign, sent, expires_at)
   SELECT ?2, value ->> 0, value ->> 1, ?3, 1, ?4 FROM json_each(?1) WHERE true
   ON CONFLICT (key, fid, client_fid) DO UPDATE SET campaign = ?3, sent = 1, expires_at = ?4`,
);
const releaseClaims = statement<unknown, [tokens: string, key: number, campaign: number]>(
  "dedupe.release",
  `DELETE FROM dedupe WHERE key = ?2 AND (fid, client_fid) IN (${given}) AND campaign = ?3 AND sent = 0`,
);
const noteFailures = statement<unknown, [tokens: string, campaign: number]>(
  "campaign-failures.add",
  `INSERT INTO campaign_failures (campaign, fid, client_fid)
   SELECT ?2, value ->> 0, value ->> 1 FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING`,
);
const noteRetryable = statement<unknown, [fids: string, campaign: number]>(
  "campaign-retryable.add",
  `INSERT INTO campaign_retryable (campaign, fid)
   SELECT ?2, value FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING`,
);
const prolongKey = statement<unknown, [key: number, expiresAt: number]>(
  "dedupe-keys.prolong",
  "UPDATE dedupe_keys SET expires_at = ?2 WHERE key = ?1 AND expires_at < ?2",
);
const expiredKey = statement<{ key: number }, [nowSecs: number]>(
  "dedupe-keys.expired",
  `SELECT key FROM dedupe_keys WHERE expires_at <= ? AND NOT EXISTS
     (SELECT 1 FROM campaigns c WHERE c.app_id = dedupe_keys.app_id AND c.ended_at IS NULL
        AND c.dedupe_key = dedupe_keys.key)
   ORDER BY expires_at LIMIT 1`,
);
const deleteOfKey = statement<unknown, [key: number, max: number]>(
  "dedupe.delete-of-key",
  `DELETE FROM dedupe WHERE (key, fid, client_fid) IN
   (SELECT key, fid, client_fid FROM dedupe WHERE key = ? ORDER BY fid, client_fid LIMIT ?)`,
);
const deleteKey = statement<unknown, [key: number]>(
  "dedupe-keys.delete",
  "DELETE FROM dedupe_keys WHERE key = ?",
);

export function createDeliveryLedger(db: StateDatabase): DeliveryLedger {
  const commit = createGroupCommit(db);

  return {
    claim: ({ seq, ledgerKey }, tokens, { nowSecs, endsAt }) =>
      commit(() => {
        const list = toJson(tokens);
        db.run(prolongKey, ledgerKey, endsAt);
        const taken = indexOf(db.all(claimTokens, list, ledgerKey, seq, endsAt, nowSecs));
        const counted =
          taken.size === tokens.length ? new Set() : indexOf(db.all(countedTokens, list, ledgerKey, seq));
        return sortClaims(tokens, taken, counted);
      }),

    settle: ({ seq, ledgerKey }, host, settlements, keptUntil) =>
      commit(() => {
        const failed = settlements.filter(({ kind }) => kind === "failure");
        const sent = settlements.filter(({ kind }) => kind === "success");
        const retryable = settlements.filter(({ isRetryable }) => isRetryable);
        if (sent.length > 0) {
          db.run(keepSent, toJson(sent), ledgerKey, seq, keptUntil);
          db.run(prolongKey, ledgerKey, keptUntil);
        }
        if (failed.length > 0) {
          const list = toJson(failed);
          db.run(releaseClaims, list, ledgerKey, seq);
          db.run(noteFailures, list, seq);
        }
        if (retryable.length > 0) {
          db.run(noteRetryable, JSON.stringify(retryable.map(({ fid }) => fid)), seq);
        }
        count(db, seq, host, settlements);
      }),

    countNotAttempted: ({ seq }, host, reasons) =>
      commit(() => {
        let total = 0;
        for (const [reason, added] of Object.entries(reasons)) {
          if (added === 0) continue;
          addToCampaignCounts(db, seq, { host, kind: "not_attempted", reason, count: added });
          total += added;
        }
        if (total > 0) addToCampaignTotals(db, seq, { success: 0, failure: 0, notAttempted: total });
      }),
  };
}

/** What other campaigns need not know any more. */
export function dedupeSweep(db: StateDatabase): Sweep {
  return {
    name: "dedupe",
    step: async (nowSecs, maxRows) =>
      db.transaction(() => {
        const expired = db.get(expiredKey, nowSecs);
        if (!expired) return { deleted: 0, more: false };
        const deleted = db.run(deleteOfKey, expired.key, maxRows);
        if (deleted < maxRows) db.run(deleteKey, expired.key);
        return { deleted, more: true };
      }),
  };
}

function count(
  db: StateDatabase,
  seq: CampaignWork["seq"],
  host: string,
  settlements: readonly Settlement[],
): void {
  const counts = new Map<string, { kind: OutcomeKind; reason: string; count: number }>();
  for (const { kind, reason } of settlements) {
    const key = `${kind} ${reason}`;
    const known = counts.get(key);
    if (known) known.count += 1;
    else counts.set(key, { kind, reason, count: 1 });
  }
  for (const part of counts.values()) addToCampaignCounts(db, seq, { host, ...part });
  const success = settlements.reduce((sum, { kind }) => sum + (kind === "success" ? 1 : 0), 0);
  addToCampaignTotals(db, seq, { success, failure: settlements.length - success, notAttempted: 0 });
}

function toJson(tokens: readonly TokenPosition[]): string {
  return JSON.stringify(tokens.map(({ fid, clientFid }) => [fid, clientFid]));
}

function indexOf(rows: readonly PositionRow[]): Set<string> {
  return new Set(rows.map((row) => `${row.fid} ${row.client_fid}`));
}

function sortClaims(
  tokens: readonly TokenPosition[],
  taken: ReadonlySet<unknown>,
  counted: ReadonlySet<unknown>,
): Claimed {
  const claimed = {
    taken: [] as TokenPosition[],
    counted: [] as TokenPosition[],
    refused: [] as TokenPosition[],
  };
  for (const token of tokens) {
    const key = `${token.fid} ${token.clientFid}`;
    if (taken.has(key)) claimed.taken.push(token);
    else if (counted.has(key)) claimed.counted.push(token);
    else claimed.refused.push(token);
  }
  return claimed;
}
