/**
 * A process of the service, as the state knows it. Made at the start of the process and given to every thread, because what
 * the process has taken (claims of deliveries, campaigns) is stored under its boot.
 */
export interface StateNode {
  /** Names the node over restarts. */
  readonly nodeId: string;
  /** UUID of this start of the node. */
  readonly bootId: string;
  /** From 0 to 63; no other live node has it. Counters have a row for each slot. */
  readonly slot: number;
}

/** Returns a new boot of the only node of a state. */
export function startSingleNode(nodeId = "single"): StateNode {
  return { nodeId, bootId: crypto.randomUUID(), slot: 0 };
}
