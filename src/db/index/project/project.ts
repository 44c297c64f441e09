import type { SignedMessage } from "../../../protocol/signed-message.ts";
import { MessageType } from "../../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../database.ts";
import { addCast, dropCast } from "./casts.ts";
import { addLend, dropLend } from "./lends.ts";
import { addLink, dropLink } from "./links.ts";
import {
  addUserData,
  addUsernameProof,
  addVerification,
  dropUserData,
  dropUsernameProof,
  dropVerification,
} from "./profile.ts";
import { addReaction, dropReaction } from "./reactions.ts";

/** Adds a message that became live to the read model. Removes, compact states and key operations have no rows there. */
export function project(db: IndexDatabase, message: SignedMessage): void {
  const { data, hash } = message;
  const body = data.body;
  if (body?.$case === "castAddBody") addCast(db, data, body.value, hash);
  else if (body?.$case === "reactionBody" && data.type === MessageType.MESSAGE_TYPE_REACTION_ADD)
    addReaction(db, data, body.value, hash);
  else if (body?.$case === "linkBody" && data.type === MessageType.MESSAGE_TYPE_LINK_ADD)
    addLink(db, data, body.value);
  else if (body?.$case === "userDataBody") addUserData(db, data, body.value);
  else if (body?.$case === "verificationAddBody") addVerification(db, data, body.value);
  else if (body?.$case === "usernameProofBody")
    addUsernameProof(db, body.value, { timestamp: data.timestamp, hash });
  else if (body?.$case === "lendStorageBody") addLend(db, data, body.value);
}

/** Removes a message that is no longer live from the read model: the exact reverse of `project`. */
export function retract(db: IndexDatabase, message: SignedMessage): void {
  const { data, hash } = message;
  const body = data.body;
  if (body?.$case === "castAddBody") dropCast(db, data, body.value, hash);
  else if (body?.$case === "reactionBody" && data.type === MessageType.MESSAGE_TYPE_REACTION_ADD)
    dropReaction(db, data, body.value, hash);
  else if (body?.$case === "linkBody" && data.type === MessageType.MESSAGE_TYPE_LINK_ADD)
    dropLink(db, data, body.value);
  else if (body?.$case === "userDataBody") dropUserData(db, data, body.value);
  else if (body?.$case === "verificationAddBody") dropVerification(db, data, body.value);
  else if (body?.$case === "usernameProofBody") dropUsernameProof(db, body.value);
  else if (body?.$case === "lendStorageBody") dropLend(db, data, body.value);
}
