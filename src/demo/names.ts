import { utf8ToBytes } from "@noble/hashes/utils.js";
import { type UserNameProof, UserNameType } from "../protocol/wire/generated/message.ts";
import { nameProofSignature } from "./claims.ts";
import type { Keyring } from "./keys.ts";
import type { Person } from "./people.ts";
import { registeredAtSecs, transferredAtSecs } from "./roster.ts";

/** The fid that released an earlier fname. */
const RENAMED_FID = 29;
const FORMER_FNAME = "former-name";
const MINUTE_SECS = 60;
const DAY_SECS = 86_400;

/** The name server's proofs of all fnames, oldest first. Their times are fixed, as those of registrations are. */
export function fnameProofs(people: readonly Person[], keyring: Keyring): UserNameProof[] {
  const proofs = people.flatMap(({ fid, fname }) => {
    if (fname === undefined) return [];
    const owner = keyring.custody(fid).address;
    const ownedSince = transferredAtSecs(fid) ?? registeredAtSecs(fid);
    const proof = (name: string, toFid: number, timestampSecs: number): UserNameProof => ({
      timestamp: timestampSecs,
      name: utf8ToBytes(name),
      owner,
      signature: nameProofSignature({ name, timestampSecs, owner }, keyring.nameServer()),
      fid: toFid,
      type: UserNameType.USERNAME_TYPE_FNAME,
    });
    if (fid !== RENAMED_FID) return [proof(fname, fid, ownedSince + MINUTE_SECS)];
    // A proof for fid 0 releases the name.
    return [
      proof(FORMER_FNAME, fid, ownedSince + MINUTE_SECS),
      proof(FORMER_FNAME, 0, ownedSince + 50 * DAY_SECS),
      proof(fname, fid, ownedSince + 50 * DAY_SECS + MINUTE_SECS),
    ];
  });
  return proofs.sort((a, b) => a.timestamp - b.timestamp);
}
