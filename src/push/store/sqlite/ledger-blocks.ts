import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import type { CampaignRun } from "../campaign-store.ts";
import { type BlockTokens, LedgerBlock } from "../ledger-block.ts";
import type { TokenPosition } from "../token-store.ts";

interface StoredRow {
  readonly campaign: number;
  readonly sent: number;
  readonly fids: Uint8Array;
  readonly expires_at: number;
}

type BlockKey = [key: number, clientFid: number, block: number];
type BlockOf = Omit<BlockTokens<TokenPosition>, "tokens">;

const rowsOfBlock = statement<StoredRow, BlockKey>(
  "dedupe.of-block",
  "SELECT campaign, sent, fids, expires_at FROM dedupe WHERE key = ? AND client_fid = ? AND block = ?",
);
const putRow = statement<
  unknown,
  [...BlockKey, campaign: number, sent: number, fids: Uint8Array, expiresAt: number]
>(
  "dedupe.put",
  `INSERT INTO dedupe (key, client_fid, block, campaign, sent, fids, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
   ON CONFLICT (key, client_fid, block, campaign, sent) DO UPDATE SET fids = ?6, expires_at = ?7`,
);
const deleteRow = statement<unknown, [...BlockKey, campaign: number, sent: number]>(
  "dedupe.delete",
  "DELETE FROM dedupe WHERE key = ? AND client_fid = ? AND block = ? AND campaign = ? AND sent = ?",
);
const failuresOfBlock = statement<
  Pick<StoredRow, "fids">,
  [campaign: number, clientFid: number, block: number]
>(
  "campaign-failures.of-block",
  "SELECT fids FROM campaign_failures WHERE campaign = ? AND client_fid = ? AND block = ?",
);
const putFailures = statement<
  unknown,
  [campaign: number, clientFid: number, block: number, fids: Uint8Array]
>(
  "campaign-failures.put",
  `INSERT INTO campaign_failures (campaign, client_fid, block, fids) VALUES (?1, ?2, ?3, ?4)
   ON CONFLICT (campaign, client_fid, block) DO UPDATE SET fids = ?4`,
);

/** Reads the rows of a block, decides on them and writes the changes, within the caller's transaction. */
export function changeBlock<Result>(
  db: StateDatabase,
  { seq, ledgerKey }: CampaignRun,
  { clientFid, block }: BlockOf,
  decide: (ledger: LedgerBlock) => Result,
): Result {
  const rows = db.all(rowsOfBlock, ledgerKey, clientFid, block).map((row) => ({
    campaign: row.campaign,
    isSent: row.sent === 1,
    fids: row.fids,
    expiresAt: row.expires_at,
  }));
  const ledger = new LedgerBlock(seq, rows, db.get(failuresOfBlock, seq, clientFid, block)?.fids);
  const result = decide(ledger);
  for (const { campaign, isSent, fids, expiresAt } of ledger.changedRows()) {
    const sent = isSent ? 1 : 0;
    if (fids) db.run(putRow, ledgerKey, clientFid, block, campaign, sent, fids, expiresAt);
    else db.run(deleteRow, ledgerKey, clientFid, block, campaign, sent);
  }
  const failures = ledger.changedFailures();
  if (failures) db.run(putFailures, seq, clientFid, block, failures);
  return result;
}
