import { blockOfEvent, firstEventId } from "../../protocol/hub-event-id.ts";
import { decodeMessage } from "../../protocol/message/signed-message.ts";
import type { ConcernedByChunks } from "../../protocol/wire/generated/upstream.ts";
import { GapError } from "../calls/peer.ts";
import {
  BLOCK_SHARD,
  journaledPosition,
  replayedPosition,
  Stage,
  stagePosition,
  syncPositions,
} from "../positions.ts";
import { type SyncDeps, startFullSync, writeWork } from "./full-sync.ts";

const CHUNKS_PER_CALL = 100;

/**
 * Starts a reconciliation, which reads the fids again that the blocks of a gap concern, on all shards with a gap. Discards
 * the journal of those shards up to the gap, because it is older than the state that will be read. If the upstream cannot
 * say which fids the blocks concern, because it no longer has the blocks or never did, a full sync is started instead.
 */
export async function startReconciliation(deps: SyncDeps, found: GapError): Promise<void> {
  const { writer, positions, hasBlockShard } = deps;
  const gaps = [found, ...(await otherGaps(deps, found.shard))];
  let listed = 0;
  for (const gap of gaps) {
    const concerned =
      gap.shard === BLOCK_SHARD || !hasBlockShard ? undefined : await listConcerned(deps, gap);
    if (concerned === undefined) return startFullSync(deps);
    listed += concerned;
  }
  const shards = Array.from({ length: (positions.shards ?? 0) + 1 }, (_, shard) => shard);
  const wasFilling = positions.stage === Stage.Filling;
  await writeWork(writer, {
    positions: [
      stagePosition(Stage.Filling),
      ...syncPositions(wasFilling ? positions.listed : listed, wasFilling && positions.isFull),
      ...shards.map((shard) => {
        const gap = gaps.find((one) => one.shard === shard);
        return journaledPosition(shard, gap?.to ?? positions.received(shard) ?? 0);
      }),
      ...gaps.map(({ shard }) => replayedPosition(shard, undefined)),
    ],
    discardedJournal: gaps.map(({ shard, to }) => ({ shard, upTo: to })),
  });
}

/**
 * Returns the gaps of the other data shards, because the upstream's log of a shard may start after the last received block.
 */
async function otherGaps({ client, positions }: SyncDeps, except: number): Promise<GapError[]> {
  const gaps: GapError[] = [];
  for (let shard = 1; shard <= (positions.shards ?? 0); shard++) {
    if (shard === except) continue;
    const next = (positions.received(shard) ?? 0) + 1;
    const [first] = await client.events(shard, firstEventId(next), undefined, 1);
    if (!first) continue;
    const oldest = blockOfEvent(first.id);
    // If the log starts within a block, that block is missing too.
    const to = first.id === firstEventId(oldest) ? oldest - 1 : oldest;
    if (to >= next) gaps.push(new GapError(shard, next, to));
  }
  return gaps;
}

/**
 * Adds the fids that the blocks of a gap concern to the todo list. Returns their number, or undefined if the blocks are no
 * longer available either.
 */
async function listConcerned(
  { client, writer, positions, scope }: SyncDeps,
  { shard, from: missing, to }: GapError,
): Promise<number | undefined> {
  const firstUnapplied = Math.max((positions.applied(shard) ?? 0) + 1, positions.start(shard));
  let listed = 0;
  for (let start = Math.min(missing, firstUnapplied); start <= to; start += CHUNKS_PER_CALL) {
    const stop = Math.min(start + CHUNKS_PER_CALL, to + 1);
    const chunks = await client.chunks(shard, start, stop);
    const numbers = new Set(chunks.map(({ header }) => header?.height?.blockNumber));
    if (numbers.size < stop - start) return undefined;
    const fids = concernedFids(chunks).filter((fid) => scope.shareOf(fid) !== "nothing");
    listed += fids.length;
    if (fids.length > 0) await writeWork(writer, { todo: fids });
  }
  return listed;
}

/** Returns the fids that blocks concern: authors, fids of on-chain events and fname transfers, both fids of a lend. */
function concernedFids(chunks: ConcernedByChunks["chunks"]): number[] {
  const fids = new Set<number>();
  for (const transaction of chunks.flatMap(({ transactions }) => transactions)) {
    fids.add(transaction.fid);
    for (const { onChainEvent, fnameTransfer, blockEvent } of transaction.systemMessages) {
      fids.add(onChainEvent?.fid ?? 0);
      fids.add(fnameTransfer?.fromFid ?? 0);
      fids.add(fnameTransfer?.proof?.fid ?? 0);
      const body = blockEvent?.data?.body;
      const message = body?.$case === "merged" ? decodeMessage(body.value.message) : undefined;
      if (!message?.ok) continue;
      const { data } = message.value;
      fids.add(data.fid);
      if (data.body?.$case === "lendStorageBody") fids.add(data.body.value.toFid);
    }
  }
  fids.delete(0);
  return [...fids];
}
