import type { IndexDatabase } from "../../index/database.ts";
import { channelIdOf } from "../../protocol/channel-url.ts";
import { type CastState, type Hash, loadCasts } from "./casts.ts";
import { type ChannelState, loadChannels } from "./channels.ts";
import { loadUsers, type UserState } from "./users.ts";

/** All that presentation may look at: what was asked for and what that refers to. */
export interface Hydration {
  readonly users: ReadonlyMap<number, UserState>;
  readonly casts: ReadonlyMap<Hash, CastState>;
  /** By id: those that were named, and those that a cast's thread stands in. */
  readonly channels: ReadonlyMap<string, ChannelState>;
  /** The time of the answer, in unix seconds; decides what has expired. */
  readonly nowSecs: number;
}

/** What a skeleton names. */
export interface Wanted {
  readonly fids?: Iterable<number>;
  readonly hashes?: Iterable<Hash>;
  readonly channelIds?: Iterable<string>;
}

/**
 * Loads everything that the skeleton names and everything that those objects show: quoted casts one level deep,
 * authors and mentioned people, channels and their leads. At most six statements, whatever the number of objects.
 */
export function hydrate(db: IndexDatabase, wanted: Wanted, nowSecs: number): Hydration {
  const casts = loadCasts(db, wanted.hashes ?? []);
  const quoted = loadCasts(db, quotedHashes(casts));
  for (const [hash, cast] of quoted) casts.set(hash, cast);
  const channelIds = new Set(wanted.channelIds ?? []);
  const channels = loadChannels(db, [...channelIds, ...channelsOf(casts)]);
  const fids = new Set(wanted.fids ?? []);
  for (const id of channelIds) {
    const leadFid = channels.get(id)?.leadFid;
    if (leadFid !== undefined && leadFid !== null) fids.add(leadFid);
  }
  for (const cast of casts.values()) {
    fids.add(cast.fid);
    for (const [fid] of cast.mentions) fids.add(fid);
  }
  return { users: loadUsers(db, fids), casts, channels, nowSecs };
}

function* channelsOf(casts: ReadonlyMap<Hash, CastState>): Iterable<string> {
  for (const cast of casts.values()) if (cast.rootParentUrl !== null) yield channelIdOf(cast.rootParentUrl);
}

function* quotedHashes(casts: ReadonlyMap<Hash, CastState>): Iterable<Hash> {
  for (const cast of casts.values()) {
    for (const embed of cast.embeds) if ("hash" in embed && !casts.has(embed.hash)) yield embed.hash;
  }
}
