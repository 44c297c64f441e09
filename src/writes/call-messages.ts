import { err, ok, type Result } from "../lib/result.ts";
import { decodeMessage, encodeMessage, type SignedMessage } from "../protocol/message/signed-message.ts";
import type { MessageOutcome, WriteRefusal } from "./outcome.ts";
import { refusal } from "./refusals.ts";
import type { Positioned } from "./submit-writes.ts";

/** The signed messages of a call, with the outcomes known so far. */
export interface Signed {
  readonly outcomes: readonly MessageOutcome[];
  readonly messages: readonly Positioned[];
}

/** The user that a call writes for, and the messages that arrived already signed. */
export interface Prepared {
  readonly fid: number;
  readonly received?: Signed;
}

/** Decodes the messages of a call, which must be of one user. */
export function decoded(received: readonly Uint8Array[]): Result<Prepared, WriteRefusal> {
  const outcomes: MessageOutcome[] = [];
  const messages: Positioned[] = [];
  for (const [position, sent] of received.entries()) {
    const message = decodeMessage(sent);
    if (!message.ok) return err(refusal(400, "invalid_message", message.error.reason));
    messages.push({ position, message: message.value, bytes: encodeMessage(message.value) });
    outcomes.push(pending(message.value));
  }
  const fid = outcomes[0]?.fid;
  if (fid === undefined) return err(refusal(400, "invalid_message", "there is no message"));
  return ok({ fid, received: { outcomes, messages } });
}

export function pending({ hash, data: { fid, type } }: SignedMessage): MessageOutcome {
  return { hash: hash.toHex(), fid, type, state: "pending" };
}
