import { hash as digest } from "node:crypto";
import type { IndexDatabase } from "../db/index/database.ts";
import { type BlockRef, type OutboxEvent, putEvent } from "../db/index/log/outbox.ts";
import { findCast, type ThreadRoot, threadRootOf } from "../db/index/project/casts.ts";
import { FOLLOW } from "../db/index/project/links.ts";
import { type ChannelChange, encodeChannelChange } from "../protocol/channels/change.ts";
import type { EventKind } from "../protocol/event-kind.ts";
import type { SignedMessage } from "../protocol/message/signed-message.ts";
import { toUnixSecs } from "../protocol/time.ts";
import { MessageType, UserNameProof } from "../protocol/wire/generated/message.ts";
import type { ChangedMessage, ChangeTracker, SlotChange } from "./merge/change-tracker.ts";
import { followChange } from "./merge/channel-changes.ts";
import type { IngestRecord } from "./record.ts";

/** A change older than this when it arrives counts as history and produces no event. */
export const MAX_EVENT_AGE_SECS = 900;

const EVENT_ID_BYTES = 16;

/** The record or operation that an event results from. */
export interface EventCause {
  /** When it happened on the network, in Unix seconds. */
  readonly happenedAt: number;
  /** Bytes that identify it, the same on every node. */
  readonly reference: () => Uint8Array;
  /** The block of the followed node that contains it. */
  readonly block?: BlockRef | undefined;
}

export function isHistory(cause: Pick<EventCause, "happenedAt">, nowSecs: number): boolean {
  return nowSecs - cause.happenedAt > MAX_EVENT_AGE_SECS;
}

/** Returns a record as the cause of the changes that merging it makes. */
export function causeOf(record: IngestRecord): EventCause {
  switch (record.kind) {
    case "message": {
      const { data, hash } = record.message;
      return { happenedAt: toUnixSecs(data.timestamp), reference: () => hash };
    }
    case "onChainEvent": {
      const { type, fid, blockNumber, logIndex, blockTimestamp } = record.event;
      return {
        happenedAt: blockTimestamp,
        reference: () => Buffer.from(`${type}:${fid}:${blockNumber}:${logIndex}`),
      };
    }
    case "usernameProof":
      return {
        happenedAt: record.proof.timestamp,
        reference: () => UserNameProof.encode(record.proof).finish(),
      };
  }
}

/**
 * Writes the events of an operation's changes in its transaction, and returns how many there are. A cast, follow or reaction
 * that replaces an equal one is not an event. A user has at most one event per operation.
 */
export function writeEvents(
  db: IndexDatabase,
  changes: ChangeTracker,
  cause: EventCause,
  nowSecs: number,
): number {
  if (!changes.isTracking) return 0;
  const updated = new Set(changes.updatedUsers);
  let written = 0;
  const write = (event: Omit<OutboxEvent, "happenedAt" | "appliedAt" | "block">) => {
    const block = cause.block ?? null;
    putEvent(db, { ...event, happenedAt: cause.happenedAt, appliedAt: nowSecs, block });
    written++;
  };
  const aboutChannel = (change: ChannelChange, reference: Uint8Array) => {
    const { kind } = change;
    const fid = change.actorFid ?? 0;
    write({
      kind,
      fid,
      eventId: eventIdOf(kind, fid, reference),
      subject: encodeChannelChange(change),
      root: null,
    });
  };
  for (const slot of changes.slots()) {
    const follow = followOf(db, slot, cause);
    if (follow) aboutChannel(follow.change, follow.reference);
    const { before, after } = visible(slot);
    const changed = after ?? before;
    const topic = changed && topicOf(changed.message);
    if (!changed || !topic) continue;
    const { data, hash } = changed.message;
    if (topic === "user") {
      if (!before || !after || isOtherValue(before.message, after.message)) updated.add(data.fid);
    } else if (!before || !after) {
      const kind: EventKind = `${topic}.${after ? "created" : "deleted"}`;
      const root = after ? rootOf(db, after.message) : (changed.root ?? null);
      write({ kind, fid: data.fid, eventId: eventIdOf(kind, data.fid, hash), subject: changed.bytes, root });
    }
  }
  for (const { change, reference } of changes.channels) aboutChannel(change, Buffer.from(reference));
  const aboutUser = (kind: EventKind, fid: number) =>
    write({ kind, fid, eventId: eventIdOf(kind, fid, cause.reference()), subject: null, root: null });
  for (const fid of changes.createdUsers) aboutUser("user.created", fid);
  for (const fid of updated) if (!changes.createdUsers.has(fid)) aboutUser("user.updated", fid);
  return written;
}

/** Returns the follow of a channel that a slot's change starts or ends. Replacing an equal follow does neither. */
function followOf(db: IndexDatabase, { before, after }: SlotChange, cause: EventCause) {
  const changed = after ?? before;
  if (changed?.message.data.body?.$case !== "reactionBody") return undefined;
  const created = after && followChange(db, after.message, "channel.follow.created", timeOf(after));
  const deleted = before && followChange(db, before.message, "channel.follow.deleted", cause.happenedAt);
  if (Boolean(created) === Boolean(deleted)) return undefined;
  const change = created ?? deleted;
  const reference = created ? after?.message.hash : before?.message.hash;
  return change && reference ? { change, reference } : undefined;
}

function timeOf({ message }: ChangedMessage): number {
  return toUnixSecs(message.data.timestamp);
}

/** Returns the visible change of a slot: a remove message is as invisible as an empty slot. */
function visible({ before, after }: SlotChange): SlotChange {
  const ifVisible = (changed: ChangedMessage | undefined) =>
    changed && topicOf(changed.message) ? changed : undefined;
  return { before: ifVisible(before), after: ifVisible(after) };
}

/** Returns the subject of a live message's events, or undefined if it has none. */
function topicOf({ data }: SignedMessage): "cast" | "follow" | "reaction" | "user" | undefined {
  switch (data.type) {
    case MessageType.MESSAGE_TYPE_CAST_ADD:
      return "cast";
    case MessageType.MESSAGE_TYPE_REACTION_ADD:
      return "reaction";
    case MessageType.MESSAGE_TYPE_LINK_ADD:
      return data.body?.$case === "linkBody" && data.body.value.type === FOLLOW ? "follow" : undefined;
    case MessageType.MESSAGE_TYPE_USER_DATA_ADD:
      // An empty value unsets the field.
      return fieldValue(data) === "" ? undefined : "user";
    case MessageType.MESSAGE_TYPE_VERIFICATION_ADD:
    case MessageType.MESSAGE_TYPE_USERNAME_PROOF:
      return "user";
    default:
      return undefined;
  }
}

function isOtherValue(before: SignedMessage, after: SignedMessage): boolean {
  return fieldValue(before.data) !== fieldValue(after.data);
}

/** Returns the value of user data, and "" for other messages, whose presence is their only value. */
function fieldValue({ body }: SignedMessage["data"]): string {
  return body?.$case === "userDataBody" ? body.value.value : "";
}

function rootOf(db: IndexDatabase, { data, hash }: SignedMessage): ThreadRoot | null {
  const row = data.body?.$case === "castAddBody" ? findCast(db, data.fid, hash) : undefined;
  return row ? threadRootOf(db, row) : null;
}

/** Returns the id of an event. It is the same on every node, so that receivers and queues can detect duplicates. */
function eventIdOf(kind: EventKind, fid: number, reference: Uint8Array): Uint8Array {
  const identity = Buffer.concat([Buffer.from(`${kind}\0${fid}\0`), reference]);
  return digest("sha256", identity, "buffer").subarray(0, EVENT_ID_BYTES);
}
