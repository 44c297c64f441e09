import { createPublicKey, verify } from "node:crypto";
import { join } from "node:path";
import { openWriter } from "../src/db/sqlite/open.ts";
import { encodeMessage, signedMessageFromWire } from "../src/protocol/message/signed-message.ts";
import type { Message } from "../src/protocol/wire/generated/message.ts";
import { tempDir } from "../test/support/program.ts";

/** The baselines of ingest: the two steps that no node can avoid, each on its own, on one core. */

/** Returns how many Ed25519 signatures are verified per second. */
export function bareVerifyRate(messages: readonly Message[]): number {
  return rateOf(messages, () => {
    for (const { hash, signature, signer } of messages) {
      const key = createPublicKey({
        key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(signer).toString("base64url") },
        format: "jwk",
      });
      if (!verify(null, hash, key, signature)) throw new Error("a signature does not verify");
    }
  });
}

/**
 * Returns how many messages per second are inserted as rows into a table without further indexes, `perCommit` per
 * transaction. Each transaction is synced to disk, as in the node.
 */
export function bareInsertRate(messages: readonly Message[], perCommit: number): number {
  using dir = tempDir();
  const db = openWriter(
    { database: "index", file: join(dir.path, "bare.db") },
    { migrations: [], cacheKib: 65536, checkpointPages: 16_000, mayCreate: true },
  );
  db.exec(
    "CREATE TABLE messages (id INTEGER PRIMARY KEY, fid INTEGER, timestamp INTEGER, hash BLOB, bytes BLOB)",
  );
  const insert = db.prepare("INSERT INTO messages (fid, timestamp, hash, bytes) VALUES (?, ?, ?, ?)");
  const rows = messages.map((received) => {
    const message = signedMessageFromWire(received);
    if (!message.ok) throw new Error(message.error.reason);
    const { data, hash } = message.value;
    return [data.fid, data.timestamp, hash, encodeMessage(message.value)] as const;
  });
  const rate = rateOf(messages, () => {
    for (let at = 0; at < rows.length; at += perCommit) {
      db.exec("BEGIN IMMEDIATE");
      for (const row of rows.slice(at, at + perCommit)) insert.run(...row);
      db.exec("COMMIT");
    }
  });
  insert.finalize();
  db.close();
  return rate;
}

function rateOf(messages: readonly Message[], work: () => void): number {
  const startedAt = performance.now();
  work();
  return messages.length / ((performance.now() - startedAt) / 1000);
}
