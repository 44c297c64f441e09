import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { channelIdOf } from "../../protocol/channel-url.ts";
import { channelAliases } from "../channel-names.ts";
import { type HydrationCache, readThrough } from "./cache.ts";
import type { CastState, Hash, StoredCast } from "./casts.ts";
import {
  type ChannelRelation,
  loadChannelRelations,
  type RelationQuery,
  relationOf,
} from "./channel-relations.ts";
import { type ChannelState, channelAt, loadChannels, protocolOf } from "./channels.ts";
import type { PreviewApp, PreviewMetadata, PreviewSource } from "./previews.ts";
import { type HiddenReason, type OwnerRules, openRelations } from "./relations.ts";
import { loadUsers, type UserState } from "./users.ts";
import { loadViewerContexts, type ViewerContexts } from "./viewer.ts";

/** The input of presenters: the requested objects and the objects that they refer to. */
export interface Hydration {
  readonly users: ReadonlyMap<number, UserState>;
  readonly casts: ReadonlyMap<Hash, CastState>;
  /** The casts that were requested by id. */
  readonly castsById: ReadonlyMap<number, CastState>;
  /**
   * The requested channels, and the channels of the casts' threads, by id. A registered channel is also listed under the URI
   * of its token, if a cast or the request names it that way.
   */
  readonly channels: ReadonlyMap<string, ChannelState>;
  /**
   * Relations of authors to the registered channels of their casts, by the casts' hashes. Only if the request asks for them.
   */
  readonly authorRelations: ReadonlyMap<Hash, ChannelRelation>;
  /** Time of the read in Unix seconds, which decides what has expired. */
  readonly nowSecs: number;
  /** Hydrations with the same version show the same state of the index in the same second. */
  readonly version: number;
  /** Undefined for a read without a viewer. */
  readonly viewer: ViewerContexts | undefined;
  /**
   * Why authors of the casts are hidden from the reader. Casts that quote theirs are shown without the quote. Undefined if
   * no one is hidden.
   */
  readonly hidden: ReadonlyMap<number, HiddenReason> | undefined;
  /** By the URLs that the casts embed. Undefined while previews are off. */
  readonly previews: ReadonlyMap<string, PreviewMetadata> | undefined;
  /** Mini apps among the previews, by the same URLs. */
  readonly apps: ReadonlyMap<string, PreviewApp>;
}

/** The objects that a skeleton names. */
export interface HydrationRequest {
  readonly fids?: Iterable<number>;
  /** Casts found by a query. */
  readonly castIds?: Iterable<number>;
  /** Casts named by a client. */
  readonly hashes?: Iterable<Hash>;
  readonly channelIds?: Iterable<string>;
  /** The viewer of the objects. The viewer's relations to each of them are loaded too. */
  readonly viewerFid?: number | undefined;
  /** Whether to load the relations of authors to the channels of their casts. */
  readonly withAuthorRelations?: boolean;
  /** The lists of the owner of the request's API key. */
  readonly owner?: OwnerRules | undefined;
  /** Whether to leave out quotes of hidden accounts. */
  readonly withoutHiddenQuotes?: boolean;
  /** Undefined while previews are off. */
  readonly previews?: PreviewSource | undefined;
  /**
   * Casts that the caller provides, live or not. The objects they refer to are loaded; the casts themselves are not added to
   * `casts`.
   */
  readonly providedCasts?: readonly CastState[];
}

/**
 * Loads the objects that the skeleton names and the objects that they show: quoted casts one level deep, authors and
 * mentioned users, channels and their leads, the apps of auth addresses. Runs at most six statements for any number of
 * objects, plus five for a viewer, three for apps, and two or three where channels are registered.
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
  // Sets and maps are filled one by one, because the engine copies an iterable much more slowly.
  const channelIds = new Set<string>();
  const fids = new Set<number>();
  for (const id of request.channelIds ?? []) channelIds.add(id);
  for (const fid of request.fids ?? []) fids.add(fid);
  const requestedChannels = channelIds.size;
  for (const { fid, mentions, rootParentUrl } of referring) {
    fids.add(fid);
    for (const [mentioned] of mentions) fids.add(mentioned);
    if (rootParentUrl !== null) channelIds.add(channelIdOf(rootParentUrl));
  }
  const previews = request.previews?.of(embeddedUrls(referring));
  const apps = previews ? appsAmong(previews, request.previews) : NO_APPS;
  for (const { authorFid } of apps.values()) if (authorFid !== undefined) fids.add(authorFid);
  const channels = channelsAt(db, channelIds, nowSecs, cache);
  let at = 0;
  for (const id of channelIds) {
    if (at++ === requestedChannels) break;
    const leadFid = channels.get(id)?.leadFid;
    if (leadFid !== undefined && leadFid !== null) fids.add(leadFid);
  }
  const users = readThrough(cache.users, fids, (missing) => loadUsers(db, missing, cache.scores));
  const { viewerFid } = request;
  const relations = loadShownRelations(db, viewerFid, {
    channels,
    casts: request.withAuthorRelations ? casts.values() : [],
  });
  const viewer =
    viewerFid === undefined
      ? undefined
      : loadViewerContexts({ db, cache }, viewerFid, request.owner, {
          fids: users.keys(),
          casts: casts.values(),
          channels: relations.viewer,
        });
  const appFids = authAppsOf(users);
  if (appFids.size > 0) {
    const apps = readThrough(cache.users, appFids, (missing) => loadUsers(db, missing, cache.scores));
    for (const [fid, app] of apps) users.set(fid, app);
  }
  return {
    users,
    casts,
    castsById,
    channels,
    authorRelations: relations.authors,
    nowSecs,
    version: cache.versionAt(nowSecs),
    viewer,
    hidden: hiddenAuthors({ db, cache }, request, casts),
    previews,
    apps,
  };
}

function* embeddedUrls(casts: Iterable<CastState>): Generator<string> {
  for (const { embeds } of casts) for (const embed of embeds) if ("url" in embed) yield embed.url;
}

const NO_APPS: ReadonlyMap<string, PreviewApp> = new Map();

function appsAmong(
  previews: ReadonlyMap<string, PreviewMetadata>,
  source: PreviewSource | undefined,
): ReadonlyMap<string, PreviewApp> {
  const apps = new Map<string, PreviewApp>();
  for (const [url, { frame }] of previews) {
    const app = frame && source?.appOf?.(url);
    if (app) apps.set(url, app);
  }
  return apps;
}

/** Returns why authors of quoted casts are hidden from the reader; undefined if none are. */
function hiddenAuthors(
  source: { readonly db: IndexDatabase; readonly cache: HydrationCache },
  { viewerFid, owner, withoutHiddenQuotes }: HydrationRequest,
  casts: ReadonlyMap<Hash, StoredCast>,
): ReadonlyMap<number, HiddenReason> | undefined {
  if (!withoutHiddenQuotes || (viewerFid === undefined && owner === undefined)) return undefined;
  const relations = openRelations(source, viewerFid, owner);
  if (!relations) return undefined;
  const quoted = new Set<number>();
  for (const { embeds } of casts.values())
    for (const embed of embeds) if ("hash" in embed) quoted.add(embed.fid);
  if (quoted.size === 0) return undefined;
  relations.load(quoted);
  const reasons = [...quoted].flatMap((fid) => {
    const reason = relations.reasonFor(fid);
    return reason ? [[fid, reason] as const] : [];
  });
  return reasons.length > 0 ? new Map(reasons) : undefined;
}

/** Returns the apps of the users' auth addresses that are not among the users. */
function authAppsOf(users: ReadonlyMap<number, UserState>): Set<number> {
  const apps = new Set<number>();
  for (const { authAddresses } of users.values())
    for (const { appFid } of authAddresses) if (!users.has(appFid)) apps.add(appFid);
  return apps;
}

/** Loads channels as shown at a time, by the ids that name them. */
function channelsAt(
  db: IndexDatabase,
  ids: ReadonlySet<string>,
  nowSecs: number,
  cache: HydrationCache,
): Map<string, ChannelState> {
  const aliases = channelAliases(db, ids);
  const named = aliases.size === 0 ? ids : [...ids].map((id) => aliases.get(id) ?? id);
  const stored = readThrough(cache.channels, named, (missing) => loadChannels(db, missing));
  const channels = new Map<string, ChannelState>();
  for (const [id, channel] of stored) channels.set(id, channelAt(channel, nowSecs));
  for (const [alias, id] of aliases) {
    const channel = channels.get(id);
    if (channel) channels.set(alias, channel);
  }
  return channels;
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

const channelRows = statement<{ id: string }, [viewerFid: number, idsJson: string]>(
  "hydrate.viewer.channels",
  `SELECT m.channel_id AS id FROM json_each(?2) j
   CROSS JOIN channel_members m ON m.channel_id = j.value AND m.fid = ?1`,
);

/** Relations of the viewer and of the casts' authors to the channels of a response. */
interface ShownRelations {
  /**
   * By channel id; absent if there is no relation. In a channel that is not registered, a user with live casts is a member
   * and follows it.
   */
  readonly viewer: ReadonlyMap<string, ChannelRelation>;
  /** By the hashes of casts in registered channels. */
  readonly authors: ReadonlyMap<Hash, ChannelRelation>;
}

const NONE: ShownRelations = { viewer: new Map(), authors: new Map() };

/** @param shown.casts the casts whose authors' relations are loaded. */
function loadShownRelations(
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
