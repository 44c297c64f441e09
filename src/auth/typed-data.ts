import { keccak_256 } from "@noble/hashes/sha3.js";
import type { PrivateKeyAccount } from "viem/accounts";
import { keccak256, toHex } from "viem/utils";
import type { ServiceNames } from "../config/names.ts";
import { recoverAddress } from "../protocol/validate/eth.ts";

/** The data that the custody address of `fid` signs. */
export interface SignedOp {
  /** Name of the operation, for example `webhook.create`. */
  readonly op: string;
  readonly fid: number;
  /** Unix seconds. */
  readonly signedAt: number;
  /** 32 bytes. */
  readonly nonce: Uint8Array;
  /** keccak256 of the raw body; of zero bytes if there is no body. */
  readonly requestHash: Uint8Array;
}

const DOMAIN_VERSION = "1";
/** OP Mainnet, the chain of the id registry. */
const CHAIN_ID = 10;

const domainFields = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
] as const;

const opFields = [
  { name: "op", type: "string" },
  { name: "fid", type: "uint64" },
  { name: "signedAt", type: "uint256" },
  { name: "nonce", type: "bytes32" },
  { name: "requestHash", type: "bytes32" },
] as const;

/** The EIP-712 definition in the form that wallets and signing libraries accept. */
export function signedOpTypedData({ domainName, signedOpType }: ServiceNames) {
  return {
    domain: { name: domainName, version: DOMAIN_VERSION, chainId: CHAIN_ID },
    types: { [signedOpType]: opFields },
    primaryType: signedOpType,
  } as const;
}

/**
 * Creates the function that computes the 32-byte EIP-712 digest of an operation. Constant parts are hashed once,
 * which makes it about five times as fast as a general implementation.
 */
export function createSignedOpHasher(names: ServiceNames): (op: SignedOp) => Uint8Array {
  const { domain } = signedOpTypedData(names);
  const domainSeparator = hashWords([
    hashText(typeText("EIP712Domain", domainFields)),
    hashText(domain.name),
    hashText(domain.version),
    word(domain.chainId),
  ]);
  const typeHash = hashText(typeText(names.signedOpType, opFields));
  return ({ op, fid, signedAt, nonce, requestHash }) => {
    const structHash = hashWords([typeHash, hashText(op), word(fid), word(signedAt), nonce, requestHash]);
    return keccak_256(Buffer.concat([EIP712_PREFIX, domainSeparator, structHash]));
  };
}

const EIP712_PREFIX = Uint8Array.of(0x19, 0x01);

const WORD_BYTES = 32;

function typeText(name: string, fields: readonly { readonly name: string; readonly type: string }[]): string {
  return `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(",")})`;
}

function hashText(text: string): Uint8Array {
  return keccak_256(Buffer.from(text));
}

function hashWords(words: readonly Uint8Array[]): Uint8Array {
  return keccak_256(Buffer.concat(words, words.length * WORD_BYTES));
}

/** Encodes an integer up to 2^53 - 1 as a 32-byte word. */
function word(value: number): Uint8Array {
  const bytes = Buffer.alloc(WORD_BYTES);
  bytes.writeBigUInt64BE(BigInt(value), WORD_BYTES - 8);
  return bytes;
}

const SIGNATURE_BYTES = 65;
const RECOVERY_BYTES: readonly (number | undefined)[] = [0, 1, 27, 28];
/** Half the order of secp256k1. Two values of s verify; the higher one is rejected (EIP-2). */
const HALF_ORDER = Buffer.from("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", "hex");

/** Reports whether a signature has the accepted form: 65 bytes `r s v`, with v and s in their allowed ranges. */
export function isWellFormedSignature(signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES || !RECOVERY_BYTES.includes(signature[64])) return false;
  return Buffer.compare(signature.subarray(32, 64), HALF_ORDER) <= 0;
}

/**
 * Returns the 20-byte address that signed a 32-byte digest, or undefined. Exactly one signature is accepted for a key
 * and a digest, except for the two encodings of v: 65 bytes `r s v`, v one of 0, 1, 27 and 28, low s.
 */
export function recoverSigner(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined {
  return isWellFormedSignature(signature) ? recoverAddress(digest, signature) : undefined;
}

const NONCE_BYTES = 32;

/** The parts of a management request that its signature covers. */
interface OperationToSign {
  readonly names: ServiceNames;
  readonly account: PrivateKeyAccount;
  /** The fid that acts. Its custody address must be the account's. */
  readonly fid: number;
  /** The name in the operation table, such as `app.create`. */
  readonly op: string;
  /** The body, byte for byte as it is sent; empty if there is none. */
  readonly body: Uint8Array;
  /** Unix seconds. */
  readonly signedAt: number;
}

/** Signs a request with a fresh nonce. Returns the five headers, which are valid for one request. */
export async function signOperation(operation: OperationToSign): Promise<Record<string, string>> {
  const { names, account, fid, op, body, signedAt } = operation;
  const nonce = toHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
  const signature = await account.signTypedData({
    ...signedOpTypedData(names),
    message: { op, fid: BigInt(fid), signedAt: BigInt(signedAt), nonce, requestHash: keccak256(body) },
  });
  return {
    [`${names.headerPrefix}Fid`]: String(fid),
    [`${names.headerPrefix}Op`]: op,
    [`${names.headerPrefix}Signed-At`]: String(signedAt),
    [`${names.headerPrefix}Nonce`]: nonce,
    [`${names.headerPrefix}Signature`]: signature,
  };
}
