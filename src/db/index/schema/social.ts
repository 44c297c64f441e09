import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/** The read model: a pure function of the live messages, updated in the transaction that changes them. Unix seconds. */

/**
 * Live casts. `id` starts with the time (see `castId`), so ids sort in the order of casts. `root_fid`/`root_hash` are the
 * topmost known ancestor, which may itself be missing, and are null for a cast that starts a thread. `root_parent_url` is
 * that ancestor's parent_url, null while the ancestor is missing.
 */
export const casts = sqliteTable(
  "casts",
  {
    id: integer().primaryKey(),
    hash: blob({ mode: "buffer" }).notNull(),
    fid: integer().notNull(),
    timestamp: integer().notNull(),
    text: text().notNull(),
    parentFid: integer("parent_fid"),
    parentHash: blob("parent_hash", { mode: "buffer" }),
    parentUrl: text("parent_url"),
    rootFid: integer("root_fid"),
    rootHash: blob("root_hash", { mode: "buffer" }),
    rootParentUrl: text("root_parent_url"),
    /** JSON [[fid, byteOffset], …] in text order; null without mentions. */
    mentions: text(),
    /** JSON [{ url } | { fid, hash }, …]; null without embeds. */
    embeds: text(),
  },
  (t) => [
    // A hash has one author. With it in the index, the query for a reaction's or reply's target needs no row.
    uniqueIndex("casts_by_hash").on(t.hash, t.fid),
    index("casts_by_time").on(t.timestamp, t.hash, t.fid),
    index("casts_by_author").on(t.fid, t.timestamp, t.hash),
    index("casts_by_author_replies").on(t.fid, t.timestamp, t.hash).where(sql`parent_hash IS NOT NULL`),
    // Ends with the column of its condition, which SQLite would otherwise read from each row.
    index("casts_by_author_roots")
      .on(t.fid, t.timestamp, t.hash, t.parentHash)
      .where(sql`parent_hash IS NULL`),
    index("casts_by_author_and_parent")
      .on(t.fid, t.parentHash, t.parentFid, t.timestamp, t.hash)
      .where(sql`parent_hash IS NOT NULL`),
    index("casts_by_author_in_channel")
      .on(t.fid, t.parentUrl, t.timestamp)
      .where(sql`parent_url IS NOT NULL`),
    index("casts_by_parent")
      .on(t.parentHash, t.parentFid, t.timestamp, t.hash)
      .where(sql`parent_hash IS NOT NULL`),
    index("casts_by_parent_url").on(t.parentUrl, t.timestamp, t.hash).where(sql`parent_url IS NOT NULL`),
    index("casts_by_root").on(t.rootHash).where(sql`root_hash IS NOT NULL`),
  ],
);

/** Counts of live rows that refer to a cast, which may not have arrived. A wrong author's fid is another key. */
export const castCounts = sqliteTable(
  "cast_counts",
  {
    hash: blob({ mode: "buffer" }).notNull(),
    fid: integer().notNull(),
    likes: integer().notNull(),
    recasts: integer().notNull(),
    replies: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.hash, t.fid] }),
    index("cast_counts_by_author").on(t.fid, sql`(likes + recasts + replies)`, t.hash),
  ],
);

/** Casts that quote a cast by its id, which may not have arrived. */
export const castQuotes = sqliteTable(
  "cast_quotes",
  {
    quotedHash: blob("quoted_hash", { mode: "buffer" }).notNull(),
    quotedFid: integer("quoted_fid").notNull(),
    timestamp: integer().notNull(),
    hash: blob({ mode: "buffer" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.quotedHash, t.quotedFid, t.timestamp, t.hash] })],
);

/** Casts that embed a URL, as spelled in the cast. */
export const castEmbedUrls = sqliteTable(
  "cast_embed_urls",
  {
    url: text().notNull(),
    timestamp: integer().notNull(),
    hash: blob({ mode: "buffer" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.url, t.timestamp, t.hash] })],
);

/** Mentions, one row for each author, mentioned fid and cast. */
export const castMentions = sqliteTable(
  "cast_mentions",
  {
    fid: integer().notNull(),
    mentionedFid: integer("mentioned_fid").notNull(),
    hash: blob({ mode: "buffer" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.fid, t.mentionedFid, t.hash] })],
);

/** Live likes (1) and recasts (2), of a cast or of a URL. */
export const reactions = sqliteTable(
  "reactions",
  {
    fid: integer().notNull(),
    type: integer().notNull(),
    timestamp: integer().notNull(),
    hash: blob({ mode: "buffer" }).notNull(),
    targetFid: integer("target_fid"),
    targetHash: blob("target_hash", { mode: "buffer" }),
    targetUrl: text("target_url"),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.type, t.timestamp, t.hash] }),
    index("reactions_by_target")
      .on(t.targetHash, t.targetFid, t.type, t.timestamp, t.fid)
      .where(sql`target_hash IS NOT NULL`),
    index("reactions_by_pair")
      .on(t.fid, t.targetFid, t.targetHash, t.type)
      .where(sql`target_fid IS NOT NULL`),
  ],
);

/** Live links of every type. `linked_at` is the display timestamp where the message has one. */
export const links = sqliteTable(
  "links",
  {
    fid: integer().notNull(),
    type: text().notNull(),
    targetFid: integer("target_fid").notNull(),
    linkedAt: integer("linked_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.type, t.targetFid] }),
    index("links_by_source").on(t.fid, t.type, t.linkedAt, t.targetFid),
    index("links_by_target").on(t.targetFid, t.type, t.linkedAt, t.fid),
  ],
);

/** The numbers of live `follow` links to and from an fid. */
export const followCounts = sqliteTable(
  "follow_counts",
  {
    fid: integer().primaryKey(),
    followers: integer().notNull(),
    following: integer().notNull(),
  },
  (t) => [index("follow_counts_by_followers").on(t.followers, t.fid)],
);

/** Pairs that follow each other, in both directions; `since` is the later of the two follows. */
export const mutualFollows = sqliteTable(
  "mutual_follows",
  {
    fid: integer().notNull(),
    otherFid: integer("other_fid").notNull(),
    since: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.otherFid] }),
    index("mutual_follows_by_age").on(t.fid, t.since, t.otherFid),
  ],
);

/** Live user data; an empty value has no row. */
export const userData = sqliteTable(
  "user_data",
  {
    fid: integer().notNull(),
    type: integer().notNull(),
    value: text().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.type] }),
    // Locations (7) and X names (8) are looked up by value.
    index("user_data_by_value").on(t.type, sql`value COLLATE NOCASE`, t.fid).where(sql`type IN (7, 8)`),
  ],
);

/** The words of display names, lower-case, for search by prefix. */
export const displayNameWords = sqliteTable(
  "display_name_words",
  {
    word: text().notNull(),
    fid: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.word, t.fid] }), index("display_name_words_by_fid").on(t.fid, t.word)],
);

/** Live verifications. `protocol` 0 Ethereum, 1 Solana. */
export const verifications = sqliteTable(
  "verifications",
  {
    fid: integer().notNull(),
    address: blob({ mode: "buffer" }).notNull(),
    protocol: integer().notNull(),
    timestamp: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.address] }),
    index("verifications_by_address").on(t.address, t.fid),
  ],
);

/**
 * Notifications of an fid, one row for each action of another user. `kind` is a NotificationKind number; `ref` is the
 * hash of the cast that mentions or replies, or of the cast that was reacted to, and is empty for a follow.
 */
export const notifications = sqliteTable(
  "notifications",
  {
    fid: integer().notNull(),
    timestamp: integer().notNull(),
    kind: integer().notNull(),
    actorFid: integer("actor_fid").notNull(),
    ref: blob({ mode: "buffer" }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.timestamp, t.kind, t.actorFid, t.ref] }),
    // Mentions and replies only, so that lists of these kinds do not scan likes.
    index("notifications_of_casts").on(t.fid, t.timestamp, t.kind, t.actorFid, t.ref).where(sql`kind < 3`),
  ],
);

/** Those mentions and replies whose thread root has a parent_url, by that URL. */
export const threadNotifications = sqliteTable(
  "thread_notifications",
  {
    fid: integer().notNull(),
    rootParentUrl: text("root_parent_url").notNull(),
    timestamp: integer().notNull(),
    kind: integer().notNull(),
    actorFid: integer("actor_fid").notNull(),
    ref: blob({ mode: "buffer" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.fid, t.rootParentUrl, t.timestamp, t.kind, t.actorFid, t.ref] })],
);

/** Activity of a channel: its live casts directly under its URLs. A channel without casts has no row. */
export const channelActivity = sqliteTable(
  "channel_activity",
  {
    id: text().primaryKey(),
    casts: integer().notNull(),
    members: integer().notNull(),
    firstCastAt: integer("first_cast_at").notNull(),
  },
  (t) => [
    index("channel_activity_by_members").on(sql`members DESC`, t.id),
    index("channel_activity_by_id_prefix").on(sql`id COLLATE NOCASE`),
  ],
);

/** The users with live casts directly under a channel's URLs, and the time of the last one. */
export const channelMembers = sqliteTable(
  "channel_members",
  {
    channelId: text("channel_id").notNull(),
    fid: integer().notNull(),
    casts: integer().notNull(),
    lastCastAt: integer("last_cast_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.channelId, t.fid] }),
    index("channel_members_by_activity").on(t.channelId, t.lastCastAt, t.fid),
    index("channel_members_by_fid").on(t.fid, t.lastCastAt, t.channelId),
  ],
);

/** The number of rows by kind, so that the status does not count tables. */
export const totals = sqliteTable("totals", {
  name: text().primaryKey(),
  count: integer().notNull(),
});
