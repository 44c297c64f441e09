import type { Hydration } from "../../read/hydrate/hydrate.ts";
import { presentText } from "../../read/present/native/cast.ts";
import type { NodeEvent } from "../publish/event.ts";
import type { EventFacts } from "./facts.ts";

/** Returns the fids whose names `factsOf` inserts into texts. */
export function fidsNamedIn(event: NodeEvent): number[] {
  return "cast" in event ? event.cast.mentions.map(([fid]) => fid) : [];
}

/** Returns the values of an event that filters use; `users` are those that the texts mention. */
export function factsOf(event: NodeEvent, users: Hydration["users"]): EventFacts {
  switch (event.kind) {
    case "cast.created":
    case "cast.deleted": {
      const { cast, kind } = event;
      return {
        kind,
        authorFid: cast.fid,
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
