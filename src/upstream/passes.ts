import type { IndexDatabase } from "../db/index/database.ts";
import type { RelayedBatch } from "../ingest/relay.ts";
import { Rejection } from "../protocol/rejection.ts";
import { decodeMessage } from "../protocol/signed-message.ts";
import type { GetInfoResponse } from "../protocol/wire/generated/hub.ts";
import type { ConcernedByChunks } from "../protocol/wire/generated/upstream.ts";
import { numberOf } from "./chain-blocks.ts";
import { shardCount } from "./check-peer.ts";
import type { UpstreamClient } from "./client.ts";
import { GapError } from "./gap.ts";
import type { RelayWriter } from "./op-batcher.ts";
import { walkFids } from "./pages.ts";
import {
  journaledMove,
  passMoves,
  Stage,
  scopeMove,
  seqnumMove,
  shardsMove,
  stageMove,
  startMove,
  type UpstreamPositions,
} from "./positions.ts";
import type { Scope } from "./scope.ts";
import { BLOCK_SHARD, blockOfEvent, firstEventId } from "./shards.ts";
import { registeredFidsAfter } from "./stored.ts";

/** What beginning a pass over fids works with. */
export interface PassContext {
  readonly client: UpstreamClient;
  readonly writer: RelayWriter;
  readonly positions: UpstreamPositions;
  readonly db: IndexDatabase;
  readonly scope: Scope;
}

/** What happens from so many blocks before the head on is taken down, so that nothing is missed for a race. */
const BLOCKS_BEFORE_HEAD = 60;
const FIDS_PER_BATCH = 5000;
const CHUNKS_PER_CALL = 100;

/**
 * Begins a pass that reads every fid: pins where each shard stands, then lists whom to read. What is taken down from the
 * pins on is applied behind it.
 */
export async function startFullPass(context: PassContext): Promise<void> {
  const { client, writer, scope, db } = context;
  const info = await client.info();
  const shards = shardCount(info);
  const starts = new Map<number, number>();
  for (let shard = BLOCK_SHARD; shard <= shards; shard++) {
    starts.set(shard, await startOf(client, shard, headOf(info, shard)));
  }
  const moves = [stageMove(Stage.Listing), shardsMove(shards), scopeMove(scope.fingerprint)];
  await write(writer, { positions: moves, startsOver: true });
  const listed = scope.kept
    ? await listKept(writer, db, scope.kept)
    : await listEverybody(client, writer, info, shards);
  await write(writer, {
    positions: [
      stageMove(Stage.Filling),
      seqnumMove(undefined),
      ...passMoves(listed, true),
      ...[...starts].flatMap(([shard, start]) => [startMove(shard, start), journaledMove(shard, start - 1)]),
    ],
  });
}

/**
 * Begins a pass that reads the fids that blocks concern which cannot be had, on whichever shards, together with what had
 * been taken down of those shards: that is older than what will be read. Where nothing says whom they concern, everybody
 * is read.
 */
export async function startReconciliation(context: PassContext, found: GapError): Promise<void> {
  const { writer, positions } = context;
  const gaps = [found, ...(await otherGaps(context, found.shard))];
  let listed = 0;
  for (const gap of gaps) {
    const concerned = gap.shard === BLOCK_SHARD ? undefined : await listConcerned(context, gap);
    if (concerned === undefined) return startFullPass(context);
    listed += concerned;
  }
  const shards = Array.from({ length: (positions.shards ?? 0) + 1 }, (_, shard) => shard);
  const wasFilling = positions.stage === Stage.Filling;
  await write(writer, {
    positions: [
      stageMove(Stage.Filling),
      ...passMoves(wasFilling ? positions.listed : listed, wasFilling && positions.isFull),
      ...shards.map((shard) => {
        const gap = gaps.find((one) => one.shard === shard);
        return journaledMove(shard, gap?.to ?? positions.taken(shard) ?? 0);
      }),
    ],
    discardedJournal: gaps.map(({ shard, to }) => ({ shard, upTo: to })),
  });
}

/** The gaps of the other data shards, as far as the node's log begins behind what has been taken of it. */
async function otherGaps({ client, positions }: PassContext, except: number): Promise<GapError[]> {
  const gaps: GapError[] = [];
  for (let shard = 1; shard <= (positions.shards ?? 0); shard++) {
    if (shard === except) continue;
    const next = (positions.taken(shard) ?? 0) + 1;
    const [first] = await client.events(shard, firstEventId(next), undefined, 1);
    if (!first) continue;
    const oldest = blockOfEvent(first.id);
    // A log that begins within a block has lost that one too.
    const to = first.id === firstEventId(oldest) ? oldest - 1 : oldest;
    if (to >= next) gaps.push(new GapError(shard, next, to));
  }
  return gaps;
}

/** Puts whom the blocks of a gap concern on the list; answers how many. Undefined where the blocks are gone too. */
async function listConcerned(
  { client, writer, positions, scope }: PassContext,
  { shard, from: missing, to }: GapError,
): Promise<number | undefined> {
  const from = Math.min(missing, Math.max((positions.applied(shard) ?? 0) + 1, positions.start(shard)));
  let listed = 0;
  for (let start = from; start <= to; start += CHUNKS_PER_CALL) {
    const stop = Math.min(start + CHUNKS_PER_CALL, to + 1);
    const chunks = await client.chunks(shard, start, stop);
    const numbers = new Set(chunks.map(({ header }) => header?.height?.blockNumber));
    if (numbers.size < stop - start) return undefined;
    const fids = concernedFids(chunks).filter((fid) => scope.shareOf(fid) !== "nothing");
    listed += fids.length;
    if (fids.length > 0) await write(writer, { todo: fids });
  }
  return listed;
}

function headOf({ shardInfos }: GetInfoResponse, shard: number): number {
  return shardInfos.find(({ shardId }) => shardId === shard)?.maxHeight ?? 0;
}

/** The first block that is taken down. What the node holds may begin later, the log of a data shard within a block. */
async function startOf(client: UpstreamClient, shard: number, head: number): Promise<number> {
  const start = Math.max(1, head - BLOCKS_BEFORE_HEAD);
  const oldest = await oldestFrom(client, shard, start);
  return oldest === undefined ? head + 1 : Math.max(start, Math.min(oldest, head + 1));
}

/** The oldest block from `start` on of which the node tells; undefined when there is none. */
async function oldestFrom(client: UpstreamClient, shard: number, start: number): Promise<number | undefined> {
  if (shard === BLOCK_SHARD) {
    for await (const block of client.blocks(start)) return numberOf(block);
    return undefined;
  }
  const [first] = await client.events(shard, firstEventId(start), undefined, 1);
  return first && blockOfEvent(first.id);
}

/** Beside whom the index keeps, those are listed whom it kept before: what it holds of them has to go. */
async function listKept(writer: RelayWriter, db: IndexDatabase, kept: readonly number[]): Promise<number> {
  for (let at = 0; at < kept.length; at += FIDS_PER_BATCH)
    await write(writer, { todo: kept.slice(at, at + FIDS_PER_BATCH) });
  let before = 0;
  for (let page = registeredFidsAfter(db, 0, FIDS_PER_BATCH); page.length > 0; ) {
    before += page.length;
    await write(writer, { todo: page });
    page = registeredFidsAfter(db, page.at(-1) ?? 0, FIDS_PER_BATCH);
  }
  return Math.max(kept.length, before);
}

async function listEverybody(
  client: UpstreamClient,
  writer: RelayWriter,
  info: GetInfoResponse,
  shards: number,
): Promise<number> {
  let listed = 0;
  for (let shard = 1; shard <= shards; shard++) {
    const expected = info.shardInfos.find(({ shardId }) => shardId === shard)?.numFidRegistrations ?? 0;
    await walkFids(
      (token) => client.fids(shard, token),
      expected,
      async (todo) => {
        listed += todo.length;
        await write(writer, { todo });
      },
    );
  }
  return listed;
}

/** Whom blocks concern: authors, those whom the chain or the name server speaks of, and both ends of a lend. */
function concernedFids(chunks: ConcernedByChunks["chunks"]): number[] {
  const fids = new Set<number>();
  for (const transaction of chunks.flatMap(({ transactions }) => transactions)) {
    fids.add(transaction.fid);
    for (const { onChainEvent, fnameTransfer, blockEvent } of transaction.systemMessages) {
      fids.add(onChainEvent?.fid ?? 0);
      fids.add(fnameTransfer?.fromFid ?? 0);
      fids.add(fnameTransfer?.proof?.fid ?? 0);
      const body = blockEvent?.data?.body;
      const message = body && decodeMessage(body.value.message);
      if (!message || message instanceof Rejection) continue;
      fids.add(message.data.fid);
      if (message.data.body?.$case === "lendStorageBody") fids.add(message.data.body.value.toFid);
    }
  }
  fids.delete(0);
  return [...fids];
}

function write(writer: RelayWriter, batch: Partial<RelayedBatch>): Promise<void> {
  return writer.apply({ ops: [], positions: [], ...batch });
}
