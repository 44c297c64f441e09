import type { IndexDatabase } from "../../db/index/database.ts";
import { LinkType } from "../../db/index/messages/columns.ts";
import { statement } from "../../db/index/statement.ts";
import { channelIdOf } from "../../protocol/channel-url.ts";
import { ReactionType } from "../../protocol/wire/generated/message.ts";
import { type HydrationCache, readThrough } from "./cache.ts";
import type { CastState, Hash, StoredCast } from "./casts.ts";
import { type ChannelState, loadChannels } from "./channels.ts";
import { loadUsers, type UserState } from "./users.ts";

/** The input of presenters: the requested objects and the objects that they refer to. */
export interface Hydration {
  readonly users: ReadonlyMap<number, UserState>;
  readonly casts: ReadonlyMap<Hash, CastState>;
  /** The casts that were requested by id. */
  readonly castsById: ReadonlyMap<number, CastState>;
  /** By id: the requested channels, and the channels of the casts' threads. */
  readonly channels: ReadonlyMap<string, ChannelState>;
  /** The time of the read in unix seconds, which decides what has expired. */
  readonly nowSecs: number;
  /** Hydrations of the same version show the same state of the index at the same second. */
  readonly version: number;
  /** Undefined for a read without a viewer. */
  readonly viewer: ViewerContexts | undefined;
}

/** The objects that a skeleton names. */
export interface HydrationRequest {
  readonly fids?: Iterable<number>;
  /** Casts that a query found. */
  readonly castIds?: Iterable<number>;
  /** Casts that a client named. */
  readonly hashes?: Iterable<Hash>;
  readonly channelIds?: Iterable<string>;
  /** The viewer of the objects. The viewer's relations to each of them are loaded too. */
  readonly viewerFid?: number | undefined;
  /** Casts that the caller provides, live or not. Objects that they refer to are loaded; they are not in `casts`. */
  readonly providedCasts?: readonly CastState[];
}

/**
 * Loads the objects that the skeleton names and the objects that they show: quoted casts one level deep, authors and
 * mentioned users, channels and their leads, the apps of auth addresses. Runs at most six statements for any number of
 * objects, three more for a viewer and three more for apps.
 */
export function hydrate(
  db: IndexDatabase,
  request: HydrationRequest,
  nowSecs: number,
  cache: HydrationCache,
): Hydration {
  const castsById = cache.castsById(db, request.castIds ?? []);
  const casts: Map<Hash, StoredCast> = cache.castsByHash(db, request.hashes ?? []);
  for (const cast of castsById.values()) casts.set(cast.hash, cast);
  const referring = [...casts.values(), ...(request.providedCasts ?? [])];
  const quoted = quotedHashes(referring, casts);
  if (quoted.size > 0) {
    for (const [hash, cast] of cache.castsByHash(db, quoted)) {
      casts.set(hash, cast);
      referring.push(cast);
    }
  }
  const channelIds = new Set(request.channelIds ?? []);
  const channels = readThrough(cache.channels, channelsOf(referring, channelIds), (missing) =>
    loadChannels(db, missing),
  );
  const fids = new Set(request.fids ?? []);
  for (const id of channelIds) {
    const leadFid = channels.get(id)?.leadFid;
    if (leadFid !== undefined && leadFid !== null) fids.add(leadFid);
  }
  for (const cast of referring) {
    fids.add(cast.fid);
    for (const [fid] of cast.mentions) fids.add(fid);
  }
  const users = readThrough(cache.users, fids, (missing) => loadUsers(db, missing));
  const { viewerFid } = request;
  const viewer =
    viewerFid === undefined
      ? undefined
      : loadViewerContexts(db, viewerFid, {
          fids: users.keys(),
          casts: casts.values(),
          channelIds: channels.keys(),
        });
  const appFids = authAppsOf(users);
  if (appFids.size > 0) {
    const apps = readThrough(cache.users, appFids, (missing) => loadUsers(db, missing));
    for (const [fid, app] of apps) users.set(fid, app);
  }
  return {
    users,
    casts,
    castsById,
    channels,
    nowSecs,
    version: cache.versionAt(nowSecs),
    viewer,
  };
}

/** Returns the apps of the users' auth addresses that are not among the users. */
function authAppsOf(users: ReadonlyMap<number, UserState>): Set<number> {
  const apps = new Set<number>();
  for (const { authAddresses } of users.values())
    for (const { appFid } of authAddresses) if (!users.has(appFid)) apps.add(appFid);
  return apps;
}

function channelsOf(casts: readonly CastState[], requested: ReadonlySet<string>): Set<string> {
  const ids = new Set(requested);
  for (const { rootParentUrl } of casts) if (rootParentUrl !== null) ids.add(channelIdOf(rootParentUrl));
  return ids;
}

function quotedHashes(casts: readonly CastState[], loaded: ReadonlyMap<Hash, CastState>): Set<Hash> {
  const hashes = new Set<Hash>();
  for (const { embeds } of casts)
    for (const embed of embeds) if ("hash" in embed && !loaded.has(embed.hash)) hashes.add(embed.hash);
  return hashes;
}

/** Returns the hash of a cast that was requested by id; `0x`, which no cast has, if it is not live. */
export function hashOf(castId: number, { castsById }: Hydration): Hash {
  return castsById.get(castId)?.hash ?? "0x";
}

/** Returns the hashes of the live casts among those that were requested by id, in the order of `rows`. */
export function hashesOf(rows: readonly { readonly id: number }[], { castsById }: Hydration): Hash[] {
  return rows.flatMap(({ id }) => castsById.get(id)?.hash ?? []);
}

/** The viewer's relations to the objects of a response. */
interface ViewerContexts {
  readonly users: ReadonlyMap<number, UserContext>;
  readonly casts: ReadonlyMap<Hash, CastContext>;
  /** The channels in which the viewer has live casts. */
  readonly channels: ReadonlySet<string>;
}

interface UserContext {
  readonly following: boolean;
  readonly followedBy: boolean;
  readonly blocking: boolean;
  readonly blockedBy: boolean;
}

interface CastContext {
  readonly liked: boolean;
  readonly recasted: boolean;
}

interface UserRow {
  fid: number;
  following: number;
  followedBy: number;
  blocking: number;
  blockedBy: number;
}

const link = (fid: string, type: keyof typeof LinkType, targetFid: string) =>
  `EXISTS (SELECT 1 FROM links l
     WHERE l.fid = ${fid} AND l.type = ${LinkType[type]} AND l.target_fid = ${targetFid})`;
const userRows = statement<UserRow, [viewerFid: number, fidsJson: string]>(
  "hydrate.viewer.users",
  `SELECT j.value AS fid, ${link("?1", "Follow", "j.value")} AS following,
     ${link("j.value", "Follow", "?1")} AS followedBy, ${link("?1", "Block", "j.value")} AS blocking,
     ${link("j.value", "Block", "?1")} AS blockedBy
   FROM json_each(?2) j`,
);

const reaction = (type: ReactionType) =>
  `EXISTS (SELECT 1 FROM reactions r WHERE r.fid = ?1 AND r.target_fid = j.value ->> 0
     AND r.target_id = j.value ->> 1 AND r.type = ${type})`;
const castRows = statement<
  { at: number; liked: number; recasted: number },
  [viewerFid: number, castsJson: string]
>(
  "hydrate.viewer.casts",
  `SELECT j.key AS at, ${reaction(ReactionType.REACTION_TYPE_LIKE)} AS liked,
     ${reaction(ReactionType.REACTION_TYPE_RECAST)} AS recasted
   FROM json_each(?2) j`,
);

const channelRows = statement<{ id: string }, [viewerFid: number, idsJson: string]>(
  "hydrate.viewer.channels",
  `SELECT m.channel_id AS id FROM json_each(?2) j
   CROSS JOIN channel_members m ON m.channel_id = j.value AND m.fid = ?1`,
);

/** Loads a viewer's relations to users, casts and channels, in one statement for each kind. */
function loadViewerContexts(
  db: IndexDatabase,
  viewerFid: number,
  shown: {
    readonly fids: Iterable<number>;
    readonly casts: Iterable<StoredCast>;
    readonly channelIds: Iterable<string>;
  },
): ViewerContexts {
  const users = new Map<number, UserContext>();
  for (const row of db.all(userRows, viewerFid, JSON.stringify([...shown.fids]))) {
    users.set(row.fid, {
      following: row.following === 1,
      followedBy: row.followedBy === 1,
      blocking: row.blocking === 1,
      blockedBy: row.blockedBy === 1,
    });
  }
  const casts = new Map<Hash, CastContext>();
  const shownCasts = [...shown.casts];
  if (shownCasts.length > 0) {
    const json = JSON.stringify(shownCasts.map(({ fid, id }) => [fid, id]));
    for (const { at, liked, recasted } of db.all(castRows, viewerFid, json)) {
      const cast = shownCasts[at];
      if (cast) casts.set(cast.hash, { liked: liked === 1, recasted: recasted === 1 });
    }
  }
  const channelIds = [...shown.channelIds];
  const active = channelIds.length > 0 ? db.all(channelRows, viewerFid, JSON.stringify(channelIds)) : [];
  return { users, casts, channels: new Set(active.map(({ id }) => id)) };
}
