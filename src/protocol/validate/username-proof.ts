import { isUtf8 } from "node:buffer";
import { hashTypedData } from "viem/utils";
import { invalid, type Rejection } from "../rejection.ts";
import { toFarcasterSecs, toUnixSecs } from "../time.ts";
import {
  FarcasterNetwork,
  type MessageData,
  type UserNameProof,
  UserNameType,
} from "../wire/generated/message.ts";
import { fromHex, type Hex, recoverAddress, toHex } from "./eth.ts";
import { equalBytes, MAX_EVENT_UNIX_SECS } from "./fields.ts";
import { isBasename, isEnsName, isFname } from "./names.ts";

const OWNER_BYTES = 20;

/**
 * Validates a USERNAME_PROOF message: an ENS name or a basename, claimed for the message's own fid at the message's own time
 * (the proof's timestamp is in Unix seconds). Fnames come from their registry, never in a message. Only a chain can check
 * that the name resolves to the owner (`needsChainCheck`).
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

/**
 * Validates a live proof of any type as another node reports it or an index stores it, without the message of an ENS name or
 * a basename. Where `nameServer` is known, it must have signed an fname.
 */
export function validateLiveProof(
  proof: UserNameProof,
  nameServer: Uint8Array | undefined,
): Rejection | undefined {
  if (proof.type !== UserNameType.USERNAME_TYPE_FNAME)
    return validateUsernameProof(proof, { fid: proof.fid, timestamp: toFarcasterSecs(proof.timestamp) });
  return validateFnameProof(proof) ?? (nameServer && verifyFnameSignature(proof, nameServer));
}

/** Returns the proof's name as text, or undefined if its bytes are not UTF-8. */
export function usernameOf(proof: Pick<UserNameProof, "name">): string | undefined {
  return isUtf8(proof.name) ? Buffer.from(proof.name).toString("utf8") : undefined;
}

/** The server of fnames.farcaster.xyz. */
const NAME_SERVER: Hex = "0xbc5274efc266311015793d89e9b591fa46294741";
/** Reason for refusing a name that another name server has signed. */
export const FOREIGN_NAME = "signature is not the name server's";

const DOMAIN = {
  name: "Farcaster name verification",
  version: "1",
  chainId: 1,
  verifyingContract: "0xe3be01d99baa8db9905b33a3ca391238234b79d1",
} as const;

const TYPES = {
  UserNameProof: [
    { name: "name", type: "string" },
    { name: "timestamp", type: "uint256" },
    { name: "owner", type: "address" },
  ],
} as const;

/** Returns the address that signs the fnames of a network; undefined for a devnet, whose fnames need no signature. */
export function nameServerOf(network: FarcasterNetwork): Uint8Array | undefined {
  return network === FarcasterNetwork.FARCASTER_NETWORK_DEVNET ? undefined : fromHex(NAME_SERVER);
}

/**
 * Verifies that a name server signed an fname proof of valid structure. The signature covers name, time and owner, but not
 * the fid.
 */
export function verifyFnameSignature(proof: UserNameProof, nameServer: Uint8Array): Rejection | undefined {
  const signer = recoverAddress(fnameDigest(proof), proof.signature);
  return signer && equalBytes(signer, nameServer) ? undefined : invalid(FOREIGN_NAME);
}

/** Returns the EIP-712 digest that the name server signs. */
export function fnameDigest(proof: Pick<UserNameProof, "name" | "timestamp" | "owner">): Uint8Array {
  const message = {
    name: usernameOf(proof) ?? "",
    timestamp: BigInt(proof.timestamp),
    owner: toHex(proof.owner),
  };
  return fromHex(hashTypedData({ domain: DOMAIN, types: TYPES, primaryType: "UserNameProof", message }));
}
