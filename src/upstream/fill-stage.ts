import type { FollowedBlock } from "../protocol/wire/generated/upstream.ts";
import { readAppNonces } from "./app-nonces.ts";
import type { ShardBlock } from "./block-assembler.ts";
import { CAUGHT_UP, type ChainPosition, chainBlocks, numberOf, seqnumOf } from "./chain-blocks.ts";
import { countTodo, runBackfill } from "./fill.ts";
import type { GapError } from "./gap.ts";
import { inBatches } from "./in-batches.ts";
import { chainBlockToJournal, toJournal } from "./journal.ts";
import { OpBatcher } from "./op-batcher.ts";
import { journaledMove, Stage, seqnumMove, stageMove } from "./positions.ts";
import { shardBlocks } from "./shard-blocks.ts";
import { BLOCK_SHARD } from "./shards.ts";
import { runParts, type StageContext, sourceOf } from "./stage.ts";
import { wait } from "./timings.ts";

/** Events of blocks that wait to be written into the journal. */
const MAX_WAITING_EVENTS = 2000;

/** Reads the fids on the list, and takes down what happens on every shard meanwhile. */
export class FillStage {
  constructor(private readonly context: StageContext) {}

  async run(): Promise<GapError | undefined> {
    const { context } = this;
    const { tracker, positions, writer, db, shards, signal } = context;
    tracker.enter(positions.isFull ? "backfill" : "reconcile");
    tracker.beginPass(countTodo(db), positions.listed);
    const parts = [this.#takeDownChain()];
    for (let shard = 1; shard <= shards; shard++) parts.push(this.#takeDown(shard));
    const filling = async () => {
      const batcher = new OpBatcher(writer);
      await runBackfill({ ...context, reader: context, batcher });
      if (positions.isFull && !signal.aborted) await readAppNonces({ ...context, batcher });
      if (!signal.aborted) await writer.apply({ ops: [], positions: [stageMove(Stage.Applying)] });
    };
    return runParts(context, filling(), parts);
  }

  async #takeDown(shard: number): Promise<void> {
    const { positions, writer, end } = this.context;
    const after = positions.taken(shard) ?? 0;
    const blocks = shardBlocks(sourceOf(this.context, shard), after + 1);
    for await (const batch of inBatches(blocks, weightOf, MAX_WAITING_EVENTS, end)) {
      const eventful = batch.filter(({ events }) => events.length > 0);
      await writer.apply({
        ops: [],
        positions: batch.slice(-1).map(({ number }) => journaledMove(shard, number)),
        journal: { shard, blocks: eventful.map(toJournal) },
      });
    }
  }

  async #takeDownChain(): Promise<void> {
    const { context } = this;
    const { positions, writer, pace, signal } = context;
    const after: ChainPosition = { block: positions.taken(BLOCK_SHARD) ?? 0, seqnum: positions.seqnum };
    for await (const block of chainBlocks(sourceOf(context, BLOCK_SHARD), after)) {
      if (block === CAUGHT_UP) {
        await wait(pace.pollMs, signal);
        continue;
      }
      const seqnum = block.events.map(seqnumOf).at(-1);
      await writer.apply({
        ops: [],
        positions: [
          journaledMove(BLOCK_SHARD, numberOf(block)),
          ...(seqnum === undefined ? [] : [seqnumMove(seqnum)]),
        ],
        journal: { shard: BLOCK_SHARD, blocks: isEventful(block) ? [chainBlockToJournal(block)] : [] },
      });
    }
  }
}

/** A block costs something even when nothing happened in it. */
export function weightOf({ events }: ShardBlock): number {
  return 1 + events.length;
}

function isEventful({ events }: FollowedBlock): boolean {
  return events.some(({ data }) => data?.body !== undefined);
}
