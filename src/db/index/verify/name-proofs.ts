import { nameServerOf, validateLiveProof } from "../../../protocol/validate/username-proof.ts";
import type { UserNameProof } from "../../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../database.ts";
import { isFollowing, networkOfIndex } from "../identity.ts";
import type { Difference } from "./compare-tables.ts";

export interface VerifyOptions {
  /** The address that signs the fnames of the index, by default the one of its network. */
  readonly nameServer?: Uint8Array;
}

type ProofRow = Omit<UserNameProof, "name"> & { readonly name: string };

/**
 * Copies the proofs of the attached index (`live`) that no message contains, in the order of the table, and checks each.
 * Only what came from an upstream must be signed by the name server: a node takes the fnames of its operator unsigned.
 */
export function copyNameProofs(
  scratch: IndexDatabase,
  live: IndexDatabase,
  options: VerifyOptions,
): Difference {
  scratch.sqlite.exec(
    `INSERT INTO main.username_proofs (name, type, fid, owner, signature, timestamp)
     SELECT name, type, fid, owner, signature, timestamp FROM live.username_proofs WHERE message_hash IS NULL`,
  );
  const nameServer = isFollowing(live)
    ? (options.nameServer ?? nameServerOf(networkOfIndex(live)))
    : undefined;
  const rows = scratch.sqlite.prepare<ProofRow, []>(
    "SELECT name, type, fid, owner, signature, timestamp FROM main.username_proofs NOT INDEXED",
  );
  let invalid = 0;
  for (const row of rows.iterate()) if (!isValid(row, nameServer)) invalid++;
  return { table: "username_proofs", missing: 0, extra: invalid };
}

function isValid(row: ProofRow, nameServer: Uint8Array | undefined): boolean {
  return validateLiveProof({ ...row, name: Buffer.from(row.name) }, nameServer) === undefined;
}
