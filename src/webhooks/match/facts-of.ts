import { scoresOf } from "../../db/index/counts/scores.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import type { Hydration } from "../../read/hydrate/hydrate.ts";
import { loadUsers, type ScoreSource } from "../../read/hydrate/users.ts";
import { presentText } from "../../read/present/native/cast.ts";
import type { NodeEvent } from "../event.ts";
import type { EventFacts } from "./facts.ts";

/**
 * Returns the values of events that filters use.
 *
 * @param scores undefined if `minimum_author_score` has no effect
 */
export function loadFacts(
  db: IndexDatabase,
  events: readonly NodeEvent[],
  scores: ScoreSource | undefined,
): EventFacts[] {
  const users = loadUsers(db, events.flatMap(fidsNamedIn));
  const authors = scores ? events.flatMap((event) => ("cast" in event ? [event.cast.fid] : [])) : [];
  const known = scores && scoresOf(db, scores.mode, [...new Set(authors)]);
  return events.map((event) => factsOf(event, users, (fid) => known && (known.get(fid) ?? scores.unknown)));
}

/** Returns the fids whose names `factsOf` inserts into texts. */
function fidsNamedIn(event: NodeEvent): number[] {
  return "cast" in event ? event.cast.mentions.map(([fid]) => fid) : [];
}

/** @param users those that the texts mention. */
function factsOf(
  event: NodeEvent,
  users: Hydration["users"],
  scoreOf: (fid: number) => number | undefined,
): EventFacts {
  switch (event.kind) {
    case "cast.created":
    case "cast.deleted": {
      const { cast, kind } = event;
      return {
        kind,
        authorFid: cast.fid,
        authorScore: scoreOf(cast.fid),
        mentionedFids: cast.mentions.map(([fid]) => fid),
        parentUrl: cast.parentUrl,
        rootParentUrl: cast.rootParentUrl,
        parentHash: cast.parent?.hash ?? null,
        parentAuthorFid: cast.parent?.fid ?? null,
        text: presentText(cast, users).text,
        embedUrls: cast.embeds.flatMap((embed) => ("url" in embed ? [embed.url] : [])),
        embeddedCasts: cast.embeds.flatMap((embed) => ("hash" in embed ? [embed] : [])),
      };
    }
    case "follow.created":
    case "follow.deleted":
      return { kind: event.kind, fid: event.fid, targetFid: event.targetFid };
    case "reaction.created":
    case "reaction.deleted":
      return {
        kind: event.kind,
        fid: event.fid,
        targetFid: event.target?.fid ?? null,
        targetHash: event.target?.hash ?? null,
      };
    case "user.created":
    case "user.updated":
      return { kind: event.kind, fid: event.fid };
    default: {
      const { kind, id, channelId, fid, actorFid } = event.change;
      return { kind, channelIds: [id, channelId], fid, actorFid };
    }
  }
}
