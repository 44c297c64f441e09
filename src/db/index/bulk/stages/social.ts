import { channelIdOf } from "../../../../protocol/channel-url.ts";
import { channelsActiveAt, recountFollowers } from "../../channels/follows.ts";
import { bulkStatement } from "../bulk-state.ts";
import { dropTable } from "../spool-tables.ts";
import { CAST_ID } from "./cast-ids.ts";
import { indexesOf } from "./indexes.ts";
import { into, sequence, sortedSlices } from "./sorted-slices.ts";
import { type BulkStage, oneStep } from "./stage.ts";

/** Returns the live casts of a table of the spool, in order of their ids, with the columns of `columns`. */
const liveRows = (table: string, columns: string) =>
  `(SELECT ${CAST_ID} AS id, s.* FROM ${table} s GROUP BY 1, +s.rowid) r
   CROSS JOIN bulk_ids b ON b.id = r.id AND b.hash = r.hash ${columns}`;

const castCounts = `SELECT id, fid, sum(likes), sum(recasts), sum(replies) FROM (
   SELECT target_id AS id, target_fid AS fid, sum(type = 1) AS likes, sum(type = 2) AS recasts, 0 AS replies
   FROM reactions INDEXED BY reactions_by_target WHERE target_fid != 0 GROUP BY target_id
   UNION ALL SELECT parent_id, parent_fid, 0, 0, count(*) FROM bulk_threads GROUP BY parent_id
 ) GROUP BY id ORDER BY id`;

const quotes = `SELECT m.id, q.id FROM (
   SELECT r.id, r.quoted_hash, r.quoted_fid FROM ${liveRows("bulk_quotes", "")}
   GROUP BY r.quoted_hash, r.quoted_fid, r.id
 ) q CROSS JOIN bulk_map m ON m.hash = q.quoted_hash AND m.fid = q.quoted_fid ORDER BY 1, 2`;
const embedUrls = `SELECT r.url, r.id FROM ${liveRows("bulk_embed_urls", "")} ORDER BY 1, 2`;
const mentions = `SELECT r.mentioned_fid, r.id, r.fid FROM ${liveRows("bulk_mentions", "")} ORDER BY 1, 2`;

/** Notifications of casts: a reply, or a mention of a user other than the one replied to. */
const castNotifications = `SELECT t.parent_fid AS fid, t.root_url_id, t.id >> 16 AS timestamp, 2 AS kind,
     b.fid AS actor_fid, t.id AS ref
   FROM bulk_threads t CROSS JOIN bulk_ids b ON b.id = t.id WHERE t.parent_fid != b.fid
   UNION ALL SELECT r.mentioned_fid, CASE WHEN t.id IS NULL THEN b.parent_url_id ELSE t.root_url_id END, r.id >> 16, 1,
     r.fid, r.id
   FROM ${liveRows("bulk_mentions", "LEFT JOIN bulk_threads t ON t.id = r.id")}
   WHERE r.mentioned_fid != r.fid AND r.mentioned_fid IS NOT t.parent_fid`;
const notifications = `SELECT target_fid, timestamp, type + 2, fid, target_id FROM reactions
     WHERE target_fid != 0 AND target_fid != fid
   UNION ALL SELECT target_fid, ifnull(displayed_at, timestamp), 5, fid, 0 FROM links
     WHERE type = 1 AND target_fid != fid
   UNION ALL SELECT fid, timestamp, kind, actor_fid, ref FROM (${castNotifications})
   ORDER BY 1, 2, 3, 4, 5`;
const threadNotifications = `SELECT fid, root_url_id, timestamp, kind, actor_fid, ref FROM (${castNotifications})
   WHERE root_url_id IS NOT NULL ORDER BY 1, 2, 3, 4, 5, 6`;

const createChannels = bulkStatement<unknown>(
  "bulk.channels.create",
  "CREATE TABLE bulk_channels (url_id INTEGER PRIMARY KEY, channel_id)",
);
const parentUrls = bulkStatement<{ id: number; url: string }>(
  "bulk.channels.urls",
  "SELECT id, url FROM urls ORDER BY id",
);
const insertChannel = bulkStatement<unknown, [urlId: number, channelId: string]>(
  "bulk.channels.insert",
  "INSERT INTO bulk_channels (url_id, channel_id) VALUES (?, ?)",
);
const fillChannelMembers = bulkStatement<unknown>(
  "bulk.channel-members.fill",
  `INSERT INTO channel_members (channel_id, fid, casts, last_cast_at)
   SELECT k.channel_id, c.fid, sum(c.casts), max(c.last_cast_at)
   FROM (SELECT fid, parent_url_id, count(*) AS casts, max(id) >> 16 AS last_cast_at
         FROM casts INDEXED BY casts_by_author_in_channel WHERE parent_url_id IS NOT NULL
         GROUP BY fid, parent_url_id) c
   CROSS JOIN bulk_channels k ON k.url_id = c.parent_url_id
   GROUP BY k.channel_id, c.fid ORDER BY 1, 2`,
);
const fillChannelActivity = bulkStatement<unknown>(
  "bulk.channel-activity.fill",
  `INSERT INTO channel_activity (id, casts, members, first_cast_at)
   SELECT m.channel_id, m.casts, m.members, f.first_cast_at
   FROM (SELECT channel_id, sum(casts) AS casts, count(*) AS members FROM channel_members GROUP BY channel_id) m
   JOIN (SELECT k.channel_id, min(c.first_cast_at) AS first_cast_at
         FROM (SELECT parent_url_id, min(id) >> 16 AS first_cast_at
               FROM casts INDEXED BY casts_by_parent_url WHERE parent_url_id IS NOT NULL
               GROUP BY parent_url_id) c
         CROSS JOIN bulk_channels k ON k.url_id = c.parent_url_id GROUP BY k.channel_id) f
     ON f.channel_id = m.channel_id`,
);

const fillFollowCounts = bulkStatement<unknown>(
  "bulk.follow-counts.fill",
  `INSERT INTO follow_counts (fid, followers, following)
   SELECT fid, sum(followers), sum(following) FROM (
     SELECT fid, 0 AS followers, count(*) AS following FROM links WHERE type = 1 GROUP BY fid
     UNION ALL SELECT target_fid, count(*), 0 FROM links INDEXED BY links_by_target
       WHERE type = 1 AND displayed_at IS NULL GROUP BY target_fid
     UNION ALL SELECT target_fid, count(*), 0 FROM links INDEXED BY links_by_target_displayed
       WHERE type = 1 AND displayed_at IS NOT NULL GROUP BY target_fid
   ) GROUP BY fid ORDER BY fid`,
);
const mutualFollows = `SELECT r.fid, r.other_fid, max(r.at, ifnull(l.displayed_at, l.timestamp))
   FROM (SELECT target_fid AS fid, fid AS other_fid, ifnull(displayed_at, timestamp) AS at FROM links
         WHERE type = 1 AND fid != target_fid GROUP BY target_fid, +fid) r
   CROSS JOIN links l ON l.fid = r.fid AND l.type = 1 AND l.target_fid = r.other_fid`;

const fillVerifications = bulkStatement<unknown>(
  "bulk.verifications.fill",
  `INSERT OR IGNORE INTO verifications (fid, address, protocol, timestamp)
   SELECT fid, address, protocol, timestamp FROM bulk_verifications s
   WHERE EXISTS (SELECT 1 FROM messages m WHERE m.id = s.message_id) ORDER BY 1, 2`,
);
const fillLends = bulkStatement<unknown>(
  "bulk.lends.fill",
  `INSERT OR IGNORE INTO storage_lends (fid, to_fid, unit_type, units)
   SELECT fid, to_fid, unit_type, units FROM bulk_lends s
   WHERE EXISTS (SELECT 1 FROM messages m WHERE m.id = s.message_id) ORDER BY 1, 2`,
);

/** Rows derived from live messages, in the order of their keys. */
export const SOCIAL_STAGES: readonly BulkStage[] = [
  sortedSlices("counts of casts", 2, {
    select: castCounts,
    take: into("cast_counts", "id, fid, likes, recasts, replies"),
  }),
  indexesOf(2, "cast_counts"),
  sequence(
    "embeds and mentions",
    sortedSlices("embeds", 1, {
      select: embedUrls,
      take: into("cast_embed_urls", "url, cast_id"),
      finish: ({ db }) => dropTable(db, "bulk_embed_urls"),
    }),
    sortedSlices("mentions", 1, {
      select: mentions,
      take: into("cast_mentions", "mentioned_fid, cast_id, fid"),
    }),
  ),
  indexesOf(1, "cast_mentions"),
  sequence(
    "notifications",
    sortedSlices("all notifications", 8, {
      select: notifications,
      take: into("notifications", "fid, timestamp, kind, actor_fid, ref"),
    }),
    sortedSlices("thread notifications", 2, {
      select: threadNotifications,
      take: into("thread_notifications", "fid, root_url_id, timestamp, kind, actor_fid, ref"),
      finish({ db }) {
        for (const table of ["bulk_mentions", "bulk_threads"]) dropTable(db, table);
      },
    }),
  ),
  indexesOf(1, "notifications"),
  oneStep("channels", 1, ({ db }) => {
    db.run(createChannels);
    for (const { id, url } of db.iterate(parentUrls)) db.run(insertChannel, id, channelIdOf(url));
    db.run(fillChannelMembers);
    db.run(fillChannelActivity);
    dropTable(db, "bulk_channels");
  }),
  indexesOf(1, "channel_members"),
  sequence(
    "follows",
    oneStep("counts of follows", 1, ({ db }) => {
      db.run(fillFollowCounts);
      if (channelsActiveAt(db) !== undefined) recountFollowers(db);
    }),
    sortedSlices("mutual follows", 2, {
      select: mutualFollows,
      take: into("mutual_follows", "fid, other_fid, since"),
    }),
  ),
  indexesOf(1, "follow_counts", "mutual_follows"),
  oneStep("profiles", 1, ({ db }) => {
    db.run(fillVerifications);
    db.run(fillLends);
    for (const table of ["bulk_verifications", "bulk_lends"]) dropTable(db, table);
  }),
  indexesOf(1, "verifications"),
];

/** Runs before the missing casts that only dropped messages named are dropped. */
export const QUOTE_STAGE: BulkStage = sortedSlices("quotes", 1, {
  select: quotes,
  take: into("cast_quotes", "quoted_id, cast_id"),
  finish: ({ db }) => dropTable(db, "bulk_quotes"),
});
