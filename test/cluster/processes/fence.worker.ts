import { NodeSignals } from "../../../src/cluster/node-signals.ts";

declare const self: Worker;

let signals: NodeSignals | undefined;

/** Responds to the shared memory with whether the node is fenced. */
self.onmessage = ({ data }: MessageEvent<SharedArrayBuffer>) => {
  signals ??= new NodeSignals(data);
  self.postMessage(signals.isFenced());
};
