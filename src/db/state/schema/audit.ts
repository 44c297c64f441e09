import { sql } from "drizzle-orm";
import { blob, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** What was changed by owners, and what API keys, managed signers and writes have done. Rows are only added, and deleted after their time. */
export const auditEntries = sqliteTable(
  "audit_entries",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    atMs: integer("at_ms").notNull(),
    /** The fid whose log it is: the owner of the key that acted, or the signer of the operation. */
    ownerFid: integer("owner_fid").notNull(),
    action: text().notNull(),
    apiKeyId: text("api_key_id"),
    signerUuid: text("signer_uuid"),
    /** The user that was acted for. */
    userFid: integer("user_fid"),
    /** The hash of the message. */
    hash: blob({ mode: "buffer" }),
    /** The id of the mini app or webhook that was changed. */
    recordId: text("record_id"),
    outcome: text().notNull(),
    requestId: text("request_id").notNull(),
    address: text().notNull(),
  },
  (t) => [
    index("audit_entries_by_owner").on(t.ownerFid, t.atMs, t.seq),
    index("audit_entries_of_records").on(t.ownerFid, t.atMs, t.seq).where(sql`record_id IS NOT NULL`),
    index("audit_entries_by_time").on(t.atMs),
  ],
);
