import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { channelIdOf } from "../../protocol/channel-url.ts";
import type { Hash, StoredCast } from "./casts.ts";
import {
  type ChannelRelation,
  loadChannelRelations,
  type RelationQuery,
  relationOf,
} from "./channel-relations.ts";
import { type ChannelState, protocolOf } from "./channels.ts";

const channelRows = statement<{ id: string }, [viewerFid: number, idsJson: string]>(
  "hydrate.viewer.channels",
  `SELECT m.channel_id AS id FROM json_each(?2) j
   CROSS JOIN channel_members m ON m.channel_id = j.value AND m.fid = ?1`,
);

/** What the viewer and the authors of casts are to the channels of a response. */
export interface ShownRelations {
  /** By the ids of channels; absent for nothing. In a channel that is not registered, a user with live casts is a member and follows. */
  readonly viewer: ReadonlyMap<string, ChannelRelation>;
  /** By the hashes of casts in registered channels. */
  readonly authors: ReadonlyMap<Hash, ChannelRelation>;
}

const NONE: ShownRelations = { viewer: new Map(), authors: new Map() };

/** @param shown.casts those whose authors are asked about. */
export function loadShownRelations(
  db: IndexDatabase,
  viewerFid: number | undefined,
  shown: { readonly channels: ReadonlyMap<string, ChannelState>; readonly casts: Iterable<StoredCast> },
): ShownRelations {
  if (shown.channels.size === 0) return NONE;
  const viewer = new Map<string, ChannelRelation>();
  const authors = new Map<Hash, ChannelRelation>();
  const queries: RelationQuery[] = [];
  const found: ((relation: ChannelRelation) => void)[] = [];
  const others: string[] = [];
  for (const [id, state] of viewerFid === undefined ? [] : shown.channels) {
    const channel = protocolOf(state);
    if (!channel) others.push(id);
    else {
      queries.push({ fid: viewerFid ?? 0, channel });
      found.push((relation) => viewer.set(id, relation));
    }
  }
  for (const { hash, fid, rootParentUrl } of shown.casts) {
    if (rootParentUrl === null) continue;
    const channel = protocolOf(shown.channels.get(channelIdOf(rootParentUrl)));
    if (!channel) continue;
    queries.push({ fid, channel });
    found.push((relation) => authors.set(hash, relation));
  }
  for (const [at, relation] of loadChannelRelations(db, queries).entries()) found[at]?.(relation);
  if (viewerFid !== undefined && others.length > 0) {
    for (const { id } of db.all(channelRows, viewerFid, JSON.stringify(others)))
      viewer.set(id, relationOf(true, "member"));
  }
  return { viewer, authors };
}
