import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Tables derived from the live messages, updated in the transaction that changes them. Times are in Unix seconds. */

/** Counts of live rows that refer to a cast, by the id of the cast, which may be missing. */
export const castCounts = sqliteTable(
  "cast_counts",
  {
    id: integer().primaryKey(),
    fid: integer().notNull(),
    likes: integer().notNull(),
    recasts: integer().notNull(),
    replies: integer().notNull(),
  },
  (t) => [index("cast_counts_by_author").on(t.fid, sql`(likes + recasts + replies)`)],
);

/** Casts that quote a cast, which may be missing. */
export const castQuotes = sqliteTable(
  "cast_quotes",
  {
    quotedId: integer("quoted_id").notNull(),
    castId: integer("cast_id").notNull(),
  },
  (t) => [primaryKey({ columns: [t.quotedId, t.castId] })],
);

/** Casts that embed a URL, as spelled in the cast. */
export const castEmbedUrls = sqliteTable(
  "cast_embed_urls",
  {
    url: text().notNull(),
    castId: integer("cast_id").notNull(),
  },
  (t) => [primaryKey({ columns: [t.url, t.castId] })],
);

/** Mentions, one row per mentioned fid and cast. `fid` is the author. */
export const castMentions = sqliteTable(
  "cast_mentions",
  {
    mentionedFid: integer("mentioned_fid").notNull(),
    castId: integer("cast_id").notNull(),
    fid: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.mentionedFid, t.castId] }),
    index("cast_mentions_by_author").on(t.fid, t.mentionedFid),
  ],
);

/** Number of live `follow` links to and from an fid. */
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

/** Live verifications. `protocol` is 0 for Ethereum and 1 for Solana. */
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
 * Notifications of an fid, one row per action of another user. `kind` is a NotificationKind number; `ref` is the id of the
 * cast that mentions or replies, or of the cast that was reacted to, which may be missing; 0 for a follow.
 */
export const notifications = sqliteTable(
  "notifications",
  {
    fid: integer().notNull(),
    timestamp: integer().notNull(),
    kind: integer().notNull(),
    actorFid: integer("actor_fid").notNull(),
    ref: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.timestamp, t.kind, t.actorFid, t.ref] }),
    // Mentions and replies only, so that lists of these kinds do not scan likes.
    index("notifications_of_casts").on(t.fid, t.timestamp, t.kind, t.actorFid, t.ref).where(sql`kind < 3`),
  ],
);

/** Mentions and replies whose thread root has a parent URL, by that URL. */
export const threadNotifications = sqliteTable(
  "thread_notifications",
  {
    fid: integer().notNull(),
    rootUrlId: integer("root_url_id").notNull(),
    timestamp: integer().notNull(),
    kind: integer().notNull(),
    actorFid: integer("actor_fid").notNull(),
    ref: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.fid, t.rootUrlId, t.timestamp, t.kind, t.actorFid, t.ref] })],
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

/** Users with live casts directly under a channel's URLs, with the time of the last one. */
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

/**
 * Number of rows by kind and shard, so that the status does not count tables. The shard of an fid depends on the number of
 * shards of the followed network, which is in `meta`; a standalone node has one.
 */
export const totals = sqliteTable(
  "totals",
  {
    name: text().notNull(),
    shard: integer().notNull(),
    count: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.name, t.shard] })],
);
