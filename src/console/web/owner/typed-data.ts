import { keccak_256 } from "@noble/hashes/sha3.js";
import { pageConfig } from "../page-config.ts";
import { toHex } from "./signed-text.ts";

/** OP Mainnet, the chain of the id registry. */
export const CHAIN_ID = 10;

/** What the custody address signs for one request. */
export interface SignedOperation {
  readonly op: string;
  readonly fid: number;
  /** Unix seconds. */
  readonly signedAt: number;
  readonly nonce: string;
  readonly requestHash: string;
}

/** The keccak256 of the body as it is sent; of nothing without a body. */
export function requestHashOf(body: string): string {
  return `0x${toHex(keccak_256(new TextEncoder().encode(body)))}`;
}

/** The EIP-712 data as wallets take it. */
export function typedDataOf(message: SignedOperation) {
  const primaryType = `${pageConfig.domain}SignedOp`;
  const field = (name: string, type: string) => ({ name, type });
  return {
    domain: { name: pageConfig.domain, version: "1", chainId: CHAIN_ID },
    types: {
      EIP712Domain: [field("name", "string"), field("version", "string"), field("chainId", "uint256")],
      [primaryType]: [
        field("op", "string"),
        field("fid", "uint64"),
        field("signedAt", "uint256"),
        field("nonce", "bytes32"),
        field("requestHash", "bytes32"),
      ],
    },
    primaryType,
    message,
  };
}
