/** 2021-01-01T00:00:00Z in Unix seconds: time 0 of `MessageData.timestamp`. */
export const FARCASTER_EPOCH_UNIX_SECS = 1_609_459_200;

/** Converts `MessageData.timestamp` to Unix seconds. */
export function toUnixSecs(farcasterSecs: number): number {
  return farcasterSecs + FARCASTER_EPOCH_UNIX_SECS;
}

/** Converts Unix seconds to `MessageData.timestamp`; negative before the epoch. */
export function toFarcasterSecs(unixSecs: number): number {
  return unixSecs - FARCASTER_EPOCH_UNIX_SECS;
}
