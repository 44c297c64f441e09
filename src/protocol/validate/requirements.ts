import type { SignedMessage } from "../message/signed-message.ts";
import {
  CastType,
  type MessageData,
  MessageType,
  UserDataType,
  UserNameType,
  VerificationProtocol,
} from "../wire/generated/message.ts";
import { MAX_DATA_BYTES } from "./envelope.ts";
import { usernameOf } from "./username-proof.ts";
import { claimOf, ethClaimDigest, VERIFICATION_TYPE_CONTRACT } from "./verification.ts";

/** Returns why only a Pro fid may send this valid message, or undefined if any fid may. */
export function needsPro({ data, dataBytes }: SignedMessage): string | undefined {
  if (data.type === MessageType.MESSAGE_TYPE_CAST_ADD && dataBytes.length > MAX_DATA_BYTES) {
    return `casts above ${MAX_DATA_BYTES} bytes need Pro`;
  }
  if (data.body?.$case === "castAddBody" && data.body.value.type === CastType.CAST_TYPE_TEN_K_CAST) {
    return "ten-k casts need Pro";
  }
  if (data.body?.$case === "userDataBody" && data.body.value.type === UserDataType.USER_DATA_TYPE_BANNER) {
    return "banners need Pro";
  }
  return undefined;
}

/**
 * A check of a valid message that only a chain can make. It is made when a client submits the message, not when a node
 * relays it.
 */
export type ChainCheck =
  | {
      /** The contract must accept the signature of the hash (ERC-1271, or ERC-6492 before it is deployed). */
      readonly kind: "contract-verification";
      /** 1, 5, 10 or 420. 0 is not a chain, so the check cannot succeed. */
      readonly chainId: number;
      readonly address: Uint8Array;
      readonly claimHash: Uint8Array;
      readonly signature: Uint8Array;
    }
  | {
      /** The name must resolve to the owner, which must be the fid's custody address or an address it verified. */
      readonly kind: "name-proof";
      /** 1 for ENS, 8453 for basenames. */
      readonly chainId: number;
      readonly name: string;
      readonly owner: Uint8Array;
      readonly fid: number;
    };

const ETHEREUM_CHAIN_ID = 1;
const BASE_CHAIN_ID = 8453;

/** Returns the check that a valid message needs from a chain, or undefined for nearly all messages. */
export function needsChainCheck(data: MessageData): ChainCheck | undefined {
  switch (data.body?.$case) {
    case "verificationAddBody": {
      const body = data.body.value;
      if (body.protocol !== VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM) return undefined;
      if (body.verificationType !== VERIFICATION_TYPE_CONTRACT) return undefined;
      return {
        kind: "contract-verification",
        chainId: body.chainId,
        address: body.address,
        claimHash: ethClaimDigest(claimOf(body, data), body.chainId),
        signature: body.claimSignature,
      };
    }
    case "usernameProofBody": {
      const proof = data.body.value;
      const isBasename = proof.type === UserNameType.USERNAME_TYPE_BASENAME;
      return {
        kind: "name-proof",
        chainId: isBasename ? BASE_CHAIN_ID : ETHEREUM_CHAIN_ID,
        name: usernameOf(proof) ?? "",
        owner: proof.owner,
        fid: proof.fid,
      };
    }
    default:
      return undefined;
  }
}
