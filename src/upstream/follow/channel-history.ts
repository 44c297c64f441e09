import { channelsActiveAt } from "../../db/index/channels/follows.ts";
import {
  channelHistoryOf,
  channelsLeftOut,
  HISTORY_DONE,
  historyNextPosition,
  leftOutPosition,
} from "../../db/index/channels/history.ts";
import { verificationsAfter } from "../../db/index/channels/owner-claims.ts";
import type { RelayedOp } from "../../ingest/relayed-op.ts";
import { type ChainPosition, channelIdOfEvent } from "../../protocol/channels/registrations.ts";
import { CHANNELS_VERSION } from "../../protocol/network/engine-versions.ts";
import { shardOfFid } from "../../protocol/network/shard.ts";
import { toFarcasterSecs, toUnixSecs } from "../../protocol/time.ts";
import { OnChainEvent, OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import { numberOf } from "../blocks/chain-blocks.ts";
import { channelOperations } from "../blocks/chain-operations.ts";
import { validatedEvent } from "../blocks/validate-relayed.ts";
import type { UpstreamClient } from "../calls/client.ts";
import type { ReceivedBlock } from "../calls/decode/codecs.ts";
import { MalformedError } from "../calls/peer.ts";
import { channelStateOps, readChannel } from "../fill/read-channels.ts";
import type { StageDeps } from "../stage.ts";
import { Backoff, wait } from "../timings.ts";

type Registration = Extract<RelayedOp, { kind: "registration" }>;

const BLOCKS_PER_BATCH = 200;
const VERIFICATIONS_PER_BATCH = 1000;
const HOUR_MS = 3_600_000;

/**
 * Reads what shard 0 decided about channels before this index followed it, from its blocks since channels became part of the
 * protocol. It runs while new blocks are applied, because the number of each decision says which is later. If those blocks
 * are deleted, the date is not known, or the upstream has no shard 0, the list of registrations and the present state of
 * each channel are read instead. The list may be ahead of the applied blocks, whose registrations then produce no events.
 */
export async function readChannelHistory(deps: StageDeps): Promise<void> {
  const { db, timings, signal, onFault } = deps;
  const backoff = new Backoff(timings);
  while (!signal.aborted && !channelHistoryOf(db).isDone) {
    try {
      await readOnce(deps);
    } catch (cause) {
      if (!signal.aborted) onFault("the channels of the upstream could not be read", cause);
      await backoff.wait(signal);
    }
  }
}

/** Reads again, every hour, the channels that the upstream has reported with values that no channel can have. */
export async function readLeftChannels(deps: StageDeps): Promise<void> {
  const { db, timings, signal, onFault } = deps;
  for (;;) {
    await wait(timings.engineCheckMs ?? HOUR_MS, signal);
    if (signal.aborted) return;
    const left = new Set(channelsLeftOut(db));
    if (left.size === 0) continue;
    try {
      const listed = await readRegistrations(deps);
      const idOf = ({ event }: Registration) => channelIdOfEvent(OnChainEvent.decode(event))?.toHex() ?? "";
      await readStates(
        deps,
        listed.filter((one) => left.has(idOf(one))),
      );
    } catch (cause) {
      if (!signal.aborted) onFault("the channels of the upstream could not be read", cause);
    }
  }
}

async function readOnce(deps: StageDeps): Promise<void> {
  const { client, db, writer, rules, schedule, hasBlockShard } = deps;
  const registrations = await readRegistrations(deps);
  const activeAt = schedule.activeAt(CHANNELS_VERSION);
  const { followedFrom = 1, next } = channelHistoryOf(db);
  const first =
    next ??
    (activeAt === undefined || !hasBlockShard
      ? undefined
      : await firstBlockFrom(client, activeAt, followedFrom));
  const isRead =
    first === undefined || !hasBlockShard
      ? registrations.length === 0
      : await readBlocks(deps, first, followedFrom);
  if (deps.signal.aborted) return;
  if (!isRead) {
    // A registration proves that channels are part of the protocol, whatever the schedule of this program says.
    const decision = { seqnum: 0, decidedAt: rules.nowUnixSecs };
    const ops = registrations.map((op, at) => (at === 0 ? { ...op, decision } : op));
    await writer.apply({ ops, positions: [] });
    await claimVerifications(deps);
    await readStates(deps, registrations);
  }
  // What was known before, but is not among the decisions of this upstream, is not the network's.
  const complete: RelayedOp = { kind: "channelsComplete", happenedAt: 0 };
  await writer.apply({ ops: [complete], positions: [HISTORY_DONE] });
}

/** Reads the registrations of the network. A node older than channels has none. */
async function readRegistrations({ client, rules }: StageDeps): Promise<Registration[]> {
  const received = await client.channels.registrations();
  const events = received.flatMap((bytes) => {
    const event = validatedEvent(rules, bytes);
    return event?.type === OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER ? [event] : [];
  });
  const order = (a: OnChainEvent, b: OnChainEvent) =>
    a.blockNumber - b.blockNumber || a.txIndex - b.txIndex || a.logIndex - b.logIndex;
  return events.sort(order).map((event): Registration => {
    const bytes = OnChainEvent.encode(event).finish();
    return { kind: "registration", event: bytes, decision: undefined, happenedAt: 0 };
  });
}

/**
 * Returns the first block of shard 0 below `stop` that is not older than a time; undefined if the upstream cannot show it.
 */
async function firstBlockFrom(
  client: UpstreamClient,
  unixSecs: number,
  stop: number,
): Promise<number | undefined> {
  const isOlder = (block: ReceivedBlock) => toUnixSecs(block.header?.timestamp ?? 0) < unixSecs;
  const last = await blockAt(client, stop);
  if (last && isOlder(last)) return stop;
  let low = 1;
  let high = stop;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const block = await blockAt(client, middle);
    // A deleted block is older than the existing ones.
    if (!block || isOlder(block)) low = middle + 1;
    else high = middle;
  }
  // The preceding block may also be deleted, in which case no one knows whether it had decisions.
  return low === 1 || (await blockAt(client, low - 1)) ? low : undefined;
}

async function blockAt(client: UpstreamClient, number: number): Promise<ReceivedBlock | undefined> {
  using blocks = client.blocks(number, number + 1);
  for await (const block of blocks) return numberOf(block) === number ? block : undefined;
  return undefined;
}

/** Applies the blocks from `first` up to the first that was applied live. Returns false if some of them are deleted. */
async function readBlocks(
  { client, chain, writer, rules, positions, signal }: StageDeps,
  first: number,
  end: number,
): Promise<boolean> {
  let next = first;
  let waiting: ReceivedBlock[] = [];
  const write = async () => {
    if (waiting.length === 0) return;
    await chain.pastBlocks(waiting);
    const { ops, unknown } = channelOperations(rules, waiting, (fid, seqnum) => {
      const replayed = positions.replayed(shardOfFid(fid, rules.shards));
      return replayed === undefined || seqnum <= replayed;
    });
    await writer.apply({
      ops,
      unknown: [...unknown, ...waiting.flatMap((block) => block.unknown)],
      positions: [historyNextPosition(next)],
    });
    waiting = [];
  };
  while (next < end && !signal.aborted) {
    const from = next;
    using blocks = client.blocks(next, end);
    for await (const block of blocks) {
      if (numberOf(block) !== next) return false;
      next += 1;
      waiting.push(block);
      if (waiting.length === BLOCKS_PER_BATCH) await write();
    }
    await write();
    if (next === from) return false;
  }
  return !signal.aborted;
}

/** Reads the present state of each registered channel. */
async function readStates(deps: StageDeps, registrations: readonly Registration[]): Promise<void> {
  const { client, writer, signal, onFault } = deps;
  const keys = new Map<string, { channelId: Uint8Array; key: string }>();
  const last = new Map<string, ChainPosition>();
  for (const { event: bytes } of registrations) {
    const event = OnChainEvent.decode(bytes);
    const channelId = channelIdOfEvent(event);
    const key = event.body?.$case === "channelRegisterEventBody" ? event.body.value.channelKey : "";
    if (!channelId) continue;
    const id = channelId.toHex();
    last.set(id, { block: event.blockNumber, tx: event.txIndex, log: event.logIndex });
    if (key !== "") keys.set(id, { channelId, key });
  }
  for (const [id, channel] of keys) {
    if (signal.aborted) return;
    try {
      const reported = await readChannel(client, channel);
      const listed = last.get(id);
      if (reported && listed)
        await writer.apply({ ops: channelStateOps(channel.channelId, reported, listed), positions: [] });
    } catch (cause) {
      if (!(cause instanceof MalformedError)) throw cause;
      // If this waited for it, no channel could be served.
      onFault(`the channel 0x${id} of the upstream is not stored`, cause);
      await writer.apply({ ops: [], positions: [leftOutPosition(channel.channelId)] });
    }
  }
}

/**
 * Takes the owners of all addresses from the index, because a channel may be transferred to an address that has none now.
 */
async function claimVerifications({ db, writer, signal }: StageDeps): Promise<void> {
  const activeAt = channelsActiveAt(db);
  if (activeAt === undefined) return;
  let last: { readonly fid: number; readonly address: Uint8Array } = { fid: 0, address: new Uint8Array() };
  while (!signal.aborted) {
    const page = verificationsAfter(db, last, VERIFICATIONS_PER_BATCH);
    const newest = page.at(-1);
    if (!newest) return;
    last = newest;
    const ops = page
      .filter(({ timestamp }) => timestamp >= activeAt)
      .map(({ fid, address, timestamp }): RelayedOp => {
        return { kind: "claimState", fid, address, timestamp: toFarcasterSecs(timestamp), happenedAt: 0 };
      });
    if (ops.length > 0) await writer.apply({ ops, positions: [] });
  }
}
