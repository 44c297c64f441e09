import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";

/** Channels by their owners. */

/** A registered channel with its owner's address. */
export interface OwnedChannel {
  readonly channelId: Uint8Array;
  readonly key: string;
  readonly ownerAddress: Uint8Array;
  /** Unix seconds. */
  readonly expiry: number;
}

const columns = "c.channel_id AS channelId, c.key, c.owner_address AS ownerAddress, c.expiry";
const ownedAfter = statement<OwnedChannel, [fid: number, address: Uint8Array, key: string, limit: number]>(
  "channels-by-owner.fid",
  `SELECT ${columns}
   FROM owner_claims o CROSS JOIN channels c ON c.owner_address = o.address
   WHERE o.fid = ?1 AND o.is_add = 1 AND (c.owner_address, c.key) > (?2, ?3) AND o.address >= ?2
     AND ?1 = (SELECT n.fid FROM owner_claims n WHERE n.address = o.address AND n.is_add = 1
       ORDER BY n.timestamp DESC, n.hash DESC, n.fid LIMIT 1)
   ORDER BY o.address, c.key LIMIT ?4`,
);
const byAddress = statement<OwnedChannel, [address: Uint8Array, key: string, limit: number]>(
  "channels-by-owner.address",
  `SELECT ${columns} FROM channels c WHERE c.owner_address = ? AND c.key > ? ORDER BY c.key LIMIT ?`,
);
const byAddressReversed = statement<OwnedChannel, [address: Uint8Array, key: string, limit: number]>(
  "channels-by-owner.address-reversed",
  `SELECT ${columns} FROM channels c WHERE c.owner_address = ? AND c.key < ? ORDER BY c.key DESC LIMIT ?`,
);
const firstOfAddress = statement<OwnedChannel, [address: Uint8Array, limit: number]>(
  "channels-by-owner.address-from-end",
  `SELECT ${columns} FROM channels c WHERE c.owner_address = ? ORDER BY c.key DESC LIMIT ?`,
);
const keyOf = statement<{ key: string }, [channelId: Uint8Array]>(
  "channels-by-owner.key-of",
  "SELECT key FROM channels WHERE channel_id = ?",
);

/** Position of a channel in a list. It uses ids because keys may be too long for cursors. */
export interface OwnedPlace {
  readonly address: Uint8Array;
  readonly channelId: Uint8Array;
}

/** Returns the channels that an fid owns, by the owner's address, then by key. */
export function ownedChannels(
  db: IndexDatabase,
  fid: number,
  { address, channelId }: OwnedPlace,
  limit: number,
): OwnedChannel[] {
  return db.all(ownedAfter, fid, address, db.get(keyOf, channelId)?.key ?? "", limit);
}

/** Returns the channels of an address, by key. */
export function channelsOfAddress(
  db: IndexDatabase,
  address: Uint8Array,
  page: { readonly after: Uint8Array | undefined; readonly limit: number; readonly reverse: boolean },
): OwnedChannel[] {
  const { after, limit, reverse } = page;
  const key = after && db.get(keyOf, after)?.key;
  if (!reverse) return db.all(byAddress, address, key ?? "", limit);
  return key === undefined
    ? db.all(firstOfAddress, address, limit)
    : db.all(byAddressReversed, address, key, limit);
}
