import type { MessageData } from "../../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../database.ts";
import type { SplitMessage } from "../messages/columns.ts";
import { addCast, dropCast, dropLostCast, isCastCounted } from "./casts.ts";
import { addLink, dropLink, isLinkCounted } from "./links.ts";
import { addLend, dropLend, hasVerification, isLent } from "./on-chain.ts";
import { addOtherMessage, dropOtherMessage } from "./other-messages.ts";
import { addUsernameProof, addVerification, dropUsernameProof, dropVerification } from "./profile.ts";
import { addReaction, dropReaction, isReactionCounted, targetIdOf } from "./reactions.ts";
import { dropEnvelope, putEnvelope, type StoredMessage } from "./stored-message.ts";
import { addUserData, dropUserData } from "./user-data.ts";

/** Stores a message that became live, with all rows derived from it. `data` is its decoded data. */
export function project(
  db: IndexDatabase,
  { columns, envelope, hash }: SplitMessage,
  data: MessageData,
): void {
  switch (columns.table) {
    case "casts":
      addCast(db, columns, hash, putEnvelope(db, envelope));
      break;
    case "reactions":
      addReaction(db, columns, putEnvelope(db, envelope));
      break;
    case "links":
      addLink(db, columns, putEnvelope(db, envelope));
      break;
    case "user_data":
      addUserData(db, columns, putEnvelope(db, envelope));
      break;
    case "messages":
      addOtherMessage(db, columns, envelope);
      projectOther(db, data, hash);
  }
}

/** Removes a message that is no longer live. Reverses `project` exactly. */
export function retract(db: IndexDatabase, stored: StoredMessage): void {
  const { row } = stored;
  switch (row.table) {
    case "casts":
      dropCast(db, row);
      break;
    case "reactions":
      dropReaction(db, row);
      break;
    case "links":
      dropLink(db, row);
      break;
    case "user_data":
      dropUserData(db, row);
      break;
    case "messages":
      retractOther(db, stored.message.data);
      dropOtherMessage(db, row);
      return;
  }
  dropEnvelope(db, row.envelopeId);
}

/**
 * Reports whether rows derived from a message exist although its own row does not: the disk lost the row, and the message is
 * still counted. False for a message that was never stored here; undefined if it has no derived rows that could show the
 * difference.
 */
export function isCounted(
  db: IndexDatabase,
  { columns, hash }: SplitMessage,
  { fid, body }: MessageData,
): boolean | undefined {
  switch (columns.table) {
    case "casts":
      return isCastCounted(db, columns, hash);
    case "reactions":
      return isReactionCounted(db, columns);
    case "links":
      return isLinkCounted(db, columns);
    case "user_data":
      return undefined;
    case "messages":
      if (body?.$case === "verificationAddBody") return hasVerification(db, fid, body.value.address);
      return body?.$case === "lendStorageBody" ? isLent(db, fid, body.value.toFid) : undefined;
  }
}

/**
 * Deletes the rows derived from a message that is missing from its own table because the disk lost that row, so that
 * `project` can derive them again. Call it only if the counts still include the message (`isCounted`).
 */
export function retractLost(db: IndexDatabase, { columns, hash }: SplitMessage, data: MessageData): void {
  const envelopeId = 0;
  switch (columns.table) {
    case "casts":
      dropLostCast(db, columns, hash);
      break;
    case "reactions":
      dropReaction(db, { ...columns, targetId: targetIdOf(db, columns), envelopeId });
      break;
    case "links":
      dropLink(db, { ...columns, envelopeId });
      break;
    case "user_data":
      dropUserData(db, { ...columns, envelopeId });
      break;
    case "messages":
      retractOther(db, data);
  }
}

/** Removes, compact states and key operations have no rows of their own. */
function projectOther(db: IndexDatabase, data: MessageData, hash: Uint8Array): void {
  const { body } = data;
  if (body?.$case === "verificationAddBody") addVerification(db, data, body.value);
  else if (body?.$case === "usernameProofBody")
    addUsernameProof(db, body.value, { timestamp: data.timestamp, hash });
  else if (body?.$case === "lendStorageBody") addLend(db, data, body.value);
}

function retractOther(db: IndexDatabase, data: MessageData): void {
  const { body } = data;
  if (body?.$case === "verificationAddBody") dropVerification(db, data, body.value);
  else if (body?.$case === "usernameProofBody") dropUsernameProof(db, body.value);
  else if (body?.$case === "lendStorageBody") dropLend(db, data, body.value);
}
