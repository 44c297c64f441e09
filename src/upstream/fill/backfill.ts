import { bulkPhaseOf, canBulkBuild } from "../../db/index/bulk/bulk-state.ts";
import { isSpooledFid, spooledFidsAfter } from "../../db/index/bulk/spool-tables.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { todoAfter } from "../../db/index/upstream-work.ts";
import type { Verifier } from "../../ingest/bulk/verify/verifier.ts";
import type { FollowedBlock } from "../../protocol/wire/generated/upstream.ts";
import { CAUGHT_UP, type ChainPosition, chainBlocks, numberOf, seqnumOf } from "../blocks/chain-blocks.ts";
import { chainBlockToJournal, toJournal } from "../blocks/journal.ts";
import { keyRecordsOfChunk } from "../blocks/key-records.ts";
import { type FidOps, inBatches, OpBatcher } from "../blocks/op-batcher.ts";
import { shardBlocks } from "../blocks/shard-blocks.ts";
import type { ShardBlock } from "../calls/decode/block-assembler.ts";
import type { GapError } from "../calls/peer.ts";
import {
  BLOCK_SHARD,
  FILLED_POSITION,
  journaledPosition,
  Replication,
  Stage,
  seqnumPosition,
  stagePosition,
} from "../positions.ts";
import { runParts, type StageDeps, sourceOf } from "../stage.ts";
import { Backoff, type Timings, wait } from "../timings.ts";
import { readAppNonces } from "./app-nonces.ts";
import { type FidReaderDeps, readFid, readShownProofs } from "./read-fid.ts";
import { fillFromSnapshots } from "./replication/fill.ts";
import { SpoolBatcher } from "./spool-batcher.ts";
import { unprovenNamesAfter } from "./stored.ts";

/** Dependencies and settings for reading the fids of the todo list. */
export interface BackfillDeps {
  readonly reader: Omit<FidReaderDeps, "emit">;
  readonly batcher: FidOps;
  readonly db: IndexDatabase;
  /** Reports whether an fid of the list is left for later. Default: none. */
  readonly isLater?: (fid: number) => boolean;
  /** Number of fids read concurrently, each with one call in flight. */
  readonly concurrency: number;
  readonly timings: Timings;
  readonly signal: AbortSignal;
  /** Called for a fault that is retried. */
  readonly onFault: (what: string, cause: unknown) => void;
}

const FIDS_PER_READ = 1000;
/** After this many consecutive failures, an fid waits until the others have been read. */
const TRIES_OF_A_FID = 3;

/**
 * Reads every fid of the todo list, including those added meanwhile. An fid is removed from the list in the transaction that
 * completes it. Resolves when everything is written and the list is empty, except for fids left for later.
 */
export async function runBackfill(deps: BackfillDeps): Promise<void> {
  const { db, batcher, concurrency, timings, signal } = deps;
  const isNow = (fid: number) => !deps.isLater?.(fid) && !batcher.isLater?.(fid);
  const backoff = new Backoff(timings);
  for (;;) {
    const fids = todoFids(db).filter(isNow);
    let failures = 0;
    const work = async () => {
      for (let next = fids.next(); !next.done && !signal.aborted; next = fids.next()) {
        if (!(await tryFid(deps, next.value))) failures++;
      }
    };
    // Waits for all of them, even if one fails.
    for (const result of await Promise.allSettled(Array.from({ length: concurrency }, work)))
      if (result.status === "rejected") throw result.reason;
    await batcher.flush();
    if (signal.aborted || !todoFids(db).some(isNow)) return;
    if (failures > 0) await backoff.wait(signal);
  }
}

/** Returns the number of fids on the todo list. */
function countTodo(db: IndexDatabase): number {
  let count = 0;
  for (const _ of todoFids(db)) count++;
  return count;
}

/** Returns the number of fids in the spool. */
function countSpooled(db: IndexDatabase): number {
  if (bulkPhaseOf(db) === undefined) return 0;
  let count = 0;
  for (let page = spooledFidsAfter(db, 0, FIDS_PER_READ); page.length > 0; ) {
    count += page.length;
    page = spooledFidsAfter(db, page.at(-1) ?? 0, FIDS_PER_READ);
  }
  return count;
}

async function tryFid(
  { reader, batcher, timings, signal, onFault }: BackfillDeps,
  fid: number,
): Promise<boolean> {
  const backoff = new Backoff(timings);
  for (let tries = 0; tries < TRIES_OF_A_FID && !signal.aborted; tries++) {
    if (tries > 0) await backoff.wait(signal);
    try {
      const isLastTry = tries === TRIES_OF_A_FID - 1;
      await readFid({ ...reader, emit: batcher.ofFid(fid) }, fid, isLastTry);
      return true;
    } catch (cause) {
      batcher.throwIfFailed();
      // The fid stays on the list.
      if (batcher.isLater?.(fid)) return true;
      if (!signal.aborted) onFault(`fid ${fid} could not be read`, cause);
    }
  }
  return false;
}

function* todoFids(db: IndexDatabase): Generator<number> {
  for (let page = todoAfter(db, 0, FIDS_PER_READ); page.length > 0; ) {
    yield* page;
    page = todoAfter(db, page.at(-1) ?? 0, FIDS_PER_READ);
  }
}

const NAMES_PER_READ = 500;

/** Reads the proofs of names that users show but a snapshot lacks: it has one proof per name, and none for some names. */
async function readUnprovenNames(
  { client, db, rules }: Pick<StageDeps, "client" | "db" | "rules">,
  batcher: OpBatcher,
): Promise<void> {
  for (let page = unprovenNamesAfter(db, 0, NAMES_PER_READ); page.length > 0; ) {
    const ops = await readShownProofs({ client, db, rules }, page, []);
    if (ops.length > 0) await batcher.add(ops, []);
    page = unprovenNamesAfter(db, page.at(-1)?.fid ?? 0, NAMES_PER_READ);
  }
  await batcher.flush();
}

/** Maximum number of events of blocks that wait to be journaled. */
const MAX_WAITING_EVENTS = 2000;

/**
 * Reads the fids of the todo list, and meanwhile journals the new blocks of every shard. An index without messages is built
 * in bulk.
 */
export async function runBackfillStage(deps: StageDeps): Promise<GapError | undefined> {
  const { tracker, positions, writer, db, shards, hasBlockShard, signal } = deps;
  const verifier = deps.startVerifiers();
  signal.addEventListener("abort", () => void verifier.stop());
  tracker.enter(positions.isFull ? "backfill" : "reconcile");
  const isReplicating = positions.replication === Replication.Reading;
  tracker.startSync(isReplicating ? positions.listed - countSpooled(db) : countTodo(db), positions.listed);
  const parts = hasBlockShard ? [journalChain(deps)] : [];
  for (let shard = 1; shard <= shards; shard++) parts.push(journalShard(deps, shard));
  const backfill = async () => {
    if (positions.replication === Replication.Reading) await fillFromSnapshots(deps, verifier);
    if (bulkPhaseOf(db) !== undefined || (positions.isFull && canBulkBuild(db)))
      await runBulkBackfill(deps, verifier);
    const batcher = new OpBatcher(writer);
    if (!signal.aborted) await runBackfill({ ...deps, reader: { ...deps, verifier }, batcher });
    if (positions.replication === Replication.Read && !signal.aborted) await readUnprovenNames(deps, batcher);
    if (positions.isFull && !signal.aborted) await readAppNonces({ ...deps, batcher });
    if (!signal.aborted)
      await writer.apply({ ops: [], positions: [stagePosition(Stage.Applying), FILLED_POSITION] });
  };
  try {
    return await runParts(deps, backfill(), parts);
  } finally {
    await verifier.stop();
  }
}

/**
 * Fills the spool of the bulk build with the fids of the todo list, and builds. If an fid is listed again after it was
 * spooled, because blocks were missed, it stays on the list: its state is compared with the index once that is built.
 */
async function runBulkBackfill(deps: StageDeps, verifier: Verifier): Promise<void> {
  const { db, writer, signal } = deps;
  if (bulkPhaseOf(db) !== "building") {
    const reader = { ...deps, verifier, isBulk: true };
    const isLater = (fid: number) => bulkPhaseOf(db) !== undefined && isSpooledFid(db, fid);
    await runBackfill({ ...deps, reader, batcher: new SpoolBatcher(writer), isLater });
  }
  await runBulkBuild(deps, signal);
}

/** Runs the bulk build to its end, unless it is stopped. */
async function runBulkBuild(
  { writer, tracker }: Pick<StageDeps, "writer" | "tracker">,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const progress = await writer.buildStep();
    tracker.building(progress);
    if (!progress) return;
  }
}

async function journalShard(deps: StageDeps, shard: number): Promise<void> {
  const { positions, writer, chain, shards, end } = deps;
  const after = positions.received(shard) ?? 0;
  const blocks = deps.silence.watch(shard, shardBlocks(sourceOf(deps, shard), after + 1));
  for await (const batch of inBatches(blocks, weightOf, MAX_WAITING_EVENTS, end)) {
    const { heads, transactions } = await chain.shardBlocks(shard, batch);
    const recordsOf = (number: number) =>
      keyRecordsOfChunk(transactions.get(number) ?? [], { shard, shards });
    await writer.apply({
      ops: [],
      heads,
      positions: batch.slice(-1).map(({ number }) => journaledPosition(shard, number)),
      journal: { shard, blocks: batch.map((block) => toJournal(block, recordsOf(block.number))) },
      unknown: batch.flatMap(({ unknown }) => unknown ?? []),
    });
  }
}

async function journalChain(deps: StageDeps): Promise<void> {
  const { positions, writer, chain, timings, signal } = deps;
  const after: ChainPosition = { block: positions.received(BLOCK_SHARD) ?? 0, seqnum: positions.seqnum };
  const chained = chainBlocks(sourceOf(deps, BLOCK_SHARD), after);
  for await (const block of deps.silence.watch(BLOCK_SHARD, chained, (item) => item !== CAUGHT_UP)) {
    if (block === CAUGHT_UP) {
      await wait(timings.pollMs, signal);
      continue;
    }
    const seqnum = block.events.map(seqnumOf).at(-1);
    await writer.apply({
      ops: [],
      heads: await chain.chainBlocks([block]),
      unknown: block.unknown,
      positions: [
        journaledPosition(BLOCK_SHARD, numberOf(block)),
        ...(seqnum === undefined ? [] : [seqnumPosition(seqnum)]),
      ],
      journal: { shard: BLOCK_SHARD, blocks: isEventful(block) ? [chainBlockToJournal(block)] : [] },
    });
  }
}

/** Blocks without events count too. */
export function weightOf({ events }: ShardBlock): number {
  return 1 + events.length;
}

function isEventful({ events }: FollowedBlock): boolean {
  return events.some(({ data }) => data?.body !== undefined);
}
