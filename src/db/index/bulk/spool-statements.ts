import { bulkStatement } from "./bulk-state.ts";

export type Bytes = Uint8Array;

export const WEEK_SECS = 604_800;

export const insertEnvelope = bulkStatement<
  unknown,
  [id: number, signerId: number, signature: Bytes, data: Bytes | null]
>("bulk.spool.envelope", "INSERT INTO envelopes (id, signer_id, signature, data) VALUES (?, ?, ?, ?)");
export const insertReply = bulkStatement<unknown, [number, Bytes, number, Bytes, number]>(
  "bulk.spool.reply",
  "INSERT INTO bulk_replies (first_id, hash, fid, parent_hash, parent_fid) VALUES (?, ?, ?, ?, ?)",
);
export const insertQuote = bulkStatement<unknown, [number, Bytes, Bytes, number]>(
  "bulk.spool.quote",
  "INSERT INTO bulk_quotes (first_id, hash, quoted_hash, quoted_fid) VALUES (?, ?, ?, ?)",
);
export const insertMention = bulkStatement<unknown, [number, Bytes, number, number]>(
  "bulk.spool.mention",
  "INSERT INTO bulk_mentions (first_id, hash, fid, mentioned_fid) VALUES (?, ?, ?, ?)",
);
export const insertEmbedUrl = bulkStatement<unknown, [number, Bytes, string]>(
  "bulk.spool.embed-url",
  "INSERT INTO bulk_embed_urls (first_id, hash, url) VALUES (?, ?, ?)",
);
export const insertSearchText = bulkStatement<unknown, [number, Bytes, string]>(
  "bulk.spool.search-text",
  "INSERT INTO bulk_search_texts (first_id, hash, text) VALUES (?, ?, ?)",
);
export const insertReaction = bulkStatement<
  unknown,
  [number, number, number, Bytes | null, number | null, number, number, number]
>(
  "bulk.spool.reaction",
  `INSERT INTO bulk_reactions (fid, type, target_fid, target_hash, url_id, timestamp, rank, envelope_id)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
);
export const insertLink = bulkStatement<
  unknown,
  [number, number | string, number, number, number | null, number, number]
>(
  "bulk.spool.link",
  `INSERT INTO bulk_links (fid, type, target_fid, timestamp, displayed_at, rank, envelope_id)
   VALUES (?, ?, ?, ?, ?, ?, ?)`,
);
export const insertUserData = bulkStatement<unknown, [number, number, string, number, number, number]>(
  "bulk.spool.user-data",
  "INSERT INTO bulk_user_data (fid, type, value, timestamp, rank, envelope_id) VALUES (?, ?, ?, ?, ?, ?)",
);
export const insertMessage = bulkStatement<
  unknown,
  [number, number, number, Bytes, number, number, number, Bytes, Bytes]
>(
  "bulk.spool.message",
  `INSERT INTO messages (id, fid, store, slot, kind, timestamp, signer_id, signature, data)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
export const insertCastRemove = bulkStatement<unknown, [number, number, Bytes]>(
  "bulk.spool.cast-remove",
  "INSERT INTO bulk_cast_removes (message_id, fid, hash) VALUES (?, ?, ?)",
);
export const insertReactionRemove = bulkStatement<
  unknown,
  [number, number, number, number, Bytes | null, string | null, number]
>(
  "bulk.spool.reaction-remove",
  `INSERT INTO bulk_reaction_removes (message_id, fid, type, target_fid, target_hash, url, timestamp)
   VALUES (?, ?, ?, ?, ?, ?, ?)`,
);
export const insertLinkRemove = bulkStatement<unknown, [number, number, number | string, number, number]>(
  "bulk.spool.link-remove",
  "INSERT INTO bulk_link_removes (message_id, fid, type, target_fid, timestamp) VALUES (?, ?, ?, ?, ?)",
);
export const insertCompact = bulkStatement<unknown, [number, number]>(
  "bulk.spool.compact",
  "INSERT INTO bulk_compacts (message_id, fid) VALUES (?, ?)",
);
export const insertVerification = bulkStatement<unknown, [number, number, Bytes, number, number]>(
  "bulk.spool.verification",
  "INSERT INTO bulk_verifications (message_id, fid, address, protocol, timestamp) VALUES (?, ?, ?, ?, ?)",
);
export const insertLend = bulkStatement<unknown, [number, number, number, number, number]>(
  "bulk.spool.lend",
  "INSERT INTO bulk_lends (message_id, fid, to_fid, unit_type, units) VALUES (?, ?, ?, ?, ?)",
);
export const lastEnvelope = bulkStatement<{ id: number | null }>(
  "bulk.spool.last-envelope",
  "SELECT max(id) AS id FROM envelopes",
);
export const lastMessage = bulkStatement<{ id: number | null }>(
  "bulk.spool.last-message",
  "SELECT max(id) AS id FROM messages",
);
export const findSigner = bulkStatement<{ id: number }, [key: Bytes]>(
  "bulk.spool.signer",
  "SELECT id FROM message_signers WHERE key = ?",
);
export const addSigner = bulkStatement<{ id: number }, [key: Bytes]>(
  "bulk.spool.add-signer",
  "INSERT INTO message_signers (key) VALUES (?) RETURNING id",
);
export const findUrl = bulkStatement<{ id: number }, [url: string]>(
  "bulk.spool.url",
  "SELECT id FROM urls WHERE url = ?",
);
export const addUrl = bulkStatement<{ id: number }, [url: string]>(
  "bulk.spool.add-url",
  "INSERT INTO urls (url) VALUES (?) RETURNING id",
);
