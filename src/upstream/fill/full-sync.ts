import { bulkPhaseOf, canBulkBuild } from "../../db/index/bulk/bulk-state.ts";
import { spooledFidsAfter } from "../../db/index/bulk/spool-tables.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import type { PositionUpdate } from "../../db/index/positions.ts";
import type { RelayedBatch } from "../../ingest/relayed-op.ts";
import { blockOfEvent, firstEventId } from "../../protocol/hub-event-id.ts";
import type { GetInfoResponse } from "../../protocol/wire/generated/hub.ts";
import { numberOf } from "../blocks/chain-blocks.ts";
import type { RelayWriter } from "../blocks/op-batcher.ts";
import { shardCount } from "../calls/check-peer.ts";
import type { UpstreamClient } from "../calls/client.ts";
import { listFids } from "../calls/pages.ts";
import type { ChainVerifier } from "../chain/chain-verifier.ts";
import {
  BLOCK_SHARD,
  journaledPosition,
  Replication,
  replayedPosition,
  replicationPosition,
  Stage,
  scopePosition,
  seqnumPosition,
  shardsPosition,
  stagePosition,
  startPosition,
  syncPositions,
  type UpstreamPositions,
} from "../positions.ts";
import type { Scope } from "../scope.ts";
import { replayedInBlock } from "./replayed.ts";
import { isUnserved } from "./replication/page-calls.ts";
import { newestSnapshot, type Snapshot } from "./replication/snapshots.ts";
import { registeredFidsAfter } from "./stored.ts";

/** Dependencies for starting a full sync or a reconciliation. */
export interface SyncDeps {
  readonly client: UpstreamClient;
  readonly writer: RelayWriter;
  readonly positions: UpstreamPositions;
  readonly db: IndexDatabase;
  readonly scope: Scope;
  readonly chain: ChainVerifier;
  /** Unix seconds. */
  readonly nowSecs: number;
  /** See `Peer`. */
  readonly hasBlockShard: boolean;
}

/** The journal starts this many blocks before the head, so that no block is lost to a race. */
const BLOCKS_BEFORE_HEAD = 60;
const FIDS_PER_BATCH = 5000;

/**
 * Starts a full sync, which reads every fid. It fixes the block of each shard at which the journal starts, then writes the
 * todo list. The journal is applied after the fids have been read. An empty index of all fids is filled from snapshots, if
 * the upstream serves them: the journal then starts after them, and the list stays empty.
 */
export async function startFullSync(deps: SyncDeps): Promise<void> {
  const { client, writer, scope, db, chain, hasBlockShard } = deps;
  const info = await client.info();
  const shards = shardCount(info);
  const snapshots = await snapshotsToRead(deps, shards);
  const starts = new Map<number, number>();
  for (let shard = hasBlockShard ? BLOCK_SHARD : 1; shard <= shards; shard++) {
    const snapshot = snapshots?.find((one) => one.shard === shard);
    starts.set(shard, snapshot ? snapshot.height + 1 : await startOf(client, shard, headOf(info, shard)));
  }
  const replayed: PositionUpdate[] = [];
  for (const [shard, start] of starts)
    if (shard !== BLOCK_SHARD && hasBlockShard)
      replayed.push(replayedPosition(shard, await replayedInBlock(client, shard, start)));
  const positions = [
    stagePosition(Stage.Listing),
    shardsPosition(shards),
    scopePosition(scope.fingerprint),
    ...replayed,
  ];
  await writeWork(writer, { positions, startsOver: true, shards, followed: scope.followed });
  const listed = scope.fids
    ? await listScope(writer, db, scope.fids)
    : snapshots
      ? info.shardInfos.reduce((sum, { numFidRegistrations }) => sum + numFidRegistrations, 0)
      : await listFidsOfShards(client, shards, (todo) => writeWork(writer, { todo }));
  // The following blocks contain everything.
  const isFromGenesis = !snapshots && [...starts.values()].every((start) => start === 1);
  const keysKnown = [...starts.keys()]
    .filter((shard) => shard !== BLOCK_SHARD)
    .map((shard) => ({ shard, from: 0 }));
  await writeWork(writer, {
    ...(isFromGenesis && chain.isVerifying && !scope.fids && canBulkBuild(db) && { keysKnown }),
    heads: (snapshots ?? []).flatMap(({ head }) => head ?? []),
    positions: [
      replicationPosition(snapshots && Replication.Reading),
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
 * Returns the first block to journal. The upstream's own blocks may start later, and the log of a data shard may start
 * within a block.
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

/** Lists the fids in scope, and those stored under an earlier scope, whose state must be removed. */
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

/** Returns the snapshots from which an index can be filled; undefined if it has to be read fid by fid. */
async function snapshotsToRead(deps: SyncDeps, shards: number): Promise<readonly Snapshot[] | undefined> {
  const { client, db, scope, hasBlockShard } = deps;
  if (scope.fids || !hasBlockShard || bulkPhaseOf(db) !== undefined || !canBulkBuild(db)) return undefined;
  const snapshots: Snapshot[] = [];
  try {
    for (let shard = 1; shard <= shards; shard++) {
      const snapshot = await newestSnapshot(deps, shard);
      const oldest = snapshot && (await oldestFrom(client, shard, snapshot.height + 1));
      // Blocks between the snapshot and the journal would be missing.
      if (!snapshot || (oldest !== undefined && oldest > snapshot.height + 1)) return undefined;
      snapshots.push(snapshot);
    }
  } catch (cause) {
    if (isUnserved(cause)) return undefined;
    throw cause;
  }
  return snapshots;
}

/**
 * Lists all fids of the upstream. Returns their number.
 *
 * @param onFids called with fids that were not listed before.
 */
export async function listFidsOfShards(
  client: UpstreamClient,
  shards: number,
  onFids: (fids: readonly number[]) => Promise<void>,
): Promise<number> {
  const info = await client.info();
  let listed = 0;
  for (let shard = 1; shard <= shards; shard++) {
    const expected = info.shardInfos.find(({ shardId }) => shardId === shard)?.numFidRegistrations ?? 0;
    await listFids(
      (token) => client.fids(shard, token),
      expected,
      async (fids) => {
        listed += fids.length;
        await onFids(fids);
      },
    );
  }
  return listed;
}

/** Writes positions, the todo list or the journal, without operations. */
export function writeWork(writer: RelayWriter, batch: Partial<Omit<RelayedBatch, "ops">>): Promise<void> {
  return writer.apply({ ops: [], positions: [], ...batch });
}
