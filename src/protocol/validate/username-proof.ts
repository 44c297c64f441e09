import { isUtf8 } from "node:buffer";
import { invalid, type Rejection } from "../rejection.ts";
import { toUnixSecs } from "../time.ts";
import { type MessageData, type UserNameProof, UserNameType } from "../wire/generated/message.ts";
import { MAX_EVENT_UNIX_SECS } from "./fields.ts";
import { isBasename, isEnsName, isFname } from "./names.ts";

const OWNER_BYTES = 20;

/**
 * Validates a USERNAME_PROOF message: an ENS name or a basename, claimed for the message's own fid at the message's
 * own time (the proof's timestamp is in unix seconds). Fnames come from their registry, never in a message. Only a
 * chain can check that the name resolves to the owner (`needsChainCheck`).
 */
export function validateUsernameProof(
  proof: UserNameProof,
  data: Pick<MessageData, "fid" | "timestamp">,
): Rejection | undefined {
  const name = usernameOf(proof);
  switch (proof.type) {
    case UserNameType.USERNAME_TYPE_ENS_L1:
      if (name === undefined || !isEnsName(name)) return invalid("ENS name is malformed");
      break;
    case UserNameType.USERNAME_TYPE_BASENAME:
      if (name === undefined || !isBasename(name)) return invalid("basename is malformed");
      break;
    default:
      return invalid("username type must be ENS_L1 or BASENAME");
  }
  if (proof.owner.length !== OWNER_BYTES) return invalid(`owner must be ${OWNER_BYTES} bytes`);
  if (proof.fid !== data.fid) return invalid("fid of the proof is not the message's");
  return proof.timestamp === toUnixSecs(data.timestamp)
    ? undefined
    : invalid("timestamp of the proof is not the message's");
}

/**
 * Validates the structure of an fname proof from the operator or from the registry. `verifyFnameSignature` checks its
 * signature. Fid 0 releases the name.
 */
export function validateFnameProof(proof: UserNameProof): Rejection | undefined {
  if (proof.type !== UserNameType.USERNAME_TYPE_FNAME) return invalid("username type must be FNAME");
  const name = usernameOf(proof);
  if (name === undefined || !isFname(name)) return invalid("fname is malformed");
  if (proof.owner.length !== OWNER_BYTES) return invalid(`owner must be ${OWNER_BYTES} bytes`);
  return proof.timestamp >= 1 && proof.timestamp <= MAX_EVENT_UNIX_SECS
    ? undefined
    : invalid("timestamp is not a time");
}

/** Returns the proof's name as text, or undefined if its bytes are not UTF-8. */
export function usernameOf(proof: Pick<UserNameProof, "name">): string | undefined {
  return isUtf8(proof.name) ? Buffer.from(proof.name).toString("utf8") : undefined;
}
