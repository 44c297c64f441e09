import type { IndexDatabase } from "../../db/index/database.ts";
import type { ChannelChange } from "../../protocol/channels/change.ts";
import { channelIdOfKey } from "../../protocol/channels/registrations.ts";
import { modesOf } from "../../protocol/channels/slots.ts";
import type { ChannelEventKind, EventKind } from "../../protocol/event-kind.ts";
import { ReactionType } from "../../protocol/wire/generated/message.ts";
import type { CastContent } from "../../read/hydrate/casts.ts";
import { type ChannelState, canonicalUrl } from "../../read/hydrate/channels.ts";
import type { CastEvent, NodeEvent } from "../event.ts";
import type { QueuedEvent } from "../store/delivery-publications.ts";
import { buildBodies } from "./payload.ts";

const HASH_BYTES = 20;
const TEXT = "This is a test of your webhook: nobody cast it.";

/**
 * Creates test events, one per kind, about an fid and a cast of it that does not exist. They are built like all others, with `test: true`
 * next to `type`.
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
  const channel = syntheticChannel(fid, nowSecs);
  const bodies = buildBodies(db, [casting, ...events], nowSecs, new Map([[channel.id, channel]]));
  const shownCast = JSON.parse(bodies.get(casting) ?? "{}").data ?? null;
  return events.flatMap((event) => {
    const made = bodies.get(event);
    if (made === undefined) return [];
    const { data, ...rest } = JSON.parse(made);
    const shown = "cast" in data ? { ...data, cast: shownCast } : data;
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

const CHANNEL = "webhook-test";
const YEAR_SECS = 365 * 86_400;

/** Returns a channel of the fid that is not registered. */
function syntheticChannel(fid: number, nowSecs: number): ChannelState {
  return {
    id: CHANNEL,
    url: canonicalUrl(CHANNEL),
    name: CHANNEL,
    imageUrl: null,
    description: null,
    leadFid: fid,
    moderatorFids: [fid],
    followers: 1,
    members: 1,
    createdAt: nowSecs,
    pinnedCastHash: null,
    source: "protocol",
    registered: {
      channelId: channelIdOfKey(CHANNEL),
      ownerAddress: "0x0000000000000000000000000000000000000000",
      ownerFid: fid,
      expiresAt: nowSecs + YEAR_SECS,
      header: null,
      rules: null,
      ...modesOf(undefined),
    },
    isLapsed: false,
  };
}

function changeOf(kind: ChannelEventKind, { fid, hash }: CastContent, timestamp: number): ChannelChange {
  const channelId = `0x${channelIdOfKey(CHANNEL).toHex()}` as const;
  const common = { kind, id: CHANNEL, channelId, fid, actorFid: fid, timestamp };
  switch (kind) {
    case "channel.updated":
      return { ...common, changed: ["name"] };
    case "channel.pinned":
    case "channel.unpinned":
      return { ...common, castHash: hash };
    case "cast.moderated":
      return { ...common, castHash: hash, isHidden: true };
    case "channel.member.added":
      return { ...common, role: "member", previousRole: null };
    case "channel.moderator.added":
      return { ...common, role: "moderator", previousRole: "member" };
    case "channel.moderator.removed":
      return { ...common, role: "member", previousRole: "moderator" };
    case "channel.member.removed":
    case "channel.member.banned":
      return { ...common, role: null, previousRole: "member" };
    default:
      return common;
  }
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
    default:
      return { ...common, kind, change: changeOf(kind, cast, nowSecs) };
  }
}
