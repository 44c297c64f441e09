import type { IndexDatabase } from "../../index/database.ts";
import { statement } from "../../index/statement.ts";
import { SignerEventType } from "../../protocol/wire/generated/on-chain.ts";

const ownerOf = statement<{ fid: number; isActive: number }, [key: Uint8Array]>(
  "skeleton.key-owner",
  `SELECT fid, state = ${SignerEventType.SIGNER_EVENT_TYPE_ADD} AS isActive FROM signers WHERE key = ?
   ORDER BY isActive DESC, added_at DESC, fid LIMIT 1`,
);

/** The fid that has an on-chain key now, else the last that had it; undefined where none ever did. */
export function keyOwner(
  db: IndexDatabase,
  key: Uint8Array,
): { readonly fid: number; readonly isActive: boolean } | undefined {
  const row = db.get(ownerOf, key);
  return row && { fid: row.fid, isActive: row.isActive === 1 };
}
