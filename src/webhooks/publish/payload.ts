import type { IndexDatabase } from "../../db/index/database.ts";
import { HydrationCache } from "../../read/hydrate/cache.ts";
import { type CastContent, type CastState, type Hash, withCounts } from "../../read/hydrate/casts.ts";
import { type Hydration, type HydrationRequest, hydrate } from "../../read/hydrate/hydrate.ts";
import { presentCast, presentCastState } from "../../read/present/native/cast.ts";
import { presentUser } from "../../read/present/native/user.ts";
import type { FollowEvent, NodeEvent, ReactionEvent } from "./event.ts";

/**
 * The bodies that events are sent with, by event: each once, whatever the number of receivers, with everything that they
 * show loaded in a few statements. An event has none when it is about somebody whose registration never came.
 */
export function buildBodies(
  db: IndexDatabase,
  events: readonly NodeEvent[],
  nowSecs: number,
): Map<NodeEvent, string> {
  const contents = events.flatMap((event) => ("cast" in event ? [event.cast] : []));
  const providedCasts = withCounts(db, contents);
  const request: HydrationRequest = {
    fids: events.flatMap(fidsOf),
    hashes: events.flatMap(targetsOf),
    providedCasts,
  };
  const hydration = hydrate(db, request, nowSecs, new HydrationCache());
  // Not by hash: a cast that came and went between two looks is two events, perhaps of two threads.
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
  return "targetFid" in event ? [event.fid, event.targetFid] : [event.fid];
}

function targetsOf(event: NodeEvent): Hash[] {
  return "target" in event && event.target ? [event.target.hash] : [];
}

function dataOf(
  event: NodeEvent,
  hydration: Hydration,
  given: ReadonlyMap<CastContent, CastState | undefined>,
) {
  switch (event.kind) {
    case "cast.created":
    case "cast.deleted": {
      const cast = given.get(event.cast);
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
  }
}

/** `target_user` is null for an fid that does not exist: anybody may follow any number. */
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

/** `cast` is null for a URL and for a cast that is not live; so it is for a cast id with another author's fid. */
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
