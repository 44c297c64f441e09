/** The types of notifications that a user can mark as seen, as the compat dialect names them. */
export const SEEN_TYPES = ["follows", "recasts", "likes", "mentions", "replies", "quotes"] as const;
export type SeenType = (typeof SEEN_TYPES)[number];

/** Until when a user has seen the notifications of each type, unix seconds. A type without an entry was never marked. */
export type SeenTimes = Readonly<Partial<Record<SeenType, number>>>;

/** Which notifications the users of an owner's app have seen. Each owner has marks of its own. */
export interface SeenStore {
  find(ownerFid: number, fid: number): Promise<SeenTimes>;
  /** Marks types as seen until a time. An earlier time than the stored one changes nothing. */
  mark(ownerFid: number, fid: number, types: readonly SeenType[], seenAtSecs: number): Promise<void>;
}

/** How long a mark stays without being moved. */
export const SEEN_RETENTION_SECS = 400 * 86_400;
