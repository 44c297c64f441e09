import type { CustodyOf } from "../auth/custody.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";
import { canonicalKey } from "../protocol/auth-address.ts";
import type { AuthMethod } from "./token.ts";

/** Who may sign in as whom, as this node knows it. All ways of sign-in ask here. Addresses have 20 bytes. */
export interface People {
  /** The custody address; undefined for an unregistered fid. */
  readonly custodyOf: CustodyOf;
  /** Whether an address is an active on-chain key of type 2 of the fid. */
  isAuthAddress(fid: number, address: Uint8Array): boolean;
  /** Whether an address is the custody or an auth address of any fid. */
  isKnown(address: Uint8Array): boolean;
  /** Whether this node follows an fid. */
  isFollowed(fid: number): boolean;
  /** How an address may sign in as an fid; undefined if it may not. */
  methodOf(fid: number, address: Uint8Array, acceptsAuthAddress: boolean): AuthMethod | undefined;
}

/** Type 2 is an address, state 1 is active; the texts are those of the partial index. */
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

/** @param followed the fids that the node follows; undefined for all. */
export function peopleFromIndex(
  db: IndexDatabase,
  {
    custodyOf,
    followed,
  }: { readonly custodyOf: CustodyOf; readonly followed: ReadonlySet<number> | undefined },
): People {
  const isAuthAddress = (fid: number, address: Uint8Array) =>
    db.get(authAddress, fid, canonicalKey(address)) !== undefined;
  return {
    custodyOf,
    isAuthAddress,
    isKnown: (address) =>
      db.get(anyCustody, address) !== undefined ||
      db.get(anyAuthAddress, canonicalKey(address)) !== undefined,
    isFollowed: (fid) => followed?.has(fid) ?? true,
    methodOf(fid, address, acceptsAuthAddress) {
      if (acceptsAuthAddress && isAuthAddress(fid, address)) return "authAddress";
      const custody = custodyOf(fid);
      return custody && Buffer.compare(custody, address) === 0 ? "custody" : undefined;
    },
  };
}
