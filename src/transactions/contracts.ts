import { parseAbi } from "viem/utils";
import { SIGNED_KEY_REQUEST_TYPES } from "../protocol/validate/chain/gasless-key.ts";
import type { Hex } from "../protocol/validate/eth.ts";

/**
 * Contracts on Optimism through which fids, keys and storage are bought, as of 2026-11. Addresses and signatures are from the `contracts`
 * repository of the Farcaster protocol; a test compares the selectors with those on chain.
 */
export const OPTIMISM_CHAIN_ID = 10;

export const ID_REGISTRY: Hex = "0x00000000fc6c5f01fc30151999387bb99a9f489b";
export const KEY_REGISTRY: Hex = "0x00000000fc1237824fb747abde0ff18990e59b7e";
export const ID_GATEWAY: Hex = "0x00000000fc25870c6ed6b6c7e41fb078b7656f69";
export const KEY_GATEWAY: Hex = "0x00000000fc56947c7e7183f8ca4b62398caadf0b";
export const STORAGE_REGISTRY: Hex = "0x00000000fcce7f938e7ae6d3c335bd6a1a7c593d";
const SIGNED_KEY_REQUEST_VALIDATOR: Hex = "0x00000000fc700472606ed4fa22623acf62c60553";

export const idGateway = parseAbi([
  "function register(address recovery, uint256 extraStorage) payable",
  "function registerFor(address to, address recovery, uint256 deadline, bytes sig, uint256 extraStorage) payable",
  "function price(uint256 extraStorage) view returns (uint256)",
  "function nonces(address owner) view returns (uint256)",
]);

export const keyGateway = parseAbi([
  "function add(uint32 keyType, bytes key, uint8 metadataType, bytes metadata)",
  "function addFor(address fidOwner, uint32 keyType, bytes key, uint8 metadataType, bytes metadata, uint256 deadline, bytes sig)",
  "function nonces(address owner) view returns (uint256)",
]);

export const storageRegistry = parseAbi([
  "function rent(uint256 fid, uint256 units) payable",
  "function price(uint256 units) view returns (uint256)",
  "function deprecationTimestamp() view returns (uint256)",
]);

const domainOf = (name: string, verifyingContract: Hex) => ({
  name,
  version: "1",
  chainId: OPTIMISM_CHAIN_ID,
  verifyingContract,
});

const uint = (name: string) => ({ name, type: "uint256" });
const address = (name: string) => ({ name, type: "address" });

/** EIP-712 typed data that a wallet signs, without its message. */
export const TYPED_DATA = {
  register: {
    domain: domainOf("Farcaster IdGateway", ID_GATEWAY),
    primaryType: "Register",
    types: { Register: [address("to"), address("recovery"), uint("nonce"), uint("deadline")] },
  },
  add: {
    domain: domainOf("Farcaster KeyGateway", KEY_GATEWAY),
    primaryType: "Add",
    types: {
      Add: [
        address("owner"),
        { name: "keyType", type: "uint32" },
        { name: "key", type: "bytes" },
        { name: "metadataType", type: "uint8" },
        { name: "metadata", type: "bytes" },
        uint("nonce"),
        uint("deadline"),
      ],
    },
  },
  signedKeyRequest: {
    domain: domainOf("Farcaster SignedKeyRequestValidator", SIGNED_KEY_REQUEST_VALIDATOR),
    primaryType: "SignedKeyRequest",
    types: SIGNED_KEY_REQUEST_TYPES,
  },
} as const;

export type TypedDataName = keyof typeof TYPED_DATA;
