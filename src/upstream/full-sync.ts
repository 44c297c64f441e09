import { bulkPhaseOf } from "../db/index/bulk/bulk-state.ts";
import { spooledFidsAfter } from "../db/index/bulk/spool-tables.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import type { RelayedBatch } from "../ingest/relay.ts";
import { blockOfEvent, firstEventId } from "../protocol/hub-event-id.ts";
import type { GetInfoResponse } from "../protocol/wire/generated/hub.ts";
import { numberOf } from "./chain-blocks.ts";
import { shardCount } from "./check-peer.ts";
import type { UpstreamClient } from "./client.ts";
import type { RelayWriter } from "./op-batcher.ts";
import { listFids } from "./pages.ts";
import {
  BLOCK_SHARD,
  journaledPosition,
  Stage,
  scopePosition,
  seqnumPosition,
  shardsPosition,
  stagePosition,
  startPosition,
  syncPositions,
  type UpstreamPositions,
} from "./positions.ts";
import type { Scope } from "./scope.ts";
import { registeredFidsAfter } from "./stored.ts";

/** Dependencies of starting a full sync or a reconciliation. */
export interface SyncDeps {
  readonly client: UpstreamClient;
  readonly writer: RelayWriter;
  readonly positions: UpstreamPositions;
  readonly db: IndexDatabase;
  readonly scope: Scope;
  /** See `Peer`. */
  readonly hasBlockShard: boolean;
}

/** The journal starts so many blocks before the head, so that no block is lost to a race. */
const BLOCKS_BEFORE_HEAD = 60;
const FIDS_PER_BATCH = 5000;

/**
 * Starts a full sync, which reads every fid: it fixes the block of each shard at which the journal starts, then writes
 * the todo list. The journal is applied after the fids have been read.
 */
export async function startFullSync(deps: SyncDeps): Promise<void> {
  const { client, writer, scope, db, hasBlockShard } = deps;
  const info = await client.info();
  const shards = shardCount(info);
  const starts = new Map<number, number>();
  for (let shard = hasBlockShard ? BLOCK_SHARD : 1; shard <= shards; shard++) {
    starts.set(shard, await startOf(client, shard, headOf(info, shard)));
  }
  const positions = [stagePosition(Stage.Listing), shardsPosition(shards), scopePosition(scope.fingerprint)];
  await writeWork(writer, { positions, startsOver: true, shards, followed: scope.followed });
  const listed = scope.fids
    ? await listScope(writer, db, scope.fids)
    : await listAll(client, writer, info, shards);
  await writeWork(writer, {
    positions: [
      stagePosition(Stage.Filling),
      seqnumPosition(undefined),
      ...syncPositions(listed, true),
      ...[...starts].flatMap(([shard, start]) => [
        startPosition(shard, start),
        journaledPosition(shard, start - 1),
      ]),
    ],
  });
}

function headOf({ shardInfos }: GetInfoResponse, shard: number): number {
  return shardInfos.find(({ shardId }) => shardId === shard)?.maxHeight ?? 0;
}

/**
 * Returns the first block to journal. The upstream's own blocks may start later; the log of a data shard may start within
 * a block.
 */
async function startOf(client: UpstreamClient, shard: number, head: number): Promise<number> {
  const start = Math.max(1, head - BLOCKS_BEFORE_HEAD);
  const oldest = await oldestFrom(client, shard, start);
  return oldest === undefined ? head + 1 : Math.max(start, Math.min(oldest, head + 1));
}

/** Returns the oldest block from `start` on that the upstream serves; undefined if there is none. */
async function oldestFrom(client: UpstreamClient, shard: number, start: number): Promise<number | undefined> {
  if (shard === BLOCK_SHARD) {
    for await (const block of client.blocks(start)) return numberOf(block);
    return undefined;
  }
  const [first] = await client.events(shard, firstEventId(start), undefined, 1);
  return first && blockOfEvent(first.id);
}

/** Lists the fids in scope, and those that are stored from an earlier scope: their state must be removed. */
async function listScope(writer: RelayWriter, db: IndexDatabase, fids: readonly number[]): Promise<number> {
  for (let at = 0; at < fids.length; at += FIDS_PER_BATCH)
    await writeWork(writer, { todo: fids.slice(at, at + FIDS_PER_BATCH) });
  let stored = 0;
  for (let page = registeredFidsAfter(db, 0, FIDS_PER_BATCH); page.length > 0; ) {
    stored += page.length;
    await writeWork(writer, { todo: page });
    page = registeredFidsAfter(db, page.at(-1) ?? 0, FIDS_PER_BATCH);
  }
  if (bulkPhaseOf(db) !== undefined) {
    for (let page = spooledFidsAfter(db, 0, FIDS_PER_BATCH); page.length > 0; ) {
      stored += page.length;
      await writeWork(writer, { todo: page });
      page = spooledFidsAfter(db, page.at(-1) ?? 0, FIDS_PER_BATCH);
    }
  }
  return Math.max(fids.length, stored);
}

/** Lists all fids of the upstream. */
async function listAll(
  client: UpstreamClient,
  writer: RelayWriter,
  info: GetInfoResponse,
  shards: number,
): Promise<number> {
  let listed = 0;
  for (let shard = 1; shard <= shards; shard++) {
    const expected = info.shardInfos.find(({ shardId }) => shardId === shard)?.numFidRegistrations ?? 0;
    await listFids(
      (token) => client.fids(shard, token),
      expected,
      async (todo) => {
        listed += todo.length;
        await writeWork(writer, { todo });
      },
    );
  }
  return listed;
}

/** Writes positions, the todo list or the journal, without operations. */
export function writeWork(writer: RelayWriter, batch: Partial<Omit<RelayedBatch, "ops">>): Promise<void> {
  return writer.apply({ ops: [], positions: [], ...batch });
}
