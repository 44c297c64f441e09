import {
  estimateSize,
  type NetworkSample,
  SampleCounter,
  type SizeEstimate,
} from "../db/index/size-estimate.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import type { UpstreamClient } from "./client.ts";
import { dataOnNetwork } from "./network-check.ts";
import { readPages } from "./pages.ts";
import { STORES } from "./read-fid.ts";
import { sampleFids } from "./sampled-fids.ts";
import { EVENT_TYPES } from "./stored.ts";
import { sampleOf } from "./verify-sample.ts";

/** What filling an index from the followed node takes, and what that was estimated from. */
export interface UpstreamEstimate extends SizeEstimate {
  readonly sampledFids: number;
  readonly sampledMessages: number;
}

export interface UpstreamEstimateDeps {
  readonly client: UpstreamClient;
  readonly network: FarcasterNetwork;
  /** Cores of the machine that will be filled. */
  readonly cores: number;
  /** The fids that are sampled at most. */
  readonly sampledFids?: number;
  /** No further fid is sampled after so long. One is always. */
  readonly budgetMs?: number;
}

const SAMPLED_FIDS = 200;
/** Fids that are read at a time. */
const CONCURRENCY = 4;
const BUDGET_MS = 60_000;
/** A sample of this size has seen enough, however few fids it is. */
const MAX_MESSAGES = 200_000;
/** Pages of one list of an fid. Storage limits the messages of an fid, but not the pages of a hostile node. */
const MAX_PAGES = 10_000;

/**
 * Estimates from the state of a sample of fids what filling an index with all of them takes.
 *
 * @param followed the fids that will be followed; undefined for all of the followed node.
 * @throws PeerError for a node of another network; the errors of the calls; Error for a list that does not end.
 */
export async function estimateUpstream(
  { client, network, cores, sampledFids = SAMPLED_FIDS, budgetMs = BUDGET_MS }: UpstreamEstimateDeps,
  followed: ReadonlySet<number> | undefined,
): Promise<UpstreamEstimate> {
  const { count, sample } = followed
    ? { count: followed.size, sample: sampleOf([...followed], sampledFids, Math.random) }
    : await sampleFids(client, sampledFids);
  const left = [...sample];
  const counter = new SampleCounter(network);
  const endsAt = performance.now() + budgetMs;
  let sampled = 0;
  const work = async () => {
    for (let fid = left.pop(); fid !== undefined; fid = left.pop()) {
      if (sampled > 0 && (counter.messages >= MAX_MESSAGES || performance.now() > endsAt)) return;
      try {
        await countFid(client, counter, fid, network);
      } catch (cause) {
        left.length = 0;
        throw cause;
      }
      sampled++;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  const rows: NetworkSample = counter.scaled(sampled === 0 ? 0 : count / sampled);
  return {
    ...estimateSize(rows, { cores, from: "upstream" }),
    sampledFids: sampled,
    sampledMessages: counter.messages,
  };
}

async function countFid(
  client: UpstreamClient,
  counter: SampleCounter,
  fid: number,
  network: FarcasterNetwork,
): Promise<void> {
  counter.addFid();
  for (const type of EVENT_TYPES)
    for (const _ of await client.onChainEvents(fid, type)) counter.addOnChainEvent();
  for (const [, methods] of STORES)
    for (const method of methods) {
      let pages = 0;
      for await (const page of readPages((token) => client.messages(method, fid, token))) {
        if (page[0]) dataOnNetwork(page[0], network);
        for (const message of page) counter.addMessage(message);
        if (counter.messages >= 2 * MAX_MESSAGES) return;
        if (++pages >= MAX_PAGES) throw new Error(`the messages of fid ${fid} do not end`);
      }
    }
}
