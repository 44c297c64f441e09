import type { StoredOutboxEvent } from "../db/index/log/outbox.ts";
import { embedsOf, mentionsOf, type ThreadRoot } from "../db/index/project/casts.ts";
import { linkedAtOf } from "../db/index/project/links.ts";
import { type ChannelChange, decodeChannelChange } from "../protocol/channels/change.ts";
import { type ChannelEventKind, isChannelEvent } from "../protocol/event-kind.ts";
import { decodeMessage, type SignedMessage } from "../protocol/message/signed-message.ts";
import { toUnixSecs } from "../protocol/time.ts";
import type { CastAddBody, ReactionType } from "../protocol/wire/generated/message.ts";
import { type CastContent, type Hash, hex } from "../read/hydrate/casts.ts";

interface Event {
  /** Hex. */
  readonly eventId: string;
  /** When the node applied it, in unix seconds. */
  readonly appliedAt: number;
}

export interface CastEvent extends Event {
  readonly kind: "cast.created" | "cast.deleted";
  /** The cast at its creation or deletion. */
  readonly cast: CastContent;
}

export interface FollowEvent extends Event {
  readonly kind: "follow.created" | "follow.deleted";
  readonly fid: number;
  readonly targetFid: number;
  /** Time of the follow or unfollow, in unix seconds. */
  readonly timestamp: number;
}

export interface ReactionEvent extends Event {
  readonly kind: "reaction.created" | "reaction.deleted";
  readonly fid: number;
  readonly type: ReactionType;
  /** Undefined when the target is a URL. */
  readonly target: { readonly fid: number; readonly hash: Hash } | undefined;
  /** Time of the reaction or its removal, in unix seconds. */
  readonly timestamp: number;
}

export interface ChannelEvent extends Event {
  readonly kind: ChannelEventKind;
  readonly change: ChannelChange;
}

export interface UserEvent extends Event {
  readonly kind: "user.created" | "user.updated";
  readonly fid: number;
}

/** An event of the outbox. */
export type NodeEvent = CastEvent | FollowEvent | ReactionEvent | UserEvent | ChannelEvent;

/** @throws for a row that this version of the node cannot read. */
export function readEvent(row: StoredOutboxEvent): NodeEvent {
  const { kind, fid, appliedAt, happenedAt } = row;
  const common = { eventId: row.eventId.toHex(), appliedAt };
  if (kind === "user.created" || kind === "user.updated") return { ...common, kind, fid };
  if (isChannelEvent(kind)) return { ...common, kind, change: changeOf(row) };
  const message = subjectOf(row);
  const { data } = message;
  const body = data.body;
  if ((kind === "cast.created" || kind === "cast.deleted") && body?.$case === "castAddBody")
    return { ...common, kind, cast: contentOf(message, body.value, row.root) };
  if ((kind === "follow.created" || kind === "follow.deleted") && body?.$case === "linkBody") {
    const timestamp = kind === "follow.created" ? linkedAtOf(data, body.value) : happenedAt;
    return { ...common, kind, fid, targetFid: body.value.target?.value ?? 0, timestamp };
  }
  if ((kind === "reaction.created" || kind === "reaction.deleted") && body?.$case === "reactionBody") {
    const { type, target } = body.value;
    const cast = target?.$case === "targetCastId" ? target.value : undefined;
    const timestamp = kind === "reaction.created" ? toUnixSecs(data.timestamp) : happenedAt;
    return { ...common, kind, fid, type, target: cast && { fid: cast.fid, hash: hex(cast.hash) }, timestamp };
  }
  throw new Error(`outbox row ${row.seq} (${kind}) has a subject of another kind`);
}

function changeOf({ seq, subject }: StoredOutboxEvent): ChannelChange {
  if (subject === null) throw new Error(`outbox row ${seq} has no subject`);
  return decodeChannelChange(subject);
}

function subjectOf({ seq, subject }: StoredOutboxEvent): SignedMessage {
  const message = subject === null ? undefined : decodeMessage(subject);
  if (message === undefined) throw new Error(`outbox row ${seq} has no subject`);
  if (!message.ok) throw new Error(`outbox row ${seq} is unreadable: ${message.error.reason}`);
  return message.value;
}

function contentOf({ data, hash }: SignedMessage, body: CastAddBody, root: ThreadRoot | null): CastContent {
  const parent = body.parent?.$case === "parentCastId" ? body.parent.value : undefined;
  return {
    hash: hex(hash),
    fid: data.fid,
    timestamp: toUnixSecs(data.timestamp),
    text: body.text,
    parent: parent && { fid: parent.fid, hash: hex(parent.hash) },
    parentUrl: body.parent?.$case === "parentUrl" ? body.parent.value : null,
    threadHash: hex(root?.hash ?? hash),
    rootParentUrl: root?.parentUrl ?? null,
    mentions: mentionsOf(body),
    embeds: embedsOf(body),
  };
}
