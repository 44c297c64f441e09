import type { IndexDatabase } from "../../db/index/database.ts";
import type { ChannelChange } from "../../protocol/channels/change.ts";
import { HydrationCache } from "../../read/hydrate/cache.ts";
import { type CastContent, type CastState, type Hash, withCounts } from "../../read/hydrate/casts.ts";
import type { ChannelState } from "../../read/hydrate/channels.ts";
import { type Hydration, type HydrationRequest, hydrate } from "../../read/hydrate/hydrate.ts";
import { presentCast, presentCastState } from "../../read/present/native/cast.ts";
import { presentChannel } from "../../read/present/native/channel.ts";
import { presentUser } from "../../read/present/native/user.ts";
import type { FollowEvent, NodeEvent, ReactionEvent } from "../event.ts";

const NO_CHANNELS: ReadonlyMap<string, ChannelState> = new Map();

/**
 * Builds the JSON bodies of events, each once for all receivers, with their data loaded in a few statements. An event about an
 * unregistered fid has no body.
 *
 * @param channels channels of the events that are not in the index
 */
export function buildBodies(
  db: IndexDatabase,
  events: readonly NodeEvent[],
  nowSecs: number,
  channels: ReadonlyMap<string, ChannelState> = NO_CHANNELS,
): Map<NodeEvent, string> {
  const contents = events.flatMap((event) => ("cast" in event ? [event.cast] : []));
  const providedCasts = withCounts(db, contents);
  const request: HydrationRequest = {
    fids: events.flatMap(fidsOf),
    hashes: events.flatMap(targetsOf),
    channelIds: events.flatMap((event) => ("change" in event ? [event.change.id] : [])),
    providedCasts,
  };
  const loaded = hydrate(db, request, nowSecs, new HydrationCache());
  const hydration =
    channels.size === 0 ? loaded : { ...loaded, channels: new Map([...loaded.channels, ...channels]) };
  // Not keyed by hash: a cast that was created and deleted between two polls has two events, possibly with two threads.
  const states = new Map(contents.map((content, at) => [content, providedCasts[at]]));
  const bodies = new Map<NodeEvent, string>();
  for (const event of events) {
    const data = dataOf(event, hydration, states);
    if (data) bodies.set(event, JSON.stringify({ created_at: event.appliedAt, type: event.kind, data }));
  }
  return bodies;
}

function fidsOf(event: NodeEvent): number[] {
  if ("cast" in event) return [];
  if ("change" in event) return [event.change.fid, event.change.actorFid].filter((fid) => fid !== null);
  return "targetFid" in event ? [event.fid, event.targetFid] : [event.fid];
}

function targetsOf(event: NodeEvent): Hash[] {
  if ("change" in event) return event.change.castHash ? [event.change.castHash] : [];
  return "target" in event && event.target ? [event.target.hash] : [];
}

function dataOf(
  event: NodeEvent,
  hydration: Hydration,
  input: ReadonlyMap<CastContent, CastState | undefined>,
) {
  switch (event.kind) {
    case "cast.created":
    case "cast.deleted": {
      const cast = input.get(event.cast);
      return cast && presentCastState(cast, hydration);
    }
    case "follow.created":
    case "follow.deleted":
      return presentFollowEvent(event, hydration);
    case "reaction.created":
    case "reaction.deleted":
      return presentReactionEvent(event, hydration);
    case "user.created":
    case "user.updated":
      return presentUser(event.fid, hydration);
    default:
      return presentChannelEvent(event.change, hydration);
  }
}

/** `target_user` is null for an fid that does not exist: a follow may target any number. */
function presentFollowEvent({ kind, fid, targetFid, timestamp }: FollowEvent, hydration: Hydration) {
  const user = presentUser(fid, hydration);
  return (
    user && {
      object: kind === "follow.created" ? "follow" : "unfollow",
      timestamp,
      user,
      target_user: presentUser(targetFid, hydration) ?? null,
    }
  );
}

/** `cast` is null for a URL, for a cast that is not live, and for a cast id with another author's fid. */
function presentReactionEvent({ fid, type, target, timestamp }: ReactionEvent, hydration: Hydration) {
  const user = presentUser(fid, hydration);
  const isLive = target !== undefined && hydration.casts.get(target.hash)?.fid === target.fid;
  return (
    user && {
      object: "reaction",
      timestamp,
      reaction_type: type,
      user,
      cast: isLive ? (presentCast(target.hash, hydration) ?? null) : null,
    }
  );
}

/** Presents a change of a channel, with the channel's current state. Users are null if unknown or not registered. */
function presentChannelEvent(change: ChannelChange, hydration: Hydration) {
  const { kind, timestamp, role = null, previousRole = null } = change;
  const channel = presentChannel(change.id, hydration);
  if (!channel) return undefined;
  const personOf = (fid: number | null) => (fid === null ? null : (presentUser(fid, hydration) ?? null));
  const actor = personOf(change.actorFid);
  const common = { timestamp, channel };
  switch (kind) {
    case "channel.created":
      return { object: "channel_registration" as const, ...common };
    case "channel.updated":
      return { object: "channel_update" as const, ...common, changed: change.changed ?? [], actor };
    case "channel.follow.created":
    case "channel.follow.deleted": {
      const object = kind === "channel.follow.created" ? "channel_follow" : "channel_unfollow";
      return { object, ...common, user: personOf(change.fid) };
    }
    case "channel.pinned":
    case "channel.unpinned":
      return { object: "channel_pin" as const, ...common, ...castOf(change, hydration), actor };
    case "cast.moderated": {
      const hidden = change.isHidden === true;
      return { object: "moderation" as const, ...common, ...castOf(change, hydration), hidden, actor };
    }
    default: {
      const user = personOf(change.fid);
      return { object: "channel_role" as const, ...common, user, role, previous_role: previousRole, actor };
    }
  }
}

/** `cast` is null for one that is not live. */
function castOf({ castHash }: ChannelChange, hydration: Hydration) {
  return {
    cast_hash: castHash ?? null,
    cast: castHash ? (presentCast(castHash, hydration) ?? null) : null,
  };
}
