import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { canonicalKey } from "../../../protocol/auth-address.ts";
import { SignerEventType } from "../../../protocol/wire/generated/on-chain.ts";

/** Maximum number of owners returned for one list of addresses, because one user can verify an address for many fids. */
const MAX_OWNERS = 1000;

interface OwnerRow {
  /** Index of the address in the list. */
  at: number;
  fid: number;
}

const owners = statement<OwnerRow, [addressesJson: string, withVerified: number, withCustody: number]>(
  "skeleton.address-owners",
  `SELECT j.key AS at, v.fid FROM json_each(?1) j CROSS JOIN verifications v ON v.address = unhex(j.value)
   WHERE ?2 = 1
   UNION
   SELECT j.key, f.fid FROM json_each(?1) j CROSS JOIN fids f ON f.custody = unhex(j.value)
   WHERE ?3 = 1
   ORDER BY 1, 2 LIMIT ${MAX_OWNERS}`,
);

/** An address of a list with its owners, lowest fid first. */
export interface AddressOwners {
  readonly address: string;
  readonly fids: readonly number[];
}

/** An address in its display form, and its bytes in hex. */
export interface KnownAddress {
  readonly shown: string;
  readonly hex: string;
}

/** Returns the users that have verified each address or have it in custody now. Addresses without an owner are omitted. */
export function addressOwners(
  db: IndexDatabase,
  query: { addresses: readonly KnownAddress[]; verified: boolean; custody: boolean },
): AddressOwners[] {
  const { addresses, verified, custody } = query;
  const json = JSON.stringify(addresses.map(({ hex }) => hex));
  const found = Map.groupBy(db.all(owners, json, verified ? 1 : 0, custody ? 1 : 0), ({ at }) => at);
  return addresses.flatMap(({ shown }, at) => {
    const fids = found.get(at)?.map(({ fid }) => fid);
    return fids ? [{ address: shown, fids }] : [];
  });
}

const onChainOwner = statement<{ fid: number; isActive: number }, [key: Uint8Array]>(
  "skeleton.on-chain-key-owner",
  `SELECT fid, state = ${SignerEventType.SIGNER_EVENT_TYPE_ADD} AS isActive FROM signers WHERE key = ?
   ORDER BY isActive DESC, added_at DESC, fid LIMIT 1`,
);
const gaslessOwner = statement<{ fid: number; isActive: number }, [key: Uint8Array, nowSecs: number]>(
  "skeleton.gasless-key-owner",
  "SELECT fid, last_used_at + ttl_secs >= ?2 AS isActive FROM gasless_keys WHERE key = ?1",
);
const authAddress = statement<{ fid: number; isActive: number }, [key: Uint8Array]>(
  "skeleton.auth-address-owner",
  `SELECT fid, key_type = 2 AND state = ${SignerEventType.SIGNER_EVENT_TYPE_ADD} AS isActive FROM signers WHERE key = ?
   ORDER BY isActive DESC, added_at DESC, fid LIMIT 1`,
);

/**
 * Returns the fid that has an Ethereum address of 20 bytes as an auth address, otherwise the last fid that had it, otherwise
 * undefined.
 */
export function authAddressOwner(
  db: IndexDatabase,
  address: Uint8Array,
): { readonly fid: number; readonly isActive: boolean } | undefined {
  const row = db.get(authAddress, canonicalKey(address));
  return row && { fid: row.fid, isActive: row.isActive === 1 };
}

/**
 * Returns the fid that has a key now, on-chain or gasless, otherwise the last known fid that had it, otherwise undefined.
 * The index has no record of a removed gasless key.
 */
export function keyOwner(
  db: IndexDatabase,
  key: Uint8Array,
  nowSecs: number,
): { readonly fid: number; readonly isActive: boolean } | undefined {
  const onChain = db.get(onChainOwner, key);
  const gasless = onChain?.isActive === 1 ? undefined : db.get(gaslessOwner, key, nowSecs);
  const row = gasless?.isActive === 1 ? gasless : (onChain ?? gasless);
  return row && { fid: row.fid, isActive: row.isActive === 1 };
}
