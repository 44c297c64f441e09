import type { SqliteConnection } from "../../sqlite/connection.ts";
import { statement } from "../statement.ts";

const signerByKey = statement<{ id: number }, [key: Uint8Array]>(
  "envelopes.signer-by-key",
  "SELECT id FROM message_signers WHERE key = ?",
);
const insertSigner = statement<unknown, [key: Uint8Array]>(
  "envelopes.insert-signer",
  "INSERT INTO message_signers (key) VALUES (?)",
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
