import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { parentUrlsOf } from "../../protocol/channel-url.ts";

/** The state of a Channel object without its lead. Times are unix seconds. */
export interface ChannelState {
  readonly id: string;
  /**
   * The registry's URL. A channel without a registry entry has the older client's URL, which the registry and most casts
   * use. It does not depend on the host in the casts' URLs.
   */
  readonly url: string;
  readonly name: string;
  readonly imageUrl: string | null;
  readonly description: string | null;
  readonly leadFid: number | null;
  readonly moderatorFids: readonly number[];
  readonly followers: number;
  readonly members: number;
  readonly createdAt: number | null;
  readonly pinnedCastHash: string | null;
}

interface ChannelRow {
  id: string;
  members: number | null;
  firstCastAt: number | null;
  url: string | null;
  name: string | null;
  imageUrl: string | null;
  description: string | null;
  leadFid: number | null;
  moderatorFids: string | null;
  followers: number | null;
  createdAt: number | null;
  pinnedCastHash: string | null;
}

const channelRows = statement<ChannelRow, [idsJson: string]>(
  "hydrate.channels",
  `SELECT j.value AS id, a.members, a.first_cast_at AS firstCastAt, r.url, r.name, r.image_url AS imageUrl,
     r.description, r.lead_fid AS leadFid, r.moderator_fids AS moderatorFids, r.follower_count AS followers,
     r.created_at AS createdAt, r.pinned_cast_hash AS pinnedCastHash
   FROM json_each(?) j
   LEFT JOIN channel_activity a ON a.id = j.value
   LEFT JOIN channel_registry r ON r.id = j.value
   WHERE a.id IS NOT NULL OR r.id IS NOT NULL`,
);

/** Loads the channels among `ids` that exist, through casts or an import, in one statement. */
export function loadChannels(db: IndexDatabase, ids: Iterable<string>): Map<string, ChannelState> {
  const distinct = [...new Set(ids)];
  const channels = new Map<string, ChannelState>();
  if (distinct.length === 0) return channels;
  for (const row of db.all(channelRows, JSON.stringify(distinct))) {
    channels.set(row.id, {
      id: row.id,
      url: row.url ?? canonicalUrl(row.id),
      name: row.name ?? row.id,
      imageUrl: row.imageUrl,
      description: row.description,
      leadFid: row.leadFid,
      moderatorFids: row.moderatorFids === null ? [] : JSON.parse(row.moderatorFids),
      followers: row.followers ?? 0,
      members: row.members ?? 0,
      createdAt: row.createdAt ?? row.firstCastAt,
      pinnedCastHash: row.pinnedCastHash,
    });
  }
  return channels;
}

/** Returns the URL of a channel without a registry entry. */
export function canonicalUrl(channelId: string): string {
  return parentUrlsOf(channelId)[0] ?? channelId;
}
