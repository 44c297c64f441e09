import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { UserNameType } from "../../../protocol/wire/generated/message.ts";

/** The live proof of a name. `timestamp`: unix seconds. */
export interface UsernameProofState {
  readonly name: string;
  readonly type: UserNameType;
  readonly fid: number;
  readonly owner: Uint8Array;
  readonly signature: Uint8Array;
  readonly timestamp: number;
}

const proofOf = statement<UsernameProofState, [name: string]>(
  "skeleton.username-proof",
  "SELECT name, type, fid, owner, signature, timestamp FROM username_proofs WHERE name = ? AND fid != 0",
);

/** The live proof of a name, by exact match; undefined where there is none or the name was released. */
export function usernameProof(db: IndexDatabase, name: string): UsernameProofState | undefined {
  return db.get(proofOf, name);
}
