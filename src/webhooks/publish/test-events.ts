import type { IndexDatabase } from "../../db/index/database.ts";
import type { EventKind } from "../../protocol/event-kind.ts";
import { ReactionType } from "../../protocol/wire/generated/message.ts";
import type { CastContent } from "../../read/hydrate/casts.ts";
import type { QueuedEvent } from "../store/delivery-publications.ts";
import type { CastEvent, NodeEvent } from "./event.ts";
import { buildBodies } from "./payload.ts";

const HASH_BYTES = 20;
const TEXT = "This is a test of your webhook: nobody cast it.";

/**
 * Creates test events, one for each kind, about an fid and a cast of it that does not exist. They are built like all
 * others, with `test: true` beside `type`.
 */
export function createTestEvents(
  db: IndexDatabase,
  kinds: readonly EventKind[],
  fid: number,
  nowSecs: number,
): Omit<QueuedEvent, "webhookIds">[] {
  const cast = syntheticCast(fid, nowSecs);
  const casting: CastEvent = { kind: "cast.created", eventId: "", appliedAt: nowSecs, cast };
  const events = kinds.map((kind) => eventOf(kind, cast, nowSecs));
  const bodies = buildBodies(db, [casting, ...events], nowSecs);
  const shownCast = JSON.parse(bodies.get(casting) ?? "{}").data ?? null;
  return events.flatMap((event) => {
    const made = bodies.get(event);
    if (made === undefined) return [];
    const { data, ...rest } = JSON.parse(made);
    const shown = event.kind.startsWith("reaction.") ? { ...data, cast: shownCast } : data;
    const body = JSON.stringify({ ...rest, test: true, data: shown });
    return [{ eventId: event.eventId, kind: event.kind, createdAt: nowSecs, body }];
  });
}

function syntheticCast(fid: number, nowSecs: number): CastContent {
  const hash = `0x${crypto.getRandomValues(new Uint8Array(HASH_BYTES)).toHex()}` as const;
  return {
    hash,
    fid,
    timestamp: nowSecs,
    text: TEXT,
    parent: undefined,
    parentUrl: null,
    threadHash: hash,
    rootParentUrl: null,
    mentions: [],
    embeds: [],
  };
}

function eventOf(kind: EventKind, cast: CastContent, nowSecs: number): NodeEvent {
  const { fid, hash } = cast;
  const common = { eventId: `test ${crypto.randomUUID()}`, appliedAt: nowSecs };
  switch (kind) {
    case "cast.created":
    case "cast.deleted":
      return { ...common, kind, cast };
    case "follow.created":
    case "follow.deleted":
      return { ...common, kind, fid, targetFid: fid, timestamp: nowSecs };
    case "reaction.created":
    case "reaction.deleted":
      return {
        ...common,
        kind,
        fid,
        type: ReactionType.REACTION_TYPE_LIKE,
        target: { fid, hash },
        timestamp: nowSecs,
      };
    case "user.created":
    case "user.updated":
      return { ...common, kind, fid };
  }
}
