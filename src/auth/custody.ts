import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";

/** The 20-byte custody address of an fid as of now; undefined for an fid that nobody registered. */
export type CustodyOf = (fid: number) => Uint8Array | undefined;

const custody = statement<{ custody: Uint8Array | null }, [fid: number]>(
  "auth.custody",
  "SELECT custody FROM fids WHERE fid = ?",
);

/** Asks the index at every call: an address is worth nothing from the moment that its fid was transferred. */
export function custodyFromIndex(db: IndexDatabase): CustodyOf {
  return (fid) => db.get(custody, fid)?.custody ?? undefined;
}
