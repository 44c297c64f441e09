/**
 * Returns why the custody addresses and keys in the index may be out of date, as text for clients; undefined while
 * they are current. They are always current in a node that fills its index itself.
 */
export type StaleReason = () => Promise<string | undefined>;

export const neverStale: StaleReason = async () => undefined;
