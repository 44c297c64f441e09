import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";

/** Returns the current 20-byte custody address of an fid; undefined for an unregistered fid. */
export type CustodyOf = (fid: number) => Uint8Array | undefined;

const custody = statement<{ custody: Uint8Array | null }, [fid: number]>(
  "auth.custody",
  "SELECT custody FROM fids WHERE fid = ?",
);

/** Reads the index at every call, because an address becomes invalid as soon as its fid is transferred. */
export function custodyFromIndex(db: IndexDatabase): CustodyOf {
  return (fid) => db.get(custody, fid)?.custody ?? undefined;
}

/**
 * Returns why the custody addresses and keys in the index may be out of date, as text for clients; undefined while they are current. A
 * node that fills its index itself is always current.
 */
export type StaleReason = () => Promise<string | undefined>;

export const neverStale: StaleReason = async () => undefined;
