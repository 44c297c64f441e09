import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";

/** The most owners returned for one list of addresses: one user can verify an address for many fids. */
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

/** An address of a list and its owners, the lowest fid first. */
export interface AddressOwners {
  readonly address: string;
  readonly fids: readonly number[];
}

/** An address in its display form, and its bytes in hex. */
export interface KnownAddress {
  readonly shown: string;
  readonly hex: string;
}

/** Returns the users that verified each address or have it in custody now. Addresses without an owner are omitted. */
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
