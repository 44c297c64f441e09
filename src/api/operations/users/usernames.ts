import { type Static, Type } from "@sinclair/typebox";
import { text } from "../../../http/request/params.ts";
import { isFname } from "../../../protocol/validate/names.ts";
import {
  type UsernameProof as PresentedProof,
  presentUsernameProof,
} from "../../../read/present/native/user.ts";
import { usernameProof } from "../../../read/queries/users/users.ts";
import { type Assignable, EthAddress, Fid, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Usernames" });

const UsernameProof = object(
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
  { $id: "UsernameProof" },
);

const UsernameProofResponse = object({ username_proof: nullable(UsernameProof) });

const FnameAvailabilityResponse = object({
  available: Type.Boolean(),
  username: nullable(Type.String({ description: "The registered name; null if it has no owner" })),
});

export const usernameOperations = [
  read({
    id: "getFnameAvailability",
    path: "/fname/availability",
    summary: "Whether an fname is valid and not registered",
    description:
      "Surrounding spaces, a leading @ and the case are ignored. A name that breaks the rules of fnames (1 to " +
      "16 of a-z, 0-9 and -, not beginning with -) is never available.",
    query: { fname: text({ examples: ["user3"] }) },
    response: FnameAvailabilityResponse,
    run: ({ reads }, { query }) => {
      const name = query.fname.trim().replace(/^@/, "").toLowerCase();
      if (!isFname(name)) return { available: false, username: null };
      const taken = usernameProof(reads.db, name) !== undefined;
      return { available: !taken, username: taken ? name : null };
    },
  }),
  read({
    id: "getUsernameProof",
    path: "/username-proof",
    summary: "The live proof of a name; null if the name has no owner",
    description: "Matches an fname, ENS name or basename exactly, case included.",
    query: { username: text({ description: "Without a leading @", examples: ["user3"] }) },
    response: UsernameProofResponse,
    run: ({ reads }, { query }) => {
      const proof = usernameProof(reads.db, query.username);
      return { username_proof: proof === undefined ? null : presentUsernameProof(proof) };
    },
  }),
];

export type ObjectTypeCheck = Assignable<PresentedProof, Static<typeof UsernameProof>>;
