import type { PgTransaction } from "../../../db/postgres/pool.ts";
import type { PgPools } from "../../../db/postgres/pools.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import { createCallGroups } from "../../../lib/call-groups.ts";
import { type CampaignRun, type RunLoss, RunLost } from "../campaign-store.ts";
import { groupByBlock } from "../ledger-block.ts";
import type { BatchResults, ClaimResult, NotificationLedger, TokenResult } from "../notification-ledger.ts";
import type { TokenPosition } from "../token-store.ts";
import { GroupCounts } from "./group-counts.ts";
import { type LedgerBlocks, readBlocks } from "./ledger-blocks.ts";
import type { LedgerWrites } from "./ledger-writes.ts";

/**
 * Locks the campaign for the run's next write. A smaller number than the one before says that a crash of the server undid a
 * write; the same number, that this is the repetition of a write whose answer was lost.
 */
const lockRun = pgStatement<{ one: number }, [seq: number, epoch: number, bootId: string, write: number]>(
  "campaigns.lock-run",
  `UPDATE campaigns SET ledger_writes = $4
   WHERE seq = $1 AND epoch = $2 AND runner = $3::uuid AND ledger_writes BETWEEN $4 - 1 AND $4 RETURNING 1 AS one`,
);
const isOwn = pgStatement<{ one: number }, [seq: number, epoch: number, bootId: string]>(
  "campaigns.is-own",
  "SELECT 1 AS one FROM campaigns WHERE seq = $1 AND epoch = $2 AND runner = $3::uuid",
);
const lockKey = pgStatement<{ one: number }, [key: number]>(
  "dedupe-keys.lock",
  "SELECT 1 AS one FROM dedupe_keys WHERE key = $1 FOR NO KEY UPDATE",
);
const prolongKey = pgStatement<unknown, [key: number, expiresAt: number]>(
  "dedupe-keys.prolong",
  "UPDATE dedupe_keys SET expires_at = $2 WHERE key = $1 AND expires_at < $2",
);
const addRetryable = pgStatement<unknown, [campaign: number, fids: readonly number[]]>(
  "campaign-retryable.add",
  `INSERT INTO campaign_retryable (campaign, fid)
   SELECT DISTINCT $1::bigint, fid FROM unnest($2::bigint[]) AS n (fid) ORDER BY 2 ON CONFLICT DO NOTHING`,
);

/** Bounds a transaction, so that it stays short. A claim has about a thousand tokens, a batch a hundred. */
const MAX_GROUP_CALLS = 32;

/** A call of the ledger that waits for the next transaction of its run. */
type LedgerCall =
  | { readonly kind: "claim"; readonly tokens: readonly TokenPosition[]; readonly leaseSecs: number }
  | {
      readonly kind: "record";
      readonly host: string;
      readonly results: BatchResults;
      readonly retentionSecs: number;
    }
  | {
      readonly kind: "not-attempted";
      readonly host: string;
      readonly totals: Readonly<Record<string, number>>;
    };

interface RunCall {
  readonly run: CampaignRun;
  readonly call: LedgerCall;
}

/** The result of a call: of a claim what it claimed; or why there is `RunLost`. */
type CallResult = ClaimResult<TokenPosition> | undefined | RunLoss;

/**
 * Creates the ledger of a node. One transaction of a run is in flight at a time; the calls that arrive meanwhile share the
 * next one. The transaction holds the campaign, whose epoch must be that of the run and whose writes must be all there, and then the key of the notification,
 * so that no other campaign reads or writes the ledger of the notification.
 */
export function createPostgresLedger(
  { ledger }: Pick<PgPools, "ledger">,
  clock: StateClock,
  { bootId }: Pick<StateNode, "bootId">,
  writes: LedgerWrites,
): NotificationLedger {
  const callGroup = createCallGroups<RunCall, CallResult>({
    maxItems: MAX_GROUP_CALLS,
    async call(_, items) {
      const [first] = items;
      if (!first) return [];
      const calls = items.map(({ call }) => call);
      const results = await ledger.transaction((tx) => executeCalls(tx, first.run, calls));
      writes.add(first.run);
      return results;
    },
  });

  async function executeCalls(
    tx: PgTransaction,
    run: CampaignRun,
    calls: readonly LedgerCall[],
  ): Promise<CallResult[]> {
    const { seq, epoch, ledgerKey } = run;
    if (!(await tx.get(lockRun, seq, epoch, bootId, writes.of(run) + 1))) {
      const loss = (await tx.get(isOwn, seq, epoch, bootId)) ? "undone" : "taken";
      return calls.map(() => loss);
    }
    await tx.get(lockKey, ledgerKey);
    const blocks = await readBlocks(tx, run, calls.flatMap(tokensOf));
    const counts = new GroupCounts();
    const nowSecs = stateSecs(clock);
    const results = calls.map((call) => decide(call, blocks, counts, nowSecs));
    await blocks.write();
    if (counts.retryable.length > 0) await tx.run(addRetryable, seq, counts.retryable);
    if (counts.keptUntil > 0) await tx.run(prolongKey, ledgerKey, counts.keptUntil);
    await counts.write(tx, seq);
    return results;
  }

  async function execute(
    run: CampaignRun,
    call: LedgerCall,
  ): Promise<ClaimResult<TokenPosition> | undefined> {
    const result = await callGroup(`${run.seq} ${run.epoch} ${run.ledgerKey}`, { run, call });
    if (result !== "taken" && result !== "undone") return result;
    writes.delete(run);
    throw new RunLost(result);
  }

  return {
    async claim<Token extends TokenPosition>(run: CampaignRun, tokens: readonly Token[], leaseSecs: number) {
      const claimed = await execute(run, { kind: "claim", tokens, leaseSecs });
      if (!claimed) throw new Error("a claim has no result");
      // The very tokens of the call.
      return claimed as ClaimResult<Token>;
    },

    async record(run, host, results, retentionSecs) {
      await execute(run, { kind: "record", host, results, retentionSecs });
    },

    async setNotAttempted(run, host, totals) {
      await execute(run, { kind: "not-attempted", host, totals });
    },
  };
}

function tokensOf(call: LedgerCall): readonly TokenPosition[] {
  switch (call.kind) {
    case "claim":
      return call.tokens;
    case "record":
      return call.results.tokens;
    case "not-attempted":
      return [];
  }
}

/** Decides on one call in memory; the calls before it have changed the same blocks. */
function decide(
  call: LedgerCall,
  blocks: LedgerBlocks,
  counts: GroupCounts,
  nowSecs: number,
): ClaimResult<TokenPosition> | undefined {
  switch (call.kind) {
    case "claim": {
      const lease = { nowSecs, endsAt: nowSecs + call.leaseSecs };
      const parts = groupByBlock(call.tokens).map((part) => blocks.block(part).claim(part.tokens, lease));
      return {
        claimed: parts.flatMap(({ claimed }) => claimed),
        alreadyCounted: parts.flatMap(({ alreadyCounted }) => alreadyCounted),
        conflicting: parts.flatMap(({ conflicting }) => conflicting),
      };
    }
    case "record": {
      const results = resultsOf(call.results);
      const keptUntil = nowSecs + call.retentionSecs;
      const fresh = groupByBlock(results).flatMap((part) =>
        blocks.block(part).record(part.tokens, keptUntil),
      );
      counts.addResults(call.host, fresh, results, keptUntil);
      return undefined;
    }
    case "not-attempted":
      counts.setNotAttempted(call.host, call.totals);
      return undefined;
  }
}

function resultsOf({ tokens, outcomes }: BatchResults): TokenResult[] {
  return tokens.map(({ fid, clientFid }, at) => {
    const outcome = outcomes[at];
    if (!outcome) throw new Error("a token has no outcome");
    const { kind, reason, isRetryable } = outcome;
    return { fid, clientFid, kind, reason, isRetryable };
  });
}
