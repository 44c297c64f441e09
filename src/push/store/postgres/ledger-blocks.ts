import type { PgTransaction } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { CampaignRun } from "../campaign-store.ts";
import { blockOf } from "../fid-block.ts";
import { type BlockTokens, LedgerBlock, type LedgerRow } from "../ledger-block.ts";
import type { TokenPosition } from "../token-store.ts";

/** The product of clients and blocks: a group has few clients, and its fids are close together. */
const rowsOfBlocks = pgStatement<
  {
    client_fid: number;
    block: number;
    campaign: number;
    sent: boolean;
    fids: Uint8Array;
    expires_at: number;
  },
  [key: number, clientFids: readonly number[], blocks: readonly number[]]
>(
  "dedupe.of-blocks",
  `SELECT client_fid, block, campaign, sent, fids, expires_at FROM dedupe
   WHERE key = $1 AND client_fid = ANY ($2::bigint[]) AND block = ANY ($3::bigint[])`,
);
const failuresOfBlocks = pgStatement<
  { client_fid: number; block: number; fids: Uint8Array },
  [campaign: number, clientFids: readonly number[], blocks: readonly number[]]
>(
  "campaign-failures.of-blocks",
  `SELECT client_fid, block, fids FROM campaign_failures
   WHERE campaign = $1 AND client_fid = ANY ($2::bigint[]) AND block = ANY ($3::bigint[])`,
);
const putRows = pgStatement<
  unknown,
  [
    key: number,
    clientFids: readonly number[],
    blocks: readonly number[],
    campaigns: readonly number[],
    sent: readonly boolean[],
    fids: readonly Uint8Array[],
    expiresAt: readonly number[],
  ]
>(
  "dedupe.put",
  `INSERT INTO dedupe (key, client_fid, block, campaign, sent, fids, expires_at)
   SELECT $1, client_fid, block, campaign, sent, fids, expires_at
   FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[], $6::bytea[], $7::bigint[])
     AS n (client_fid, block, campaign, sent, fids, expires_at)
   ORDER BY client_fid, block, campaign, sent
   ON CONFLICT (key, client_fid, block, campaign, sent)
   DO UPDATE SET fids = excluded.fids, expires_at = excluded.expires_at`,
);
const putFailures = pgStatement<
  unknown,
  [campaign: number, clientFids: readonly number[], blocks: readonly number[], fids: readonly Uint8Array[]]
>(
  "campaign-failures.put",
  `INSERT INTO campaign_failures (campaign, client_fid, block, fids)
   SELECT $1, client_fid, block, fids
   FROM unnest($2::bigint[], $3::bigint[], $4::bytea[]) AS n (client_fid, block, fids)
   ORDER BY client_fid, block
   ON CONFLICT (campaign, client_fid, block) DO UPDATE SET fids = excluded.fids`,
);

/** An empty set keeps its row, since it is about to be filled again; the row goes with the key of its notification. */
const EMPTY = new Uint8Array();

type BlockOf = Omit<BlockTokens<TokenPosition>, "tokens">;

/** The ledger of some blocks, for one campaign, within a transaction that holds the row of its notification. */
export interface LedgerBlocks {
  block(of: BlockOf): LedgerBlock;
  write(): Promise<void>;
}

/** Reads the blocks of some tokens. */
export async function readBlocks(
  tx: PgTransaction,
  { seq, ledgerKey }: CampaignRun,
  tokens: readonly TokenPosition[],
): Promise<LedgerBlocks> {
  const clientFids = [...new Set(tokens.map(({ clientFid }) => clientFid))];
  const numbers = [...new Set(tokens.map(({ fid }) => blockOf(fid)))];
  const [stored, storedFailures] = await Promise.all([
    tx.all(rowsOfBlocks, ledgerKey, clientFids, numbers),
    tx.all(failuresOfBlocks, seq, clientFids, numbers),
  ]);
  const rows = new Map<string, LedgerRow[]>();
  for (const { client_fid, block, campaign, sent, fids, expires_at } of stored) {
    const key = keyOf({ clientFid: client_fid, block });
    const row = { campaign, isSent: sent, fids, expiresAt: expires_at };
    const known = rows.get(key);
    if (known) known.push(row);
    else rows.set(key, [row]);
  }
  const failures = new Map(
    storedFailures.map((row) => [keyOf({ clientFid: row.client_fid, block: row.block }), row.fids]),
  );
  const blocks = new Map<string, { readonly of: BlockOf; readonly ledger: LedgerBlock }>();

  return {
    block({ clientFid, block }) {
      const of = { clientFid, block };
      const key = keyOf(of);
      let known = blocks.get(key);
      if (!known) {
        known = { of, ledger: new LedgerBlock(seq, rows.get(key) ?? [], failures.get(key)) };
        blocks.set(key, known);
      }
      return known.ledger;
    },

    async write() {
      const changed = [...blocks.values()].flatMap(({ of, ledger }) =>
        ledger.changedRows().map((row) => ({ of, row })),
      );
      if (changed.length > 0) {
        await tx.run(
          putRows,
          ledgerKey,
          changed.map(({ of }) => of.clientFid),
          changed.map(({ of }) => of.block),
          changed.map(({ row }) => row.campaign),
          changed.map(({ row }) => row.isSent),
          changed.map(({ row }) => row.fids ?? EMPTY),
          changed.map(({ row }) => row.expiresAt),
        );
      }
      const failed = [...blocks.values()].flatMap(({ of, ledger }) => {
        const fids = ledger.changedFailures();
        return fids ? [{ of, fids }] : [];
      });
      if (failed.length === 0) return;
      await tx.run(
        putFailures,
        seq,
        failed.map(({ of }) => of.clientFid),
        failed.map(({ of }) => of.block),
        failed.map(({ fids }) => fids),
      );
    },
  };
}

function keyOf({ clientFid, block }: BlockOf): string {
  return `${clientFid} ${block}`;
}
