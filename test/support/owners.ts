import type { CustodyOf } from "../../src/auth/owners/custody.ts";
import type { Owners } from "../../src/auth/owners/owners.ts";

/** Owners as a test names them, without an index or other nodes. */
export function ownersBy(custodyOf: CustodyOf): Owners {
  return {
    inIndex: custodyOf,
    newest: async (fid) => custodyOf(fid),
    custodyOf,
    async isOwner(fid, custody) {
      const current = custodyOf(fid);
      return current && Buffer.compare(current, custody) === 0;
    },
    recordAct: async () => true,
    hasKey: () => true,
  };
}
