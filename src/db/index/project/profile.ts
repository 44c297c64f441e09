import { toUnixSecs } from "../../../protocol/time.ts";
import {
  type MessageData,
  type UserNameProof,
  UserNameType,
  type VerificationAddBody,
} from "../../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

const insertVerification = statement<
  unknown,
  [fid: number, address: Uint8Array, protocol: number, timestamp: number]
>(
  "project.verifications.insert",
  "INSERT INTO verifications (fid, address, protocol, timestamp) VALUES (?, ?, ?, ?)",
);
const deleteVerification = statement<unknown, [fid: number, address: Uint8Array]>(
  "project.verifications.delete",
  "DELETE FROM verifications WHERE fid = ? AND address = ?",
);
const insertProof = statement<
  unknown,
  [
    name: string,
    type: number,
    fid: number,
    owner: Uint8Array,
    signature: Uint8Array,
    timestamp: number,
    messageTimestamp: number | null,
    messageHash: Uint8Array | null,
  ]
>(
  "project.username-proofs.insert",
  `INSERT INTO username_proofs (name, type, fid, owner, signature, timestamp, message_timestamp, message_hash)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
);
const deleteProof = statement<{ fid: number }, [name: string]>(
  "project.username-proofs.delete",
  "DELETE FROM username_proofs WHERE name = ? RETURNING fid",
);

const fnamesOf = statement<
  { name: string; fid: number; owner: Uint8Array; signature: Uint8Array; timestamp: number; type: number },
  [fid: number]
>(
  "project.username-proofs.fnames-of",
  `SELECT name, fid, owner, signature, timestamp, type FROM username_proofs
   WHERE fid = ? AND type = ${UserNameType.USERNAME_TYPE_FNAME}`,
);

export function addVerification(db: IndexDatabase, data: MessageData, body: VerificationAddBody): void {
  db.run(insertVerification, data.fid, body.address, body.protocol, toUnixSecs(data.timestamp));
  db.invalidations.user(data.fid);
}

export function dropVerification(db: IndexDatabase, data: MessageData, body: VerificationAddBody): void {
  db.run(deleteVerification, data.fid, body.address);
  db.invalidations.user(data.fid);
}

/**
 * Makes a proof the live one of its name. `message` is its message, if it has one, which orders it among other proofs of the
 * name.
 */
export function addUsernameProof(
  db: IndexDatabase,
  proof: UserNameProof,
  message: { timestamp: number; hash: Uint8Array } | undefined,
): void {
  db.run(
    insertProof,
    nameOf(proof),
    proof.type,
    proof.fid,
    proof.owner,
    proof.signature,
    proof.timestamp,
    message?.timestamp ?? null,
    message?.hash ?? null,
  );
  db.invalidations.user(proof.fid);
}

export function dropUsernameProof(db: IndexDatabase, proof: UserNameProof): void {
  for (const { fid } of db.all(deleteProof, nameOf(proof))) db.invalidations.user(fid);
}

/** Returns the fname proofs of an fid; those of fid 0 are released names. */
export function fnameProofsOf(db: IndexDatabase, fid: number): UserNameProof[] {
  return db.all(fnamesOf, fid).map((row) => ({ ...row, name: Buffer.from(row.name) }));
}

/** Names are ASCII by rule, so the bytes are the text. */
export function nameOf(proof: { name: Uint8Array }): string {
  return Buffer.from(proof.name).toString("utf8");
}
