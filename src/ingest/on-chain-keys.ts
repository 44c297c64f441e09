import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";
import { KEY_TYPE_ED25519 } from "../protocol/validate/gasless-key.ts";
import { SignerEventType } from "../protocol/wire/generated/on-chain.ts";

const signerOf = statement<
  { state: number; keyType: number; addedAt: number },
  [fid: number, key: Uint8Array]
>(
  "on-chain-keys.signer-of",
  "SELECT state, key_type AS keyType, added_at AS addedAt FROM signers WHERE fid = ? AND key = ?",
);

/**
 * Whether an on-chain key may sign messages of `fid`: its latest event is an add. After an admin reset the reference
 * node finds the key's add again, so the key is active as before. A removed key is not active.
 */
export function isActiveOnChainKey(db: IndexDatabase, fid: number, key: Uint8Array): boolean {
  const signer = db.get(signerOf, fid, key);
  if (!signer || signer.keyType !== KEY_TYPE_ED25519) return false;
  if (signer.state === SignerEventType.SIGNER_EVENT_TYPE_ADD) return true;
  return signer.state === SignerEventType.SIGNER_EVENT_TYPE_ADMIN_RESET && signer.addedAt > 0;
}
