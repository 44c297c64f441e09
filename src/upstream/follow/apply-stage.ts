import { channelHistoryOf, followedFromPosition } from "../../db/index/channels/history.ts";
import type { UnknownRecord } from "../../db/index/unknown-records.ts";
import { type ChainHead, todoAfter } from "../../db/index/upstream-work.ts";
import type { RelayedBatch } from "../../ingest/relayed-op.ts";
import type { FollowedBlock } from "../../protocol/wire/generated/upstream.ts";
import { type BlockSource, relayedBlocks } from "../blocks/block-operations.ts";
import {
  CAUGHT_UP,
  ChainGate,
  type ChainPosition,
  chainBlocks,
  numberOf,
  seqnumOf,
} from "../blocks/chain-blocks.ts";
import { relayedChainBlocks } from "../blocks/chain-operations.ts";
import { journaledChainBlocks, journaledShardBlocks } from "../blocks/journal.ts";
import { keyRecordsOfChunk } from "../blocks/key-records.ts";
import { inBatches, OpBatcher } from "../blocks/op-batcher.ts";
import { shardBlocks } from "../blocks/shard-blocks.ts";
import type { ShardBlock } from "../calls/decode/block-assembler.ts";
import type { ReceivedBlock } from "../calls/decode/codecs.ts";
import type { GapError } from "../calls/peer.ts";
import { isProvenNetwork } from "../chain/proofs.ts";
import { runBackfill, weightOf } from "../fill/backfill.ts";
import { readShownProofs } from "../fill/read-fid.ts";
import { runHealer } from "../heal/healer.ts";
import { appliedPosition, BLOCK_SHARD, replayedPosition, seqnumPosition } from "../positions.ts";
import { runParts, type StageDeps, sourceOf } from "../stage.ts";
import { readChannelHistory, readLeftChannels } from "./channel-history.ts";
import { recoverUnknown } from "./recover-unknown.ts";

/** Maximum number of events per transaction, and of events of blocks that wait for the next one. */
const MAX_WAITING_EVENTS = 1000;
const CHAIN_BLOCKS_PER_BATCH = 200;

/** Applies the journal and then each new block, on every shard. */
export async function runApplyStage(deps: StageDeps): Promise<GapError | undefined> {
  const { db, chain, positions, rules, scope, shards, hasBlockShard, signal, timings, tracker, writer, end } =
    deps;
  const gate = new ChainGate(signal);
  // The rows of an index of only some fids do not produce all keys of the tries.
  const followsKeys = chain.isVerifying && !scope.fids;
  /** Data shards that have not reached the live stream yet. */
  let catchingUp = shards;
  /** The last write, where writes must not overlap. */
  let turn: Promise<void> = Promise.resolve();

  tracker.enter("replay");
  for (let shard = hasBlockShard ? BLOCK_SHARD : 1; shard <= shards; shard++)
    tracker.applied(shard, positions.applied(shard) ?? 0, undefined);
  await readMentioned();
  await recoverUnknown(deps);
  const parts = [...(hasBlockShard ? [applyChain()] : []), readChannelHistory(deps), readLeftChannels(deps)];
  for (let shard = 1; shard <= shards; shard++) parts.push(applyShard(shard));
  if (deps.trust.level === "roots")
    parts.push(runHealer({ ...deps, mayHeal: isProvenNetwork(rules.network) }));
  parts.push(deps.engine.run(deps.client, timings, signal, deps.onFault));
  return runParts(deps, undefined, parts);

  async function applyShard(shard: number): Promise<void> {
    const applied = positions.applied(shard) ?? 0;
    const journaled = positions.received(shard) ?? 0;
    const journal = journaledShardBlocks(db, shard, applied);
    await applyBlocks(shard, asynchronous(journal), (batch) => {
      const records = new Map(batch.map(({ number, keyRecords }) => [number, keyRecords]));
      return { isJournal: true, heads: [], keyRecordsOf: (number) => records.get(number) ?? [] };
    });
    if (journaled > applied && !signal.aborted) {
      // The last blocks may have had no events, so they are not in the journal.
      const blocks = { shard, first: applied + 1, last: journaled, parts: [], isJournal: true };
      await write({ ops: [], positions: [appliedPosition(shard, journaled)], blocks, followsKeys });
      tracker.applied(shard, journaled, undefined);
    }
    let isLive = false;
    const onLive = () => {
      if (!isLive) catchingUp -= 1;
      isLive = true;
      if (catchingUp === 0) tracker.enter("live");
    };
    const source = { ...sourceOf(deps, shard), onLive };
    const live = deps.silence.watch(shard, shardBlocks(source, journaled + 1));
    await applyBlocks(shard, live, async (batch) => {
      const { heads, transactions } = await chain.shardBlocks(shard, batch);
      const keyRecordsOf = (number: number) =>
        keyRecordsOfChunk(transactions.get(number) ?? [], { shard, shards });
      return { isJournal: false, heads, keyRecordsOf };
    });
  }

  /**
   * Applies blocks in the groups in which they arrive. The next group is decoded while the previous one is being written.
   */
  async function applyBlocks<Block extends ShardBlock>(
    shard: number,
    blocks: AsyncGenerator<Block>,
    verify: (batch: readonly Block[]) => Verified | Promise<Verified>,
  ): Promise<void> {
    let writing: Promise<void> = Promise.resolve();
    for await (const batch of inBatches(blocks, weightOf, MAX_WAITING_EVENTS, end)) {
      const last = batch.at(-1);
      if (!last) continue;
      const { isJournal, heads, keyRecordsOf } = await verify(batch);
      const source = { shard, isJournal, keyRecordsOf: followsKeys ? keyRecordsOf : undefined };
      const { usernames, ...relayed } = relayedBlocks(rules, source, batch);
      await writing;
      const replayed = Math.max(...batch.map(({ seqnum }) => seqnum));
      await gate.waitFor(replayed);
      if (signal.aborted) return;
      const ops = [...relayed.ops, ...(await readShownProofs(deps, usernames, relayed.ops))];
      writing = write({
        ...relayed,
        ops,
        heads,
        followsKeys,
        positions: [appliedPosition(shard, last.number), replayedPosition(shard, replayed)],
        discardedJournal: isJournal ? [{ shard, upTo: last.number }] : [],
      }).then(() => tracker.applied(shard, last.number, last.timestamp));
      // The next block may take a long time to arrive, so a failure ends the stage now. It is thrown after the loop.
      writing.catch(end);
    }
    await writing;
  }

  async function applyChain(): Promise<void> {
    const applied = positions.applied(BLOCK_SHARD) ?? 0;
    const journaled = positions.received(BLOCK_SHARD) ?? 0;
    if (channelHistoryOf(db).followedFrom === undefined) {
      const first = Math.max(applied + 1, positions.start(BLOCK_SHARD));
      await write({ ops: [], positions: [followedFromPosition(first)] });
    }
    for (const block of journaledChainBlocks(db, applied)) await writeChain([block]);
    if (journaled > applied) await write({ ops: [], positions: [appliedPosition(BLOCK_SHARD, journaled)] });
    tracker.applied(BLOCK_SHARD, journaled, undefined);
    gate.advanceTo(positions.seqnum ?? 0);
    const after: ChainPosition = { block: journaled, seqnum: positions.seqnum };
    let waiting: ReceivedBlock[] = [];
    const chained = chainBlocks(sourceOf(deps, BLOCK_SHARD), after);
    for await (const block of deps.silence.watch(BLOCK_SHARD, chained, (item) => item !== CAUGHT_UP)) {
      if (block !== CAUGHT_UP) waiting.push(block);
      if (block !== CAUGHT_UP && waiting.length < CHAIN_BLOCKS_PER_BATCH) continue;
      const heads = await chain.chainBlocks(waiting);
      await writeChain(waiting, { heads, unknown: waiting.flatMap(({ unknown }) => unknown) });
      waiting = [];
      if (block === CAUGHT_UP) {
        gate.pollEnded();
        await gate.waitToPoll(timings.pollMs);
      }
    }
  }

  /**
   * @param received the result of verifying blocks that have just arrived; undefined for blocks of the journal, for which it
   * was stored on arrival.
   */
  async function writeChain(
    blocks: readonly FollowedBlock[],
    received?: { readonly heads: readonly ChainHead[]; readonly unknown: readonly UnknownRecord[] },
  ): Promise<void> {
    const isJournal = received === undefined;
    const last = blocks.at(-1);
    if (!last) return;
    const number = numberOf(last);
    const seqnum = blocks.flatMap(({ events }) => events.map(seqnumOf)).at(-1);
    const { usernames: _, ...relayed } = relayedChainBlocks(rules, blocks, { isJournal });
    await write({
      ...relayed,
      followsKeys,
      ...(received && { heads: received.heads, unknown: [...relayed.unknown, ...received.unknown] }),
      positions: [
        appliedPosition(BLOCK_SHARD, number),
        ...(seqnum === undefined || isJournal ? [] : [seqnumPosition(seqnum)]),
      ],
      discardedJournal: isJournal ? [{ shard: BLOCK_SHARD, upTo: number }] : [],
    });
    tracker.applied(BLOCK_SHARD, number, last.header?.timestamp);
    if (seqnum !== undefined) gate.advanceTo(seqnum);
  }

  /**
   * Writes a batch. If it mentions fids for which nothing is stored, their profiles are read before anything else is
   * applied: their events so far were skipped, and those from now on are applied to the profiles that are read.
   */
  function write(batch: RelayedBatch): Promise<void> {
    if (!scope.fids) return writer.apply(batch);
    const written = turn.then(async () => {
      await writer.apply(batch);
      if (batch.mentioned && batch.mentioned.length > 0) await readMentioned();
    });
    turn = written.catch(() => {});
    return written;
  }

  async function readMentioned(): Promise<void> {
    if (todoAfter(db, 0, 1).length === 0) return;
    await runBackfill({ ...deps, reader: deps, batcher: new OpBatcher(writer) });
  }
}

/** Blocks as verified. What is in the journal was verified when it was received. */
interface Verified extends Required<Pick<BlockSource, "isJournal" | "keyRecordsOf">> {
  readonly heads: readonly ChainHead[];
}

async function* asynchronous<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items;
}
