import { type NetworkSample, SampleCounter } from "../db/index/size-estimate.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import type { UpstreamClient } from "./client.ts";
import { readPages } from "./pages.ts";
import { EVENT_TYPES, STORES } from "./read-fid.ts";

export interface UpstreamEstimate {
  readonly network: NetworkSample;
  readonly sampledFids: number;
  readonly sampledMessages: number;
}

/** A sample of this size has seen enough, however few fids it is. */
const MAX_MESSAGES = 200_000;

/**
 * Estimates the rows of the followed fids from the state of a sample of them.
 *
 * @param followed the number of followed fids.
 * @param sample random fids of them.
 * @throws the errors of the calls; Error for bytes that are not a message.
 */
export async function estimateUpstream(
  client: UpstreamClient,
  network: FarcasterNetwork,
  followed: number,
  sample: readonly number[],
): Promise<UpstreamEstimate> {
  const counter = new SampleCounter(network);
  let sampledFids = 0;
  for (const fid of sample) {
    if (counter.messages >= MAX_MESSAGES) break;
    await countFid(client, counter, fid);
    sampledFids++;
  }
  const factor = sampledFids === 0 ? 0 : followed / sampledFids;
  return { network: counter.scaled(factor), sampledFids, sampledMessages: counter.messages };
}

async function countFid(client: UpstreamClient, counter: SampleCounter, fid: number): Promise<void> {
  counter.addFid();
  for (const type of EVENT_TYPES)
    for (const _ of await client.onChainEvents(fid, type)) counter.addOnChainEvent();
  for (const [, methods] of STORES)
    for (const method of methods)
      for await (const page of readPages((token) => client.messages(method, fid, token)))
        for (const message of page) counter.addMessage(message);
}
