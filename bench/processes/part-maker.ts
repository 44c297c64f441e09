/**
 * A worker that makes virtual shards of a network, so that the process that serves them is free meanwhile. Its first message
 * contains the network's size; each further message is the number of a virtual shard, to which it replies with its part.
 */
import { MadeNetwork } from "../backfill-set.ts";
import { makePart } from "../made-part.ts";

declare const self: Worker;

let network: MadeNetwork | undefined;
let names = true;

self.onmessage = ({ data }: MessageEvent<{ messages: number; endSecs: number; names: boolean } | number>) => {
  if (typeof data !== "number") {
    network = new MadeNetwork(data.messages, data);
    names = data.names;
  } else if (network) self.postMessage({ virtualShard: data, part: makePart(network, data, { names }) });
};
