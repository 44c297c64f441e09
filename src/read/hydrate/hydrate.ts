import type { IndexDatabase } from "../../db/index/database.ts";
import { channelIdOf } from "../../protocol/channel-url.ts";
import { type HydrationCache, readThrough } from "./cache.ts";
import { type CastState, type Hash, loadCasts } from "./casts.ts";
import { type ChannelState, loadChannels } from "./channels.ts";
import { loadUsers, type UserState } from "./users.ts";
import { loadViewerContexts, type ViewerContexts } from "./viewer.ts";

/** All that presentation may look at: what was asked for and what that refers to. */
export interface Hydration {
  readonly users: ReadonlyMap<number, UserState>;
  readonly casts: ReadonlyMap<Hash, CastState>;
  /** By id: those that were named, and those that a cast's thread stands in. */
  readonly channels: ReadonlyMap<string, ChannelState>;
  /** The time of the answer, in unix seconds; decides what has expired. */
  readonly nowSecs: number;
  /** Undefined where nobody in particular asks. */
  readonly viewer: ViewerContexts | undefined;
}

/** What a skeleton names. */
export interface HydrationRequest {
  readonly fids?: Iterable<number>;
  readonly hashes?: Iterable<Hash>;
  readonly channelIds?: Iterable<string>;
  /** For whom the objects are shown; how the viewer stands to each of them is loaded too. */
  readonly viewerFid?: number | undefined;
  /** Casts that the caller has already, live or not: what they refer to is loaded, they themselves are not in `casts`. */
  readonly providedCasts?: readonly CastState[];
}

/**
 * Loads everything that the skeleton names and everything that those objects show: quoted casts one level deep,
 * authors and mentioned people, channels and their leads, the apps of auth addresses. At most six statements, whatever the
 * number of objects, three more for a viewer and three for such apps.
 */
export function hydrate(
  db: IndexDatabase,
  wanted: HydrationRequest,
  nowSecs: number,
  cache: HydrationCache,
): Hydration {
  const castsOf = (hashes: Iterable<Hash>) =>
    readThrough(cache.casts, hashes, (missing) => loadCasts(db, missing));
  const casts = castsOf(wanted.hashes ?? []);
  const given = wanted.providedCasts ?? [];
  const quoted = castsOf(quotedHashes([...casts.values(), ...given], casts));
  for (const [hash, cast] of quoted) casts.set(hash, cast);
  const referring = [...casts.values(), ...given];
  const channelIds = new Set(wanted.channelIds ?? []);
  const channels = readThrough(cache.channels, [...channelIds, ...channelsOf(referring)], (missing) =>
    loadChannels(db, missing),
  );
  const fids = new Set(wanted.fids ?? []);
  for (const id of channelIds) {
    const leadFid = channels.get(id)?.leadFid;
    if (leadFid !== undefined && leadFid !== null) fids.add(leadFid);
  }
  for (const cast of referring) {
    fids.add(cast.fid);
    for (const [fid] of cast.mentions) fids.add(fid);
  }
  const users = readThrough(cache.users, fids, (missing) => loadUsers(db, missing));
  const shown = { fids: users.keys(), casts: casts.values(), channelIds: channels.keys() };
  const { viewerFid } = wanted;
  const viewer = viewerFid === undefined ? undefined : loadViewerContexts(db, viewerFid, shown);
  const appFids = new Set(authAppsOf(users.values()));
  if (appFids.size > 0) {
    const apps = readThrough(cache.users, appFids.difference(users), (missing) => loadUsers(db, missing));
    for (const [fid, app] of apps) users.set(fid, app);
  }
  return { users, casts, channels, nowSecs, viewer };
}

function* authAppsOf(users: Iterable<UserState>): Iterable<number> {
  for (const { authAddresses } of users) for (const { appFid } of authAddresses) yield appFid;
}

function* channelsOf(casts: readonly CastState[]): Iterable<string> {
  for (const cast of casts) if (cast.rootParentUrl !== null) yield channelIdOf(cast.rootParentUrl);
}

function* quotedHashes(casts: readonly CastState[], loaded: ReadonlyMap<Hash, CastState>): Iterable<Hash> {
  for (const cast of casts) {
    for (const embed of cast.embeds) if ("hash" in embed && !loaded.has(embed.hash)) yield embed.hash;
  }
}
