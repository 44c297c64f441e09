export const replayScopes = ["failed", "missing", "all"] as const;
/** `failed`: what failed or was dropped. `missing`: that, and events without a delivery. `all`: that, and what was delivered. */
export type ReplayScope = (typeof replayScopes)[number];
