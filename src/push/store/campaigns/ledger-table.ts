import { sql, sqlEach } from "../../../db/state/sql.ts";
import { stateSecs } from "../../../db/state/state-clock.ts";
import type { StateDb, Tx } from "../../../db/state/state-db.ts";
import type { Row } from "../../../db/state/table.ts";
import { createCallGroups } from "../../call-groups.ts";
import type { campaignFailures, dedupe } from "../tables.ts";
import type { TokenPosition } from "../tokens/token-store.ts";
import { GroupCounts } from "./campaign-counts.ts";
import { type CampaignRun, type RunLoss, RunLost } from "./campaign-store.ts";
import {
  type BlockTokens,
  blockOf,
  EMPTY_BLOCK,
  groupByBlock,
  LedgerBlock,
  type LedgerRow,
} from "./ledger-block.ts";
import type { NotificationLedger } from "./notification-ledger.ts";
import {
  type PackedCall,
  type PackedClaims,
  packClaims,
  packResults,
  packTokens,
  unpackClaims,
  unpackResults,
  unpackTokens,
} from "./packed-calls.ts";

/** The product of clients and blocks is small: a group of calls has few clients, and its fids are close together. */
const ofBlocks = "client_fid = ANY ($2::bigint[]) AND block = ANY ($3::bigint[])";
const rowsOfBlocks = sql<
  Omit<Row<typeof dedupe>, "key">,
  [key: number, clientFids: readonly number[], blocks: readonly number[]]
>(
  "dedupe.of-blocks",
  `SELECT client_fid, block, campaign, sent, fids, expires_at FROM dedupe WHERE key = $1 AND ${ofBlocks}`,
);
const failuresOfBlocks = sql<
  Omit<Row<typeof campaignFailures>, "campaign">,
  [campaign: number, clientFids: readonly number[], blocks: readonly number[]]
>(
  "campaign-failures.of-blocks",
  `SELECT client_fid, block, fids FROM campaign_failures WHERE campaign = $1 AND ${ofBlocks}`,
);
/** `fids` in hexadecimal. */
const putRows = sqlEach<
  unknown,
  [clientFid: number, block: number, campaign: number, sent: boolean, fids: string, expiresAt: number],
  [key: number]
>(
  "dedupe.put",
  `INSERT INTO dedupe (key, client_fid, block, campaign, sent, fids, expires_at)
   SELECT $2::bigint, (t.value ->> 0)::bigint, (t.value ->> 1)::bigint, (t.value ->> 2)::bigint, (t.value ->> 3)::boolean,
     decode(t.value ->> 4, 'hex'), (t.value ->> 5)::bigint
   FROM rows($1) t WHERE true
   ON CONFLICT (key, client_fid, block, campaign, sent)
   DO UPDATE SET fids = excluded.fids, expires_at = excluded.expires_at`,
);
const putFailures = sqlEach<unknown, [clientFid: number, block: number, fids: string], [campaign: number]>(
  "campaign-failures.put",
  `INSERT INTO campaign_failures (campaign, client_fid, block, fids)
   SELECT $2::bigint, (t.value ->> 0)::bigint, (t.value ->> 1)::bigint, decode(t.value ->> 2, 'hex')
   FROM rows($1) t WHERE true
   ON CONFLICT (campaign, client_fid, block) DO UPDATE SET fids = excluded.fids`,
);

type BlockOf = Omit<BlockTokens<TokenPosition>, "tokens">;

/** The ledger of some blocks, for one campaign, within a transaction that holds the row of its notification. */
interface LedgerRows {
  block(of: BlockOf): LedgerBlock;
  /** Writes what the blocks have changed. */
  write(): Promise<void>;
}

/** Reads the blocks of some tokens. */
async function readLedgerRows(
  tx: Tx,
  { seq, ledgerKey }: CampaignRun,
  tokens: readonly TokenPosition[],
): Promise<LedgerRows> {
  const clientFids = [...new Set(tokens.map(({ clientFid }) => clientFid))];
  const numbers = [...new Set(tokens.map(({ fid }) => blockOf(fid)))];
  const [stored, storedFailures] = await Promise.all([
    tx.all(rowsOfBlocks, ledgerKey, clientFids, numbers),
    tx.all(failuresOfBlocks, seq, clientFids, numbers),
  ]);
  const rows = new Map<string, LedgerRow[]>();
  for (const { client_fid, block, campaign, sent, fids, expires_at } of stored) {
    const key = blockKey({ clientFid: client_fid, block });
    const row = { campaign, isSent: Boolean(sent), fids, expiresAt: expires_at };
    const known = rows.get(key);
    if (known) known.push(row);
    else rows.set(key, [row]);
  }
  const failures = new Map(
    storedFailures.map((row) => [blockKey({ clientFid: row.client_fid, block: row.block }), row.fids]),
  );
  const blocks = new Map<string, { readonly position: BlockOf; readonly ledger: LedgerBlock }>();

  return {
    block({ clientFid, block }) {
      const position = { clientFid, block };
      const key = blockKey(position);
      let known = blocks.get(key);
      if (!known) {
        known = { position, ledger: new LedgerBlock(seq, rows.get(key) ?? [], failures.get(key)) };
        blocks.set(key, known);
      }
      return known.ledger;
    },

    async write() {
      const changed = [...blocks.values()].flatMap(({ position: { clientFid, block }, ledger }) =>
        ledger
          .changedRows()
          // An empty set keeps its row, because it is about to be filled again; the row is deleted with the key of its notification.
          .map(
            ({ campaign, isSent, fids = EMPTY_BLOCK, expiresAt }) =>
              [clientFid, block, campaign, isSent, fids.toHex(), expiresAt] as const,
          ),
      );
      await tx.each(putRows, changed, ledgerKey);
      const failed = [...blocks.values()].flatMap(({ position: { clientFid, block }, ledger }) => {
        const fids = ledger.changedFailures();
        return fids ? [[clientFid, block, fids.toHex()] as const] : [];
      });
      await tx.each(putFailures, failed, seq);
    },
  };
}

function blockKey({ clientFid, block }: BlockOf): string {
  return `${clientFid} ${block}`;
}

/**
 * Locks the campaign for the run's next write. A number smaller than the previous one means that a crash of the server undid a write; an
 * equal number means that a write is repeated because its response was lost.
 */
const lockRun = sql<unknown, [seq: number, epoch: number, bootId: string, write: number]>(
  "campaigns.lock-run",
  `UPDATE campaigns SET ledger_writes = $4
   WHERE seq = $1 AND epoch = $2 AND runner = $3::uuid AND ledger_writes BETWEEN $4 - 1 AND $4`,
);
export const isOwnRun = sql<{ one: number }, [seq: number, epoch: number, bootId: string]>(
  "campaigns.is-own-run",
  "SELECT 1 AS one FROM campaigns WHERE seq = $1 AND epoch = $2 AND runner = $3::uuid",
);
const lockKey = sql<{ one: number }, [key: number]>(
  "dedupe-keys.lock",
  "SELECT 1 AS one FROM dedupe_keys WHERE key = $1 FOR NO KEY UPDATE",
);
const prolongKey = sql<unknown, [key: number, expiresAt: number]>(
  "dedupe-keys.prolong",
  "UPDATE dedupe_keys SET expires_at = $2 WHERE key = $1 AND expires_at < $2",
);
const addRetryable = sql<unknown, [campaign: number, fids: string]>(
  "campaign-retryable.add",
  `INSERT INTO campaign_retryable (campaign, fid)
   SELECT DISTINCT $1::bigint, f.value::bigint FROM elements($2) f WHERE true ORDER BY 2 ON CONFLICT DO NOTHING`,
);

/** Bounds a transaction, so that it stays short. A claim has about a thousand tokens, a batch a hundred. */
const MAX_GROUP_CALLS = 32;

/**
 * The numbers of ledger transactions that the runs of this node have made. The ledger and the campaigns of a node share them: a run may
 * only end if all of its writes still exist.
 */
export class LedgerWrites {
  readonly #counts = new Map<string, { readonly seq: number; readonly count: number }>();

  of(run: CampaignRun): number {
    return this.#counts.get(keyOf(run))?.count ?? 0;
  }

  add(run: CampaignRun): void {
    this.#counts.set(keyOf(run), { seq: run.seq, count: this.of(run) + 1 });
  }

  /** Forgets all campaigns but these. The number of a run that is lost stays until all of its calls have been refused. */
  keepOnly(campaigns: readonly number[]): void {
    for (const [key, { seq }] of this.#counts) if (!campaigns.includes(seq)) this.#counts.delete(key);
  }
}

/**
 * Creates the ledger of a node. One transaction of a run is in flight at a time; calls that arrive meanwhile share the next one. The
 * transaction locks the campaign, checks the run's epoch and that all its writes still exist, and then locks the key of the notification,
 * so that no other campaign reads or writes the notification's ledger.
 */
export function createLedger(db: StateDb, writes: LedgerWrites): NotificationLedger {
  const execute = db.decision<
    [CampaignRun, number, readonly PackedCall[]],
    RunLoss | readonly (PackedClaims | undefined)[]
  >(
    "ledger.execute",
    async (tx, run, write, calls) => {
      const { seq, epoch, ledgerKey } = run;
      const { bootId } = tx.node;
      if ((await tx.run(lockRun, seq, epoch, bootId, write)) === 0)
        return (await tx.get(isOwnRun, seq, epoch, bootId)) ? "undone" : "taken";
      await tx.get(lockKey, ledgerKey);
      const tokens = calls.flatMap((call) =>
        call.kind === "not-attempted" ? [] : unpackTokens(call.tokens),
      );
      const rows = await readLedgerRows(tx, run, tokens);
      const counts = new GroupCounts();
      const nowSecs = stateSecs(tx.clock);
      const results = calls.map((call) => decide(call, rows, counts, nowSecs));
      await rows.write();
      if (counts.retryable.length > 0) await tx.run(addRetryable, seq, JSON.stringify(counts.retryable));
      if (counts.keptUntil > 0) await tx.run(prolongKey, ledgerKey, counts.keptUntil);
      await counts.write(tx, seq);
      return results;
    },
    { isSynced: false },
  );

  const callGroup = createCallGroups<
    { readonly run: CampaignRun; readonly call: PackedCall },
    PackedClaims | undefined
  >({
    maxItems: MAX_GROUP_CALLS,
    async call(_, items) {
      const [first] = items;
      if (!first) return [];
      const { seq, epoch, ledgerKey } = first.run;
      const calls = items.map(({ call }) => call);
      const results = await execute({ seq, epoch, ledgerKey }, writes.of(first.run) + 1, calls);
      if (typeof results === "string") throw new RunLost(results);
      writes.add(first.run);
      return results;
    },
  });
  const call = (run: CampaignRun, packed: PackedCall) =>
    callGroup(`${keyOf(run)} ${run.ledgerKey}`, { run, call: packed });

  return {
    async claim(run, tokens, leaseSecs) {
      const claims = await call(run, { kind: "claim", tokens: packTokens(tokens), leaseSecs });
      if (!claims) throw new Error("a claim has no result");
      return unpackClaims(tokens, claims);
    },

    async record(run, host, results, retentionSecs) {
      await call(run, packResults(host, results, retentionSecs));
    },

    async setNotAttempted(run, host, totals) {
      await call(run, { kind: "not-attempted", host, totals });
    },
  };
}

/** Decides on one call in memory; earlier calls of the group have changed the same blocks. */
function decide(
  call: PackedCall,
  rows: LedgerRows,
  counts: GroupCounts,
  nowSecs: number,
): PackedClaims | undefined {
  switch (call.kind) {
    case "claim": {
      const lease = { nowSecs, endsAt: nowSecs + call.leaseSecs };
      const tokens = unpackTokens(call.tokens);
      const parts = groupByBlock(tokens).map((part) => rows.block(part).claim(part.tokens, lease));
      return packClaims(tokens, {
        alreadyCounted: parts.flatMap(({ alreadyCounted }) => alreadyCounted),
        conflicting: parts.flatMap(({ conflicting }) => conflicting),
      });
    }
    case "record": {
      const results = unpackResults(call);
      const keptUntil = nowSecs + call.retentionSecs;
      const fresh = groupByBlock(results).flatMap((part) => rows.block(part).record(part.tokens, keptUntil));
      counts.addResults(call.host, fresh, results, keptUntil);
      return undefined;
    }
    case "not-attempted":
      counts.setNotAttempted(call.host, call.totals);
      return undefined;
  }
}

function keyOf({ seq, epoch }: CampaignRun): string {
  return `${seq} ${epoch}`;
}
