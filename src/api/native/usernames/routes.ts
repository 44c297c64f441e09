import { Elysia } from "elysia";
import { operation } from "../../../http/operation.ts";
import { text } from "../../../http/params.ts";
import { isFname } from "../../../protocol/validate/names.ts";
import { presentUsernameProof } from "../../../read/present/native/username-proof.ts";
import { usernameProof } from "../../../read/queries/users/username-proof.ts";
import type { Reads } from "../../../read/run-query.ts";
import { FnameAvailabilityResponse, UsernameProofResponse } from "./schemas.ts";

const tags = ["Usernames"];

/** `/fname/availability` and `/username-proof`. */
export function usernameRoutes(reads: Reads) {
  return new Elysia({ name: "usernames" })
    .get(
      "/fname/availability",
      ({ query }) => {
        const name = query.fname.trim().replace(/^@/, "").toLowerCase();
        if (!isFname(name)) return { available: false, username: null };
        const taken = usernameProof(reads.db, name) !== undefined;
        return { available: !taken, username: taken ? name : null };
      },
      operation({
        cache: "shared",
        operationId: "getFnameAvailability",
        summary: "Whether an fname is valid and not registered",
        description:
          "Surrounding spaces, a leading @ and the case are ignored. A name that breaks the rules of fnames (1 to " +
          "16 of a-z, 0-9 and -, not beginning with -) is never available.",
        tags,
        query: { fname: text({ examples: ["user3"] }) },
        response: FnameAvailabilityResponse,
      }),
    )
    .get(
      "/username-proof",
      ({ query }) => {
        const proof = usernameProof(reads.db, query.username);
        return { username_proof: proof === undefined ? null : presentUsernameProof(proof) };
      },
      operation({
        cache: "shared",
        operationId: "getUsernameProof",
        summary: "The live proof of a name; null if the name has no owner",
        description: "Matches an fname, ENS name or basename exactly, case included.",
        tags,
        query: { username: text({ description: "Without a leading @", examples: ["user3"] }) },
        response: UsernameProofResponse,
      }),
    );
}
