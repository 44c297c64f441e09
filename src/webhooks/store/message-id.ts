import { createHash } from "node:crypto";

const ID_BYTES = 16;

/** Derives the id of an event's delivery to a webhook; deterministic. */
export function messageIdOf(eventId: string, webhookId: string): string {
  const digest = createHash("sha256").update(`${eventId} ${webhookId}`).digest();
  return `msg_${digest.toString("hex", 0, ID_BYTES)}`;
}
