import type { IndexDatabase } from "../../index/database.ts";
import { statement } from "../../index/statement.ts";

const fidByName = statement<{ fid: number }, [name: string]>(
  "skeleton.users.by-name",
  "SELECT fid FROM username_proofs WHERE name = ? AND fid != 0",
);
const fidByCustody = statement<{ fid: number }, [custody: Uint8Array]>(
  "skeleton.users.by-custody",
  "SELECT fid FROM fids WHERE custody = ? ORDER BY fid LIMIT 1",
);

/** The fid that a live fname, ENS name or basename proof names, by exact match. */
export function fidByUsername(db: IndexDatabase, name: string): number | undefined {
  return db.get(fidByName, name)?.fid;
}

/** The lowest fid in the custody of an address now. */
export function fidByCustodyAddress(db: IndexDatabase, address: `0x${string}`): number | undefined {
  return db.get(fidByCustody, Buffer.from(address.slice(2), "hex"))?.fid;
}
