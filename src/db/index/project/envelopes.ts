import type { SqliteConnection } from "../../sqlite/connection.ts";
import type { IndexDatabase } from "../database.ts";
import type { MessageEnvelope } from "../messages/columns.ts";
import { statement } from "../statement.ts";

const signerByKey = statement<{ id: number }, [key: Uint8Array]>(
  "envelopes.signer-by-key",
  "SELECT id FROM message_signers WHERE key = ?",
);
const insertSigner = statement<unknown, [key: Uint8Array]>(
  "envelopes.insert-signer",
  "INSERT INTO message_signers (key) VALUES (?)",
);
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

const MAX_CACHED_SIGNERS = 20_000;

/** The ids of recently used signers, as one connection has written or read them. */
export class SignerIds {
  readonly #ids = new Map<string, number>();

  /** Returns the id of a signer. A new one is inserted. */
  of(db: SqliteConnection, key: Uint8Array): number {
    const name = Buffer.prototype.latin1Slice.call(key);
    const cached = this.#ids.get(name);
    if (cached !== undefined) return cached;
    const id = db.get(signerByKey, key)?.id ?? db.insert(insertSigner, key);
    if (this.#ids.size >= MAX_CACHED_SIGNERS) this.#ids.clear();
    this.#ids.set(name, id);
    return id;
  }

  /** Forgets the ids of a transaction that was rolled back. */
  clear(): void {
    this.#ids.clear();
  }
}

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
