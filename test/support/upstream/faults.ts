/** A fault of one call: it fails, it is not served, it waits for a release, or it returns an empty list of fids. */
export type CallFault = "fail" | "unserved" | "hold" | "empty";

/** A fault of one live event of a stream. `reset`: the stream ends without a gRPC status. */
export type DeliveryFault = "skip" | "twice" | "cut" | "end" | "reset" | "stall";

/** Called by the server for each call and each live event. Returns its fault, if any. */
export interface Faults {
  onCall(method: string, request: unknown): CallFault | undefined;
  onDelivery(shard: number): DeliveryFault | undefined;
}

export const NO_FAULTS: Faults = { onCall: () => undefined, onDelivery: () => undefined };
