import type { IndexDatabase } from "../../src/db/index/database.ts";
import { deleteEventsUpTo, eventsAfter, type StoredOutboxEvent } from "../../src/db/index/log/outbox.ts";
import { Message, MessageData } from "../../src/protocol/wire/generated/message.ts";

/** Removes and returns the events in the outbox. */
export function takeEvents(db: IndexDatabase): StoredOutboxEvent[] {
  const events = eventsAfter(db, 0, 100_000);
  deleteEventsUpTo(db, events.at(-1)?.seq ?? 0);
  return events;
}

/** Describes an event in a few words: its kind, its fid, and its subject. */
export function inWords({ kind, fid, subject }: StoredOutboxEvent): string {
  return [kind, fid, ...(subject ? [saidBy(subject)] : [])].join(" ");
}

function saidBy(bytes: Uint8Array): string {
  const { body } = MessageData.decode(Message.decode(bytes).dataBytes ?? new Uint8Array());
  switch (body?.$case) {
    case "castAddBody":
      return body.value.text;
    case "linkBody":
      return `${body.value.type} ${body.value.target?.value}`;
    case "reactionBody": {
      const { type, target } = body.value;
      const aim = target?.$case === "targetCastId" ? target.value.fid : target?.value;
      return `${type} ${aim}`;
    }
    default:
      return body?.$case ?? "nothing";
  }
}
