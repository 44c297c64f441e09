import type { IndexDatabase } from "../database.ts";
import type { MessageEnvelope } from "../messages/columns.ts";
import { statement } from "../statement.ts";

const signerKey = statement<{ key: Uint8Array }, [id: number]>(
  "envelopes.signer-key",
  "SELECT key FROM message_signers WHERE id = ?",
);
const insertEnvelope = statement<unknown, [signerId: number, signature: Uint8Array, data: Uint8Array | null]>(
  "envelopes.insert",
  "INSERT INTO envelopes (signer_id, signature, data) VALUES (?, ?, ?)",
);
const envelopeById = statement<MessageEnvelope, [id: number]>(
  "envelopes.by-id",
  `SELECT s.key AS signer, e.signature, e.data
   FROM envelopes e CROSS JOIN message_signers s ON s.id = e.signer_id WHERE e.id = ?`,
);
const deleteEnvelope = statement<unknown, [id: number]>(
  "envelopes.delete",
  "DELETE FROM envelopes WHERE id = ?",
);

/** Stores what the columns of a message do not hold. Returns the id of its row. */
export function putEnvelope(db: IndexDatabase, { signer, signature, data }: MessageEnvelope): number {
  return db.insert(insertEnvelope, db.signers.of(db, signer), signature, data);
}

export function readEnvelope(db: IndexDatabase, id: number): MessageEnvelope {
  const row = db.get(envelopeById, id);
  if (!row) throw new Error("a live message has no envelope");
  return row;
}

export function dropEnvelope(db: IndexDatabase, id: number): void {
  db.run(deleteEnvelope, id);
}

export function signerKeyOf(db: IndexDatabase, id: number): Uint8Array {
  const row = db.get(signerKey, id);
  if (!row) throw new Error("a live message has no signer");
  return row.key;
}
