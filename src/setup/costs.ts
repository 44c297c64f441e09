import figures from "../protocol/network-figures.json" with { type: "json" };

const { network, followedNode, filling } = figures;
const GB = 1e9;
/** The machine of the documents: two cores that do nothing else. */
const CORES = 2;
const HALF_HOURS = 2;

/** What an index takes that is filled from a followed node, from figures measured by `bun run bench` (network-figures.json). */
export interface Cost {
  readonly bytes: number;
  readonly bytesWhileFilling: number;
  /** On two free cores, of a followed node that answers at once. */
  readonly seconds: number;
}

export function costOf({ messages, fids }: { readonly messages: number; readonly fids: number }): Cost {
  const bytes = messages * filling.bytesPerMessage;
  return {
    bytes,
    bytesWhileFilling: bytes * filling.spaceShare,
    seconds: (messages * filling.messageMicros + fids * filling.fidMicros) / 1e6 / CORES,
  };
}

/** What a node that serves the whole network takes, as the end of a sentence. */
export function wholeNetworkText(): string {
  const { bytes, bytesWhileFilling, seconds } = costOf(network);
  const hours = Math.round((seconds / 3600) * HALF_HOURS) / HALF_HOURS;
  return (
    `about ${Math.round(network.messages / 1e6)} million messages (${network.asOf}), an index of ${Math.round(bytes / GB)} GB, ` +
    `${Math.round(bytesWhileFilling / GB)} GB while it is filled, ${hours} h of two free cores`
  );
}

/** What a part of the network takes instead, as a sentence. */
export function partText(): string {
  const [app] = figures.scopes;
  if (!app) throw new Error("there are no scopes");
  const { bytes, seconds } = costOf(app);
  const messages = app.messages.toLocaleString("en");
  return `${app.fids.toLocaleString("en")} fids with ${messages} messages take ${(bytes / GB).toFixed(1)} GB and ${Math.round(seconds)} s`;
}

/** What the node to follow takes, as the end of a sentence. */
export function followedNodeText(): string {
  const { memoryGb, cores, diskTb, sources, asOf } = followedNode;
  return (
    `a machine of ${memoryGb} GB of memory, ${cores} cores and ${diskTb.join(" to ")} TB of disk ` +
    `(${sources.map(({ name }) => name).join(" and ")}, ${asOf})`
  );
}
