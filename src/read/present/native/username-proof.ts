import { UserNameType } from "../../../protocol/wire/generated/message.ts";
import { hex } from "../../hydrate/casts.ts";
import type { UsernameProofState } from "../../queries/users/username-proof.ts";

/** Presents a username proof with its signed fields. */
export function presentUsernameProof(proof: UsernameProofState) {
  return {
    timestamp: proof.timestamp,
    name: proof.name,
    owner: hex(proof.owner),
    signature: hex(proof.signature),
    fid: proof.fid,
    type: typeName(proof.type),
  };
}

export type UsernameProof = ReturnType<typeof presentUsernameProof>;

function typeName(type: UserNameType) {
  switch (type) {
    case UserNameType.USERNAME_TYPE_ENS_L1:
      return "USERNAME_TYPE_ENS_L1" as const;
    case UserNameType.USERNAME_TYPE_BASENAME:
      return "USERNAME_TYPE_BASENAME" as const;
    default:
      return "USERNAME_TYPE_FNAME" as const;
  }
}
