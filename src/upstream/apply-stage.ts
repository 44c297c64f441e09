import { todoAfter } from "../db/index/upstream-work.ts";
import type { RelayedBatch } from "../ingest/relay.ts";
import type { FollowedBlock } from "../protocol/wire/generated/upstream.ts";
import type { ShardBlock } from "./block-assembler.ts";
import { CAUGHT_UP, type ChainPosition, chainBlocks, numberOf, seqnumOf } from "./chain-blocks.ts";
import { ChainGate } from "./chain-gate.ts";
import { runBackfill } from "./fill.ts";
import { weightOf } from "./fill-stage.ts";
import type { GapError } from "./gap.ts";
import { inBatches } from "./in-batches.ts";
import { journaledChainBlocks, journaledShardBlocks } from "./journal.ts";
import { OpBatcher } from "./op-batcher.ts";
import { appliedMove, seqnumMove } from "./positions.ts";
import { relayedBlocks, relayedChainBlocks } from "./relayed.ts";
import { shardBlocks } from "./shard-blocks.ts";
import { BLOCK_SHARD } from "./shards.ts";
import { runParts, type StageContext, sourceOf } from "./stage.ts";

/** Events of one transaction, and events of blocks that wait for the next one. */
const MAX_WAITING_EVENTS = 1000;
const CHAIN_BLOCKS_PER_BATCH = 200;

/** Applies the journal, and behind it each block as it comes, on every shard. */
export class ApplyStage {
  readonly #context: StageContext;
  readonly #gate: ChainGate;
  /** Data shards that have not yet come to what happens now. */
  #catchingUp: number;
  #turn: Promise<void> = Promise.resolve();

  constructor(context: StageContext) {
    this.#context = context;
    this.#gate = new ChainGate(context.signal);
    this.#catchingUp = context.shards;
  }

  async run(): Promise<GapError | undefined> {
    const { tracker, shards, positions } = this.#context;
    tracker.enter("replay");
    for (let shard = BLOCK_SHARD; shard <= shards; shard++)
      tracker.applied(shard, positions.applied(shard) ?? 0, undefined);
    await this.#readMentioned();
    const parts = [this.#applyChain()];
    for (let shard = 1; shard <= shards; shard++) parts.push(this.#applyShard(shard));
    return runParts(this.#context, undefined, parts);
  }

  async #applyShard(shard: number): Promise<void> {
    const { db, positions, signal, tracker } = this.#context;
    const applied = positions.applied(shard) ?? 0;
    const journaled = positions.taken(shard) ?? 0;
    const journal = journaledShardBlocks(db, shard, applied);
    await this.#applyBlocks(shard, asynchronous(journal), true);
    if (journaled > applied && !signal.aborted) {
      // The last blocks may have been without events, and so not in the journal.
      await this.#write({ ops: [], positions: [appliedMove(shard, journaled)] });
      tracker.applied(shard, journaled, undefined);
    }
    let isLive = false;
    const onLive = () => {
      if (!isLive) this.#catchingUp -= 1;
      isLive = true;
      if (this.#catchingUp === 0) tracker.enter("live");
    };
    const source = { ...sourceOf(this.#context, shard), onLive };
    await this.#applyBlocks(shard, shardBlocks(source, journaled + 1), false);
  }

  /** Applies blocks in the groups in which they come; the next group is decoded while the last one is being written. */
  async #applyBlocks(shard: number, blocks: AsyncGenerator<ShardBlock>, isJournal: boolean): Promise<void> {
    const { rules, signal, tracker, end } = this.#context;
    let writing: Promise<void> = Promise.resolve();
    for await (const batch of inBatches(blocks, weightOf, MAX_WAITING_EVENTS, end)) {
      const relayed = relayedBlocks(rules, shard, batch);
      const last = batch.at(-1);
      if (!last) continue;
      await writing;
      await this.#gate.waitFor(Math.max(...batch.map(({ seqnum }) => seqnum)));
      if (signal.aborted) return;
      writing = this.#write({
        ...relayed,
        positions: [appliedMove(shard, last.number)],
        discardedJournal: isJournal ? [{ shard, upTo: last.number }] : [],
      }).then(() => tracker.applied(shard, last.number, last.timestamp));
      // Nothing may come for long; the failure is thrown behind the loop.
      writing.catch(end);
    }
    await writing;
  }

  async #applyChain(): Promise<void> {
    const { db, positions, pace } = this.#context;
    const applied = positions.applied(BLOCK_SHARD) ?? 0;
    const journaled = positions.taken(BLOCK_SHARD) ?? 0;
    for (const block of journaledChainBlocks(db, applied)) await this.#writeChain([block], true);
    if (journaled > applied) await this.#write({ ops: [], positions: [appliedMove(BLOCK_SHARD, journaled)] });
    this.#context.tracker.applied(BLOCK_SHARD, journaled, undefined);
    this.#gate.reach(positions.seqnum ?? 0);
    const after: ChainPosition = { block: journaled, seqnum: positions.seqnum };
    let waiting: FollowedBlock[] = [];
    for await (const block of chainBlocks(sourceOf(this.#context, BLOCK_SHARD), after)) {
      if (block !== CAUGHT_UP) waiting.push(block);
      if (block !== CAUGHT_UP && waiting.length < CHAIN_BLOCKS_PER_BATCH) continue;
      await this.#writeChain(waiting, false);
      waiting = [];
      if (block === CAUGHT_UP) {
        this.#gate.looked();
        await this.#gate.pause(pace.pollMs);
      }
    }
  }

  async #writeChain(blocks: readonly FollowedBlock[], isJournal: boolean): Promise<void> {
    const { rules, tracker } = this.#context;
    const last = blocks.at(-1);
    if (!last) return;
    const number = numberOf(last);
    const seqnum = blocks.flatMap(({ events }) => events.map(seqnumOf)).at(-1);
    await this.#write({
      ...relayedChainBlocks(rules, blocks),
      positions: [
        appliedMove(BLOCK_SHARD, number),
        ...(seqnum === undefined || isJournal ? [] : [seqnumMove(seqnum)]),
      ],
      discardedJournal: isJournal ? [{ shard: BLOCK_SHARD, upTo: number }] : [],
    });
    tracker.applied(BLOCK_SHARD, number, last.header?.timestamp);
    if (seqnum !== undefined) this.#gate.reach(seqnum);
  }

  /**
   * Writes a batch. Where it mentions somebody of whom nothing was kept, what presents that fid is read before anything
   * else is applied: its events up to now have been passed over, and those from now on are applied over what is read.
   */
  #write(batch: RelayedBatch): Promise<void> {
    const { scope, writer } = this.#context;
    if (!scope.kept) return writer.apply(batch);
    const turn = this.#turn.then(async () => {
      await writer.apply(batch);
      if (batch.mentioned && batch.mentioned.length > 0) await this.#readMentioned();
    });
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #readMentioned(): Promise<void> {
    const context = this.#context;
    if (todoAfter(context.db, 0, 1).length === 0) return;
    await runBackfill({ ...context, reader: context, batcher: new OpBatcher(context.writer) });
  }
}

async function* asynchronous<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items;
}
