import type { UnknownRecord } from "../../db/index/unknown-records.ts";
import { blockOfEvent, firstEventId, MAX_EVENTS_OF_BLOCK } from "../../protocol/hub-event-id.ts";
import { decodeMessage } from "../../protocol/message/signed-message.ts";
import { MessageType } from "../../protocol/wire/generated/message.ts";
import { type ConcernedByChunks, FollowedEvent } from "../../protocol/wire/generated/upstream.ts";
import type { UpstreamClient } from "../calls/client.ts";
import { BlockAssembler, OpenBlock, type ShardBlock } from "../calls/decode/block-assembler.ts";
import { BoundedReader } from "../calls/decode/bounded-reader.ts";
import { unknownHubEvents } from "../calls/decode/unknown-records.ts";
import { GapError } from "../calls/peer.ts";
import { Backoff, type Timings } from "../timings.ts";

/** Dependencies of reading the blocks of a shard. */
export interface ShardSource {
  readonly client: UpstreamClient;
  readonly shard: number;
  readonly timings: Timings;
  readonly signal: AbortSignal;
  /** Called when the stream has ended, with its error if it had one, before it is opened again. */
  readonly onStreamEnd: (cause: unknown) => void;
  /** Called for a fault that is retried. */
  readonly onFault: (what: string, cause: unknown) => void;
  /** Called with the newest block that the upstream reports. */
  readonly onHead: (block: number) => void;
  /** Called whenever everything up to now has been read and the live stream takes over. */
  readonly onLive?: () => void;
}

const EVENTS_PER_PAGE = 1000;
const TRIES_OF_A_BLOCK = 3;

/**
 * Yields the blocks of a data shard from `from` on, each complete and each once, without end. The live stream is opened
 * first. Earlier blocks are read from the node's log, and so is every block that the stream delivers incompletely.
 * Connection failures are retried.
 *
 * @throws GapError if the node no longer has a block.
 */
export async function* shardBlocks(source: ShardSource, from: number): AsyncGenerator<ShardBlock> {
  for await (const block of completeBlocks(source, from))
    yield !block.unknownEvents ? block : { ...block, unknown: await unknownEventsOf(source, block) };
}

/**
 * Reads the events of a block whose types this program does not know, which its subscription leaves out. Events that cannot
 * be read now are still counted.
 */
async function unknownEventsOf(
  { client, shard, onFault }: ShardSource,
  { number, unknownEvents = 0 }: ShardBlock,
): Promise<UnknownRecord[]> {
  const unknown: UnknownRecord[] = [];
  const stopId = firstEventId(number + 1);
  try {
    for (let startId = firstEventId(number); ; ) {
      const page = await client.encodedEvents(shard, startId, stopId, EVENTS_PER_PAGE);
      unknown.push(...unknownHubEvents(page, shard, number));
      const last = page.at(-1);
      if (!last) break;
      startId = FollowedEvent.decode(new BoundedReader(last)).id + 1;
    }
  } catch (cause) {
    onFault("events of an unknown type could not be read", cause);
  }
  const place = { shard, block: number, position: 0 };
  for (let at = unknown.length; at < Math.min(unknownEvents, MAX_EVENTS_OF_BLOCK); at++)
    unknown.push({ kind: "hub_event", number: 0, ...place, bytes: new Uint8Array() });
  return unknown;
}

async function* completeBlocks(source: ShardSource, from: number): AsyncGenerator<ShardBlock> {
  const { client, shard, timings, signal } = source;
  const backoff = new Backoff(timings);
  let next = from;
  while (!signal.aborted) {
    try {
      using live = client.subscribe(shard);
      for await (const block of loggedBlocks(source, next, undefined)) {
        next = block.number + 1;
        backoff.reset();
        yield block;
      }
      source.onLive?.();
      const assembler = new BlockAssembler(next);
      for await (const event of live) {
        const missingTo = assembler.push(event);
        if (event.id > 0) source.onHead(blockOfEvent(event.id));
        if (missingTo !== undefined) {
          for await (const block of loggedBlocks(source, assembler.next, missingTo)) {
            assembler.skipTo(block.number);
            next = assembler.next;
            yield block;
          }
        }
        for (let block = assembler.take(); block; block = assembler.take()) {
          next = assembler.next;
          backoff.reset();
          yield block;
        }
      }
      if (!signal.aborted) source.onStreamEnd(undefined);
    } catch (cause) {
      if (cause instanceof GapError) throw cause;
      if (!signal.aborted) source.onFault(`the stream of shard ${shard} broke`, cause);
      if (!signal.aborted) source.onStreamEnd(cause);
    }
    await backoff.wait(signal);
  }
}

/** Yields the blocks of the node's log from `from` to `to`, or to the end of the log if `to` is undefined. */
async function* loggedBlocks(
  source: ShardSource,
  from: number,
  to: number | undefined,
): AsyncGenerator<ShardBlock> {
  const { client, shard } = source;
  const assembler = new BlockAssembler(from);
  const head = to ?? (await headOf(source));
  const stopId = to === undefined ? undefined : firstEventId(to + 1);
  for (let startId = firstEventId(from); ; ) {
    const events = await client.events(shard, startId, stopId, EVENTS_PER_PAGE);
    for (const event of events) {
      const missingTo = assembler.push(event);
      if (missingTo !== undefined) {
        for (let number = assembler.next; number <= missingTo; number++) {
          yield await oneBlock(source, number, missingTo);
          assembler.skipTo(number);
        }
      }
      const block = assembler.take();
      if (block) yield block;
    }
    const last = events.at(-1);
    if (last) startId = last.id + 1;
    else break;
  }
  // Blocks that should be in the log but were not returned are requested again, one by one.
  for (let number = assembler.next; number <= head; number++) yield await oneBlock(source, number, head);
}

/**
 * Reads one block of the log. A block that is incomplete each time is accepted if key operations explain it: they are
 * counted but never logged, and are taken from shard 0.
 */
async function oneBlock(source: ShardSource, number: number, missingTo: number): Promise<ShardBlock> {
  const { client, shard, timings, signal } = source;
  const backoff = new Backoff(timings);
  let incomplete: { readonly block: ShardBlock; readonly missing: number } | undefined;
  for (let tries = 0; tries < TRIES_OF_A_BLOCK; tries++) {
    if (tries > 0) await backoff.wait(signal);
    const open = new OpenBlock(number);
    const stopId = firstEventId(number + 1);
    for (let startId = firstEventId(number); ; ) {
      const events = await client.events(shard, startId, stopId, EVENTS_PER_PAGE);
      for (const event of events) open.add(event);
      const last = events.at(-1);
      if (!last) break;
      startId = last.id + 1;
    }
    const missing = open.missingMerges();
    if (missing === 0) return open.close();
    if (missing !== undefined) incomplete = { block: open.close(), missing };
    if (incomplete && incomplete.missing <= keyOperations(await client.chunks(shard, number, number + 1)))
      return incomplete.block;
  }
  throw new GapError(shard, number, Math.max(number, missingTo));
}

async function headOf({ client, shard, onHead }: ShardSource): Promise<number> {
  const { shardInfos } = await client.info();
  const head = shardInfos.find(({ shardId }) => shardId === shard)?.maxHeight ?? 0;
  onHead(head);
  return head;
}

/** Counts the operations on gasless keys that the blocks include from shard 0. */
function keyOperations(chunks: ConcernedByChunks["chunks"]): number {
  let count = 0;
  for (const { transactions } of chunks) {
    for (const { systemMessages } of transactions) {
      for (const { blockEvent } of systemMessages) {
        const body = blockEvent?.data?.body;
        const message = body?.$case === "merged" ? decodeMessage(body.value.message) : undefined;
        if (!message?.ok) continue;
        const { type } = message.value.data;
        if (type === MessageType.MESSAGE_TYPE_KEY_ADD || type === MessageType.MESSAGE_TYPE_KEY_REMOVE)
          count++;
      }
    }
  }
  return count;
}
