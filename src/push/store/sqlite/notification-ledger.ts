import type { StateDatabase } from "../../../db/state/database.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import { statement } from "../../../db/state/statement.ts";
import type { SweepStep } from "../../../db/state/sweep.ts";
import type { CampaignRun } from "../campaign-store.ts";
import { countResults } from "../count-results.ts";
import { groupByBlock } from "../ledger-block.ts";
import {
  addToCampaignClients,
  addToCampaignCounts,
  addToCampaignTotals,
  growNotAttempted,
} from "./campaign-counts.ts";
import { changeBlock } from "./ledger-blocks.ts";
import { type PackedLedger, packClaims, unpackResults, unpackTokens } from "./packed-ledger.ts";

const isCurrentRun = statement<{ one: number }, [seq: number, epoch: number, bootId: string]>(
  "campaigns.is-current-run",
  "SELECT 1 AS one FROM campaigns WHERE seq = ? AND epoch = ? AND runner = ?",
);
const addRetryable = statement<unknown, [fids: string, campaign: number]>(
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
  `DELETE FROM dedupe WHERE (key, client_fid, block, campaign, sent) IN
   (SELECT key, client_fid, block, campaign, sent FROM dedupe WHERE key = ?
    ORDER BY client_fid, block, campaign, sent LIMIT ?)`,
);
const deleteKey = statement<unknown, [key: number]>(
  "dedupe-keys.delete",
  "DELETE FROM dedupe_keys WHERE key = ?",
);

export function ledgerWrites(db: StateDatabase, clock: StateClock, { bootId }: StateNode): PackedLedger {
  const isLost = ({ seq, epoch }: CampaignRun) => db.get(isCurrentRun, seq, epoch, bootId) === undefined;
  return {
    claim(run, packed, leaseSecs) {
      if (isLost(run)) return "lost";
      const tokens = unpackTokens(packed);
      const nowSecs = stateSecs(clock);
      const lease = { nowSecs, endsAt: nowSecs + leaseSecs };
      const parts = groupByBlock(tokens).map((part) =>
        changeBlock(db, run, part, (ledger) => ledger.claim(part.tokens, lease)),
      );
      return packClaims(tokens, {
        claimed: parts.flatMap(({ claimed }) => claimed),
        alreadyCounted: parts.flatMap(({ alreadyCounted }) => alreadyCounted),
        conflicting: parts.flatMap(({ conflicting }) => conflicting),
      });
    },

    record(run, host, packed, keptSecs) {
      if (isLost(run)) return "lost";
      const { seq, ledgerKey } = run;
      const results = unpackResults(packed);
      const keptUntil = stateSecs(clock) + keptSecs;
      // A repeated call, after a lost response, is counted once.
      const fresh = groupByBlock(results).flatMap((part) =>
        changeBlock(db, run, part, (ledger) => ledger.record(part.tokens, keptUntil)),
      );
      if (results.some(({ kind }) => kind === "success")) db.run(prolongKey, ledgerKey, keptUntil);
      const retryable = results.filter(({ isRetryable }) => isRetryable);
      if (retryable.length > 0) {
        db.run(addRetryable, JSON.stringify(retryable.map(({ fid }) => fid)), seq);
      }
      if (fresh.length === 0) return "recorded";
      const { totals, byReason, byClient } = countResults(fresh);
      for (const counted of byReason) addToCampaignCounts(db, seq, { host, ...counted });
      for (const counted of byClient) addToCampaignClients(db, seq, counted);
      addToCampaignTotals(db, seq, totals);
      return "recorded";
    },

    setNotAttempted(run, host, totals) {
      if (isLost(run)) return "lost";
      let grown = 0;
      for (const [reason, total] of Object.entries(totals)) {
        grown += growNotAttempted(db, run.seq, host, reason, total);
      }
      if (grown > 0) addToCampaignTotals(db, run.seq, { success: 0, failure: 0, notAttempted: grown });
      return "recorded";
    },
  };
}

/** Deletes expired ledger rows that no unfinished campaign uses. */
export function dedupeSweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const expired = db.get(expiredKey, stateSecs(clock));
    if (!expired) return { deleted: 0, more: false };
    const deleted = db.run(deleteOfKey, expired.key, maxRows);
    if (deleted < maxRows) db.run(deleteKey, expired.key);
    return { deleted, more: true };
  };
}
