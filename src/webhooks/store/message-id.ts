import { createHash } from "node:crypto";

const ID_BYTES = 16;

/** What one event is called towards one webhook: whoever works it out, and however often, it is the same. */
export function messageIdOf(eventId: string, webhookId: string): string {
  const digest = createHash("sha256").update(`${eventId} ${webhookId}`).digest();
  return `msg_${digest.toString("hex", 0, ID_BYTES)}`;
}
