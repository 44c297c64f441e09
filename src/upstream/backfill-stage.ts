import { bulkPhaseOf, canBulkBuild } from "../db/index/bulk/bulk-phase.ts";
import { isSpooledFid } from "../db/index/bulk/spooled-fids.ts";
import type { Verifier } from "../ingest/verify/verifier.ts";
import type { FollowedBlock } from "../protocol/wire/generated/upstream.ts";
import { readAppNonces } from "./app-nonces.ts";
import { countTodo, runBackfill } from "./backfill.ts";
import { inBatches } from "./batch-stream.ts";
import type { ShardBlock } from "./block-assembler.ts";
import { CAUGHT_UP, type ChainPosition, chainBlocks, numberOf, seqnumOf } from "./chain-blocks.ts";
import type { GapError } from "./gap-error.ts";
import { chainBlockToJournal, toJournal } from "./journal.ts";
import { OpBatcher } from "./op-batcher.ts";
import { FILLED_POSITION, journaledPosition, Stage, seqnumPosition, stagePosition } from "./positions.ts";
import { shardBlocks } from "./shard-blocks.ts";
import { BLOCK_SHARD } from "./shards.ts";
import { SpoolBatcher } from "./spool-batcher.ts";
import { runParts, type StageDeps, sourceOf } from "./stage.ts";
import { wait } from "./timings.ts";

/** Events of blocks that wait to be written into the journal. */
const MAX_WAITING_EVENTS = 2000;

/**
 * Reads the fids of the todo list, and journals the new blocks of every shard meanwhile. An index without messages is built in
 * bulk.
 */
export async function runBackfillStage(deps: StageDeps): Promise<GapError | undefined> {
  const { tracker, positions, writer, db, shards, hasBlockShard, signal } = deps;
  const verifier = deps.startVerifiers();
  signal.addEventListener("abort", () => void verifier.stop());
  tracker.enter(positions.isFull ? "backfill" : "reconcile");
  tracker.startSync(countTodo(db), positions.listed);
  const parts = hasBlockShard ? [journalChain(deps)] : [];
  for (let shard = 1; shard <= shards; shard++) parts.push(journalShard(deps, shard));
  const backfill = async () => {
    if (bulkPhaseOf(db) !== undefined || (positions.isFull && canBulkBuild(db)))
      await runBulkBackfill(deps, verifier);
    const batcher = new OpBatcher(writer);
    if (!signal.aborted) await runBackfill({ ...deps, reader: { ...deps, verifier }, batcher });
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
 * Fills the spool of the bulk build with the fids of the todo list, and builds. An fid that is listed again after it was spooled,
 * because blocks were missed, stays on the list: its state is compared with the index when that is built.
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
export async function runBulkBuild(
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
  const { positions, writer, end } = deps;
  const after = positions.received(shard) ?? 0;
  const blocks = shardBlocks(sourceOf(deps, shard), after + 1);
  for await (const batch of inBatches(blocks, weightOf, MAX_WAITING_EVENTS, end)) {
    await writer.apply({
      ops: [],
      positions: batch.slice(-1).map(({ number }) => journaledPosition(shard, number)),
      journal: { shard, blocks: batch.map(toJournal) },
    });
  }
}

async function journalChain(deps: StageDeps): Promise<void> {
  const { positions, writer, timings, signal } = deps;
  const after: ChainPosition = { block: positions.received(BLOCK_SHARD) ?? 0, seqnum: positions.seqnum };
  for await (const block of chainBlocks(sourceOf(deps, BLOCK_SHARD), after)) {
    if (block === CAUGHT_UP) {
      await wait(timings.pollMs, signal);
      continue;
    }
    const seqnum = block.events.map(seqnumOf).at(-1);
    await writer.apply({
      ops: [],
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
