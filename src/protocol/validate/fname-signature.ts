import { hashTypedData } from "viem/utils";
import { invalid, type Rejection } from "../rejection.ts";
import { FarcasterNetwork, type UserNameProof } from "../wire/generated/message.ts";
import { fromHex, type Hex, recoverAddress, toHex } from "./eth.ts";
import { equalBytes } from "./fields.ts";
import { usernameOf } from "./username-proof.ts";

/** The server of fnames.farcaster.xyz. */
const NAME_SERVER: Hex = "0xbc5274efc266311015793d89e9b591fa46294741";

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
 * Verifies that a name server signed an fname proof of valid structure. The signature is over name, time and owner: not over the
 * fid.
 */
export function verifyFnameSignature(proof: UserNameProof, nameServer: Uint8Array): Rejection | undefined {
  const signer = recoverAddress(fnameDigest(proof), proof.signature);
  return signer && equalBytes(signer, nameServer) ? undefined : invalid("signature is not the name server's");
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
