import { custodyFromIndex } from "../auth/owners/custody.ts";
import type { Owners } from "../auth/owners/owners.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";
import { canonicalKey } from "../protocol/auth-address.ts";
import type { AuthMethod } from "./tokens/token.ts";

/** Who may sign in as which fid, according to this node. Every way of signing in uses this. Addresses have 20 bytes. */
export type People = ReturnType<typeof peopleFromIndex>;

/** Type 2 is an address, state 1 is active. They are literals because the partial index requires the same text. */
const authAddress = statement<{ one: number }, [fid: number, key: Uint8Array]>(
  "sign-in.auth-address",
  "SELECT 1 AS one FROM signers WHERE fid = ? AND key = ? AND key_type = 2 AND state = 1",
);
const anyAuthAddress = statement<{ one: number }, [key: Uint8Array]>(
  "sign-in.any-auth-address",
  "SELECT 1 AS one FROM signers WHERE key = ? AND key_type = 2 AND state = 1 LIMIT 1",
);
const anyCustody = statement<{ one: number }, [custody: Uint8Array]>(
  "sign-in.any-custody",
  "SELECT 1 AS one FROM fids WHERE custody = ? LIMIT 1",
);

const fidsByCustody = statement<{ fid: number }, [custody: Uint8Array]>(
  "sign-in.fids-by-custody",
  "SELECT fid FROM fids WHERE custody = ? ORDER BY fid LIMIT 20",
);
const fidsByAuthAddress = statement<{ fid: number }, [key: Uint8Array]>(
  "sign-in.fids-by-auth-address",
  "SELECT fid FROM signers WHERE key = ? AND key_type = 2 AND state = 1 LIMIT 20",
);
const verified = statement<{ one: number }, [fid: number, address: Uint8Array]>(
  "sign-in.verified-address",
  "SELECT 1 AS one FROM verifications WHERE address = ?2 AND fid = ?1 AND protocol = 0 LIMIT 1",
);

/** Returns a function that reports whether a current verification of an fid names an Ethereum address. */
export function hasVerifiedFromIndex(db: IndexDatabase): (fid: number, address: Uint8Array) => boolean {
  return (fid, address) => db.get(verified, fid, address) !== undefined;
}

/** @param followed the fids that the node follows. Undefined for all. */
export function peopleFromIndex(
  db: IndexDatabase,
  { owners, followed }: { readonly owners: Owners; readonly followed: ReadonlySet<number> | undefined },
) {
  const custodyOf = custodyFromIndex(db);
  const isAuthAddress = (fid: number, address: Uint8Array) =>
    db.get(authAddress, fid, canonicalKey(address)) !== undefined;
  return {
    /** Returns the custody address from the index; undefined for an unregistered fid. */
    custodyOf,
    /**
     * Reports whether an address is the custody or an auth address of the fid in the index. Use it only to decide whether to check
     * further.
     */
    mayBe: (fid: number, address: Uint8Array, acceptsAuthAddress: boolean): boolean =>
      (acceptsAuthAddress && isAuthAddress(fid, address)) || isSame(custodyOf(fid), address),
    /** Reports whether an address is the custody or an auth address of any fid. */
    isKnown: (address: Uint8Array): boolean =>
      db.get(anyCustody, address) !== undefined ||
      db.get(anyAuthAddress, canonicalKey(address)) !== undefined,
    /**
     * Returns the fids that an address may sign in as according to the index, at most 20 of each kind. Not sufficient to authorize a
     * sign-in.
     */
    fidsOf(address: Uint8Array): readonly { readonly fid: number; readonly authMethod: AuthMethod }[] {
      const owned = db
        .all(fidsByCustody, address)
        .map(({ fid }) => ({ fid, authMethod: "custody" as const }));
      const known = new Set(owned.map(({ fid }) => fid));
      const keyed = db
        .all(fidsByAuthAddress, canonicalKey(address))
        .filter(({ fid }) => !known.has(fid))
        .map(({ fid }) => ({ fid, authMethod: "authAddress" as const }));
      return [...owned, ...keyed];
    },
    /** Reports whether this node follows an fid. */
    isFollowed: (fid: number): boolean => followed?.has(fid) ?? true,
    /**
     * Returns how an address may sign in as an fid; undefined if it may not.
     *
     * @throws UnconfirmedError while a second node has not confirmed it.
     */
    async methodOf(
      fid: number,
      address: Uint8Array,
      acceptsAuthAddress: boolean,
    ): Promise<AuthMethod | undefined> {
      const isKey = acceptsAuthAddress && isAuthAddress(fid, address);
      if (isKey && (await owners.hasKey(fid, address))) return "authAddress";
      return isSame(await owners.custodyOf(fid, address), address) ? "custody" : undefined;
    },
  };
}

function isSame(custody: Uint8Array | undefined, address: Uint8Array): boolean {
  return custody !== undefined && Buffer.compare(custody, address) === 0;
}
