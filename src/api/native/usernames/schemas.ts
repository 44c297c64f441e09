import { type Static, Type } from "@sinclair/typebox";
import type { UsernameProof as PresentedProof } from "../../../read/present/native/username-proof.ts";
import { type Assignable, closed, EthAddress, Fid, nullable, UnixSecs } from "../../shared/schemas.ts";

const UsernameProof = Type.Object(
  {
    timestamp: UnixSecs("When the proof was signed"),
    name: Type.String(),
    owner: EthAddress,
    signature: Type.String({ pattern: "^0x[0-9a-f]*$" }),
    fid: Fid,
    type: Type.Union([
      Type.Literal("USERNAME_TYPE_FNAME"),
      Type.Literal("USERNAME_TYPE_ENS_L1"),
      Type.Literal("USERNAME_TYPE_BASENAME"),
    ]),
  },
  { ...closed, $id: "UsernameProof" },
);

export const UsernameProofResponse = Type.Object({ username_proof: nullable(UsernameProof) }, closed);
export const FnameAvailabilityResponse = Type.Object(
  {
    available: Type.Boolean(),
    username: nullable(Type.String({ description: "The registered name; null if it has no owner" })),
  },
  closed,
);

export type ObjectTypeCheck = Assignable<PresentedProof, Static<typeof UsernameProof>>;
