import type { StateDatabase } from "../../../db/state/database.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import { statement } from "../../../db/state/statement.ts";
import type { SweepStep } from "../../../db/state/sweep.ts";
import type { CampaignWork } from "../campaign-store.ts";
import type { ClaimResult, TokenResult } from "../notification-ledger.ts";
import type { TokenPosition } from "../token-store.ts";
import { addToCampaignClients, addToCampaignCounts, addToCampaignTotals } from "./campaign-counts.ts";
import { groupByBlock, LedgerBlock } from "./ledger-blocks.ts";
import { type PackedLedger, packClaims, unpackResults, unpackTokens } from "./packed-ledger.ts";

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

export function ledgerWrites(db: StateDatabase, clock: StateClock): PackedLedger {
  return {
    claim(campaign, packed, leaseSecs) {
      const tokens = unpackTokens(packed);
      const nowSecs = stateSecs(clock);
      const lease = { nowSecs, endsAt: nowSecs + leaseSecs };
      const parts = groupByBlock(tokens).map((part) =>
        claimInBlock(new LedgerBlock(db, campaign, part), part.tokens, lease),
      );
      return packClaims(tokens, {
        claimed: parts.flatMap(({ claimed }) => claimed),
        alreadyCounted: parts.flatMap(({ alreadyCounted }) => alreadyCounted),
        conflicting: parts.flatMap(({ conflicting }) => conflicting),
      });
    },

    record(campaign, host, packed, keptSecs) {
      const results = unpackResults(packed);
      const { seq, ledgerKey } = campaign;
      const keptUntil = stateSecs(clock) + keptSecs;
      // A repeated call, after a lost response, is counted once.
      const fresh = groupByBlock(results).flatMap((part) =>
        recordInBlock(new LedgerBlock(db, campaign, part), part.tokens, keptUntil),
      );
      if (results.some(({ kind }) => kind === "success")) db.run(prolongKey, ledgerKey, keptUntil);
      const retryable = results.filter(({ isRetryable }) => isRetryable);
      if (retryable.length > 0) {
        db.run(addRetryable, JSON.stringify(retryable.map(({ fid }) => fid)), seq);
      }
      count(db, seq, host, fresh);
    },

    countNotAttempted({ seq }, host, reasons) {
      let total = 0;
      for (const [reason, added] of Object.entries(reasons)) {
        if (added === 0) continue;
        addToCampaignCounts(db, seq, { host, kind: "not_attempted", reason, count: added });
        total += added;
      }
      if (total > 0) addToCampaignTotals(db, seq, { success: 0, failure: 0, notAttempted: total });
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

function count(
  db: StateDatabase,
  seq: CampaignWork["seq"],
  host: string,
  results: readonly TokenResult[],
): void {
  if (results.length === 0) return;
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
  for (const [reason, added] of byReason) {
    // Only a success has an empty reason.
    const kind = reason === "" ? "success" : "failure";
    addToCampaignCounts(db, seq, { host, kind, reason, count: added });
  }
  for (const [clientFid, counts] of byClient) addToCampaignClients(db, seq, { clientFid, ...counts });
  addToCampaignTotals(db, seq, { success, failure: results.length - success, notAttempted: 0 });
}

/** By the state's clock, unix seconds. */
interface Lease {
  readonly nowSecs: number;
  readonly endsAt: number;
}

function claimInBlock<Token extends TokenPosition>(
  ledger: LedgerBlock,
  tokens: readonly Token[],
  { nowSecs, endsAt }: Lease,
): ClaimResult<Token> {
  const own = ledger.own(0);
  const sent = ledger.own(1);
  const failed = ledger.failures();
  const claimedByOthers = ledger.claimedByOthers(nowSecs);
  const result = { claimed: [] as Token[], alreadyCounted: [] as Token[], conflicting: [] as Token[] };
  for (const token of tokens) {
    const { fid } = token;
    if (sent.has(fid) || failed.has(fid)) result.alreadyCounted.push(token);
    else if (own.has(fid) || !claimedByOthers.some((fids) => fids.has(fid))) result.claimed.push(token);
    else result.conflicting.push(token);
  }
  if (result.claimed.length > 0) {
    ledger.removeFromOthers(result.claimed.map(({ fid }) => fid));
    for (const { fid } of result.claimed) own.add(fid);
    ledger.putOwn(0, own, endsAt);
  }
  return result;
}

/** Returns the results of tokens that the campaign had not counted yet. */
function recordInBlock(
  ledger: LedgerBlock,
  results: readonly TokenResult[],
  keptUntil: number,
): readonly TokenResult[] {
  const own = ledger.own(0);
  const sent = ledger.own(1);
  const failed = ledger.failures();
  const fresh = results.filter(({ fid }) => !sent.has(fid) && !failed.has(fid));
  for (const { fid, kind } of results) {
    own.delete(fid);
    if (kind === "success") sent.add(fid);
  }
  ledger.putOwn(0, own, 0);
  ledger.putOwn(1, sent, keptUntil);
  const failures = results.filter(({ kind }) => kind === "failure");
  if (failures.length > 0) {
    for (const { fid } of failures) failed.add(fid);
    ledger.putFailures(failed);
  }
  return fresh;
}
