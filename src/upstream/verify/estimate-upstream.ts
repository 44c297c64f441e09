import { estimateSize, SampleCounter, type SizeEstimate } from "../../db/index/counts/size-estimate.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import { dataOnNetwork } from "../calls/check-peer.ts";
import type { UpstreamClient } from "../calls/client.ts";
import { readPages } from "../calls/pages.ts";
import { STORES } from "../fill/read-fid.ts";
import { EVENT_TYPES } from "../fill/stored.ts";
import { sampleOf, upstreamFids } from "./verify-sample.ts";

/** What filling an index from the followed node takes, and the basis of the estimate. */
export interface UpstreamEstimate extends SizeEstimate {
  readonly sampledFids: number;
  readonly sampledMessages: number;
  /** Milliseconds that the followed node took per call of the sample. */
  readonly callMs: number;
  /** Seconds that the calls take by themselves, however fast this machine is. `seconds` is never less. */
  readonly callSeconds: number;
  /** Number of fids read at a time while filling. */
  readonly concurrency: number;
}

export interface UpstreamEstimateDeps {
  readonly client: UpstreamClient;
  readonly network: FarcasterNetwork;
  /** Cores of the machine that will be filled. */
  readonly cores: number;
  /** `upstream.concurrency` */
  readonly concurrency: number;
  /** Maximum number of fids to sample. */
  readonly sampledFids?: number;
  /** No further fid is sampled after this many milliseconds. At least one always is. */
  readonly budgetMs?: number;
}

const SAMPLED_FIDS = 200;
/** Number of sampled fids read at a time. */
const CONCURRENCY = 4;
/** Calls per fid that filling makes but the sample does not: for its names and its keys. */
const FURTHER_CALLS = 2;
const BUDGET_MS = 60_000;
/** A sample with this many messages is large enough, however few fids it has. */
const MAX_MESSAGES = 200_000;
/**
 * Maximum number of pages of one list of an fid. Storage limits the messages of an fid, but not the pages of a hostile node.
 */
const MAX_PAGES = 10_000;

/**
 * Estimates what filling an index takes, from the state of a sample of fids.
 *
 * @param followed the fids that will be followed; undefined for all of the followed node.
 * @throws PeerError for a node of another network; the errors of the calls; Error for a list that does not end.
 */
export async function estimateUpstream(
  deps: UpstreamEstimateDeps,
  followed: ReadonlySet<number> | undefined,
): Promise<UpstreamEstimate> {
  const { client, network, cores, concurrency, sampledFids = SAMPLED_FIDS, budgetMs = BUDGET_MS } = deps;
  const { count, sample } = followed
    ? { count: followed.size, sample: sampleOf([...followed], sampledFids, Math.random) }
    : await sampleFids(client, sampledFids);
  const left = [...sample];
  const counter = new SampleCounter(network);
  const calls = new CallCounter();
  const endsAt = performance.now() + budgetMs;
  let sampled = 0;
  const work = async () => {
    for (let fid = left.pop(); fid !== undefined; fid = left.pop()) {
      if (sampled > 0 && (counter.messages >= MAX_MESSAGES || performance.now() > endsAt)) return;
      try {
        await countFid({ client, network, counter, calls }, fid);
      } catch (cause) {
        left.length = 0;
        throw cause;
      }
      sampled++;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  const share = sampled === 0 ? 0 : count / sampled;
  const size = estimateSize(counter.scaled(share), { cores, from: "upstream" });
  const callMs = calls.meanMs();
  const callSeconds = ((calls.count * share + count * FURTHER_CALLS) * callMs) / 1000 / concurrency;
  return {
    ...size,
    seconds: Math.max(size.seconds, callSeconds),
    sampledFids: sampled,
    sampledMessages: counter.messages,
    callMs,
    callSeconds,
    concurrency,
  };
}

/** Measures how long the calls of a sample took. */
class CallCounter {
  count = 0;
  #ms = 0;

  async time<T>(call: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const response = await call;
    this.#ms += performance.now() - startedAt;
    this.count++;
    return response;
  }

  meanMs(): number {
    return this.count === 0 ? 0 : this.#ms / this.count;
  }
}

async function countFid(
  sampling: Pick<UpstreamEstimateDeps, "client" | "network"> & {
    readonly counter: SampleCounter;
    readonly calls: CallCounter;
  },
  fid: number,
): Promise<void> {
  const { client, network, counter, calls } = sampling;
  counter.addFid();
  for (const type of EVENT_TYPES)
    for (const _ of await calls.time(client.onChainEvents(fid, type))) counter.addOnChainEvent();
  for (const [, methods] of STORES)
    for (const method of methods) {
      let pages = 0;
      for await (const page of readPages((token) => calls.time(client.messages(method, fid, token)))) {
        if (page[0]) dataOnNetwork(page[0], network);
        for (const message of page) counter.addMessage(message);
        if (counter.messages >= 2 * MAX_MESSAGES) return;
        if (++pages >= MAX_PAGES) throw new Error(`the messages of fid ${fid} do not end`);
      }
    }
}

/** The number of fids, and a random sample of them. */
interface SampledFids {
  readonly count: number;
  readonly sample: readonly number[];
}

/** Up to this many fids are listed, in pages of 1000. */
const MAX_LISTED = 20_000;
/** Draws per fid of the sample. The registry numbers fids from 1 on, across all shards. */
const DRAWS = 10;
/** Number of draws that are looked up at a time. */
const SAMPLING_CALLS = 8;

/**
 * Samples the fids of the followed node. A large network is not listed, because that takes over a thousand calls: the node
 * counts its registrations, and numbers up to its highest fid are drawn until enough of them are registered.
 *
 * @throws the errors of the calls; Error for a node that counts fids but has none of those that were drawn.
 */
export async function sampleFids(
  client: UpstreamClient,
  size: number,
  { random = Math.random, maxListed = MAX_LISTED }: { random?: () => number; maxListed?: number } = {},
): Promise<SampledFids> {
  const shards = (await client.info()).shardInfos.filter(({ shardId }) => shardId !== 0);
  const count = shards.reduce((sum, { numFidRegistrations }) => sum + numFidRegistrations, 0);
  if (count <= maxListed) {
    const fids = await upstreamFids(client);
    return { count: fids.size, sample: sampleOf([...fids], size, random) };
  }
  const highest = await Promise.all(shards.map(({ shardId }) => client.highestFids(shardId)));
  const sample = await drawRegistered(client, size, Math.max(0, ...highest.flat()), random);
  if (sample.length === 0) throw new Error(`the upstream counts ${count} fids, and has none of those drawn`);
  return { count, sample };
}

async function drawRegistered(
  client: UpstreamClient,
  size: number,
  highest: number,
  random: () => number,
): Promise<number[]> {
  const drawn = new Set<number>();
  const registered: number[] = [];
  let draws = size * DRAWS;
  const work = async () => {
    while (registered.length < size && draws-- > 0) {
      const fid = 1 + Math.floor(random() * highest);
      if (drawn.has(fid)) continue;
      drawn.add(fid);
      const events = await client.onChainEvents(fid, OnChainEventType.EVENT_TYPE_ID_REGISTER);
      if (events.length > 0 && registered.length < size) registered.push(fid);
    }
  };
  await Promise.all(Array.from({ length: SAMPLING_CALLS }, work));
  return registered;
}
