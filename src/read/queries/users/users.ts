import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { UserDataType, type UserNameType } from "../../../protocol/wire/generated/message.ts";
import { type CursorCodec, cursorCodec, pagedList } from "../../cursor.ts";

/** Maximum number of users returned for one list of addresses, because one user can verify an address for many fids. */
const MAX_USERS_OF_ADDRESSES = 1000;

interface LocatedUser {
  readonly fid: number;
  /** The location as declared. */
  readonly value: string;
}

const fidByName = statement<{ fid: number }, [name: string]>(
  "skeleton.users.by-name",
  "SELECT fid FROM username_proofs WHERE name = ? AND fid != 0",
);
const fidByCustody = statement<{ fid: number }, [custody: Uint8Array]>(
  "skeleton.users.by-custody",
  "SELECT fid FROM fids WHERE custody = ? ORDER BY fid LIMIT 1",
);
// `type IN (7, 8) AND value != ''` repeats the condition of the partial index, which SQLite requires to use it.
const fidByXName = statement<{ fid: number }, [name: string]>(
  "skeleton.users.by-x-name",
  `SELECT fid FROM user_data
   WHERE type IN (7, 8) AND value != '' AND type = ${UserDataType.USER_DATA_TYPE_TWITTER} AND value = ? COLLATE NOCASE
   ORDER BY fid LIMIT 1`,
);
// Two statements, because a row-value comparison under a collation does not seek in the index.
const fidsAtLocation = statement<LocatedUser, [value: string, fid: number, limit: number]>(
  "skeleton.users.at-location",
  `SELECT fid, value FROM user_data
   WHERE type IN (7, 8) AND value != '' AND type = ${UserDataType.USER_DATA_TYPE_LOCATION} AND value = ? COLLATE NOCASE AND fid > ?
   ORDER BY fid LIMIT ?`,
);
const fidsBeyondLocation = statement<LocatedUser, [value: string, below: string, limit: number]>(
  "skeleton.users.beyond-location",
  `SELECT fid, value FROM user_data
   WHERE type IN (7, 8) AND value != '' AND type = ${UserDataType.USER_DATA_TYPE_LOCATION}
     AND value COLLATE NOCASE > ? AND value COLLATE NOCASE < ?
   ORDER BY value COLLATE NOCASE, fid LIMIT ?`,
);
const fidsByAddress = statement<{ fid: number }, [addressesJson: string]>(
  "skeleton.users.by-verified-address",
  `SELECT v.fid FROM json_each(?) j CROSS JOIN verifications v ON v.address = unhex(j.value)
   WHERE v.protocol = 0 ORDER BY j.key, v.fid LIMIT ${MAX_USERS_OF_ADDRESSES}`,
);
const xNames = statement<{ fid: number }, [name: string, limit: number]>(
  "skeleton.users.all-by-x-name",
  `SELECT fid FROM user_data
   WHERE type IN (7, 8) AND value != '' AND type = ${UserDataType.USER_DATA_TYPE_TWITTER} AND value = ? COLLATE NOCASE
   ORDER BY fid LIMIT ?`,
);
const fidsFrom = statement<{ fid: number }, [after: number, limit: number]>(
  "skeleton.users.all",
  "SELECT fid FROM fids WHERE fid > ? ORDER BY fid LIMIT ?",
);

/** Returns the fid that owns a name by its live fname, ENS name or basename proof. The match is exact. */
export function fidByUsername(db: IndexDatabase, name: string): number | undefined {
  return db.get(fidByName, name)?.fid;
}

/** Returns the lowest fid whose current custody address this is. */
export function fidByCustodyAddress(db: IndexDatabase, address: `0x${string}`): number | undefined {
  return db.get(fidByCustody, Buffer.from(address.slice(2), "hex"))?.fid;
}

/** Returns the lowest fid that declares a username on X. The match ignores case. */
export function fidByXUsername(db: IndexDatabase, name: string): number | undefined {
  return db.get(fidByXName, name)?.fid;
}

/** Returns the fids that declare a username on X, lowest first. The match ignores case. */
export function fidsByXUsername(db: IndexDatabase, name: string, limit: number): number[] {
  return db.all(xNames, name, limit).map(({ fid }) => fid);
}

/** Returns the distinct fids that verified one of the Ethereum addresses, in the order of addresses, then by fid. */
export function fidsByVerifiedAddress(db: IndexDatabase, addresses: readonly `0x${string}`[]): number[] {
  const json = JSON.stringify(addresses.map((address) => address.slice(2)));
  return [...new Set(db.all(fidsByAddress, json).map(({ fid }) => fid))];
}

/** Returns the exclusive end of the range of texts that start with `prefix`. */
export function prefixEnd(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}

/** Lists the users whose declared location starts with a text, by location, then by fid. */
export const usersByLocation = pagedList(
  cursorCodec("user/by_location", ["text", "int"]),
  (db, { prefix }: { readonly prefix: string }, { limit, after = [prefix, 0] }) => {
    const [location, fid] = after;
    // This cursor is from a search for another location and has no further rows here.
    if (!location.toLowerCase().startsWith(prefix.toLowerCase())) return [];
    const rows = db.all(fidsAtLocation, location, fid, limit);
    const missing = limit - rows.length;
    if (missing > 0) rows.push(...db.all(fidsBeyondLocation, location, prefixEnd(prefix), missing));
    return rows;
  },
  ({ value, fid }) => [value, fid],
);

const fidsCursor = cursorCodec("user/fid", ["int"]);

/** Cursors of `allFids`, which the interface defines as hexadecimal. */
const hexFidsCursor: CursorCodec<readonly ["int"]> = {
  encode: (key) => Buffer.from(fidsCursor.encode(key), "base64url").toString("hex"),
  decode(cursor) {
    if (!/^(?:[0-9a-f]{2})+$/.test(cursor)) return undefined;
    return fidsCursor.decode(Buffer.from(cursor, "hex").toString("base64url"));
  },
};

/** Lists all fids that exist, ascending. */
export const allFids = pagedList(
  hexFidsCursor,
  (db, _: object, { limit, after = [0] }) => db.all(fidsFrom, ...after, limit),
  ({ fid }) => [fid],
);

/** The live proof of a name. `timestamp` is in Unix seconds. */
export interface UsernameProofState {
  readonly name: string;
  readonly type: UserNameType;
  readonly fid: number;
  readonly owner: Uint8Array;
  readonly signature: Uint8Array;
  readonly timestamp: number;
}

const proofOf = statement<UsernameProofState, [name: string]>(
  "skeleton.username-proof",
  "SELECT name, type, fid, owner, signature, timestamp FROM username_proofs WHERE name = ? AND fid != 0",
);

/** Returns the live proof of a name, by exact match; undefined if there is none or the name was released. */
export function usernameProof(db: IndexDatabase, name: string): UsernameProofState | undefined {
  return db.get(proofOf, name);
}

const { USER_DATA_TYPE_DISPLAY: DISPLAY, USER_DATA_TYPE_USERNAME: USERNAME } = UserDataType;

const names = statement<{ type: number; value: string }, [fid: number]>(
  "skeleton.users.names",
  `SELECT type, value FROM user_data WHERE fid = ? AND type IN (${DISPLAY}, ${USERNAME})`,
);

/** The names that a user claims; empty where they claim none. */
export interface UserNames {
  readonly username: string;
  readonly displayName: string;
}

export function userNames(db: IndexDatabase, fid: number): UserNames {
  const rows = db.all(names, fid);
  const named = (type: number) => rows.find((row) => row.type === type)?.value ?? "";
  return { username: named(USERNAME), displayName: named(DISPLAY) };
}
