/**
 * Why what the index says of custody addresses and keys may be out of date, for people; undefined while it is not. A node
 * that fills its index itself is always up to date.
 */
export type StaleReason = () => Promise<string | undefined>;

export const neverStale: StaleReason = async () => undefined;
