export const replayScopes = ["failed", "missing", "all"] as const;
/** `failed`: failed and dropped deliveries. `missing`: also events without a delivery. `all`: also successful deliveries. */
export type ReplayScope = (typeof replayScopes)[number];
