/** 2021-01-01T00:00:00Z in unix seconds: time 0 of `MessageData.timestamp`. */
export const FARCASTER_EPOCH_UNIX_SECS = 1_609_459_200;

/** Converts `MessageData.timestamp` to unix seconds. */
export function toUnixSecs(farcasterSecs: number): number {
  return farcasterSecs + FARCASTER_EPOCH_UNIX_SECS;
}

/** Converts unix seconds to `MessageData.timestamp`; negative before the epoch. */
export function toFarcasterSecs(unixSecs: number): number {
  return unixSecs - FARCASTER_EPOCH_UNIX_SECS;
}
