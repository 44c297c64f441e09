/**
 * The treatment of each table of the index when a new file is built from an old one. A test compares the list with the
 * schema, so a new table needs a decision.
 */

/** Tables that hold what no other holds. Their rows are copied. */
export const COPIED_TABLES = [
  "on_chain_events",
  "username_proofs",
  "username_proof_rivals",
  "gasless_keys",
  "key_nonces",
  "key_removals",
  "positions",
  "channel_registry",
  "rankings",
  "event_outbox",
  "upstream_journal",
  "upstream_mentioned",
  "upstream_todo",
] as const;

/** Tables that are filled from the signed messages and the on-chain events. */
export const BUILT_TABLES = [
  "messages",
  "message_signers",
  "envelopes",
  "urls",
  "casts",
  "missing_casts",
  "reactions",
  "links",
  "user_data",
  "casts_fts",
  "fids",
  "signers",
  "pro_tiers",
  "storage_lends",
  "store_counts",
  "totals",
  "cast_counts",
  "cast_quotes",
  "cast_embed_urls",
  "cast_mentions",
  "follow_counts",
  "mutual_follows",
  "display_name_words",
  "verifications",
  "notifications",
  "thread_notifications",
  "channel_activity",
  "channel_members",
] as const;

/**
 * Tables that are handled one by one. `meta` is copied and gets the marks of the migration. A new file has no repoints. The
 * caches that `touched` invalidates start empty with each process. A file in the former format has no log of hub events.
 */
export const OTHER_TABLES = ["meta", "cast_repoints", "touched", "hub_events", "hub_blocks"] as const;

/**
 * Built tables that had the same rows in the former format. Their counts are compared. The former `user_data` lacked empty
 * values; the comparison by stores covers it.
 */
export const COMPARED_TABLES = [
  "casts",
  "reactions",
  "links",
  "fids",
  "signers",
  "pro_tiers",
  "storage_lends",
  "cast_counts",
  "cast_quotes",
  "cast_embed_urls",
  "cast_mentions",
  "follow_counts",
  "mutual_follows",
  "display_name_words",
  "verifications",
  "notifications",
  "thread_notifications",
  "channel_activity",
  "channel_members",
] as const;
