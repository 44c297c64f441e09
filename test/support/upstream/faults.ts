/** What goes wrong with one call: it fails, it waits for a release, or, of a list of fids, that is said to be empty. */
export type CallFault = "fail" | "hold" | "empty";

/** What goes wrong with one live event of a stream. */
export type DeliveryFault = "skip" | "twice" | "cut" | "end" | "stall";

/** Asked by the server at each call and each live event whether something goes wrong with it. */
export interface Faults {
  onCall(method: string, request: unknown): CallFault | undefined;
  onDelivery(shard: number): DeliveryFault | undefined;
}

export const NO_FAULTS: Faults = { onCall: () => undefined, onDelivery: () => undefined };
