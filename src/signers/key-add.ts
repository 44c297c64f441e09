import { hashTypedData } from "viem/utils";
import { recoverSigner } from "../auth/typed-data.ts";
import {
  KEY_ADD_TYPES,
  KEY_DOMAIN,
  KEY_REMOVE_BY_SELF,
  KEY_TYPE_ED25519,
  keyAddDigest,
  SIGNED_KEY_REQUEST_TYPES,
  signedKeyRequestDigest,
} from "../protocol/validate/chain/gasless-key.ts";
import { fromHex, toHex } from "../protocol/validate/eth.ts";
import {
  type FarcasterNetwork,
  KeyAddBody,
  KeyRemoveBody,
  type MessageData,
  MessageType,
} from "../protocol/wire/generated/message.ts";

/** What a user's custody address signs to add a gasless key. */
export interface KeyAddTerms {
  readonly fid: number;
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** Message types that the key may sign. */
  readonly scopes: readonly number[];
  readonly ttlSecs: number;
  readonly nonce: number;
  /** Farcaster seconds. */
  readonly deadline: number;
}

/** Envelope of a new message. */
interface MessageHead {
  readonly fid: number;
  /** Farcaster seconds. */
  readonly timestamp: number;
  readonly network: FarcasterNetwork;
}

const EIP712_DOMAIN = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
] as const;
const DOMAIN = { ...KEY_DOMAIN, chainId: Number(KEY_DOMAIN.chainId) };
const METADATA_TYPE_SIGNED_KEY_REQUEST = 1;
const V_OFFSET = 27;

/** Returns the typed data of a KEY_ADD, in the form of `eth_signTypedData_v4`. */
export function keyAddTypedData({ fid, key, scopes, ttlSecs, nonce, deadline }: KeyAddTerms) {
  return {
    types: { EIP712Domain: EIP712_DOMAIN, ...KEY_ADD_TYPES },
    primaryType: "KeyAdd",
    domain: DOMAIN,
    message: {
      fid: String(fid),
      key: toHex(key),
      keyType: KEY_TYPE_ED25519,
      scopes,
      ttl: ttlSecs,
      nonce,
      deadline: String(deadline),
    },
  } as const;
}

/** Returns the typed data of a request for a gasless key, in the form of `eth_signTypedData_v4`. */
export function keyRequestTypedData({ requestFid, key, deadline }: KeyRequest) {
  return {
    types: { EIP712Domain: EIP712_DOMAIN, ...SIGNED_KEY_REQUEST_TYPES },
    primaryType: "SignedKeyRequest",
    domain: DOMAIN,
    message: { requestFid: String(requestFid), key: toHex(key), deadline: String(deadline) },
  } as const;
}

export type KeyAddTypedData = ReturnType<typeof keyAddTypedData>;
export type KeyRequestTypedData = ReturnType<typeof keyRequestTypedData>;

/** Returns the 20-byte address that signed a KEY_ADD; undefined if the signature is malformed. */
export function recoverKeyAdd(terms: KeyAddTerms, signature: Uint8Array): Uint8Array | undefined {
  return recoverSigner(keyAddDigest(terms.fid, bodyOf(terms)), signature);
}

/** Returns a signature whose last byte is 27 or 28, as the network requires. Wallets also use 0 and 1. */
export function withFullV(signature: Uint8Array): Uint8Array {
  const v = signature.at(-1) ?? 0;
  return v < V_OFFSET ? signature.with(-1, v + V_OFFSET) : signature;
}

/** Returns the message data that adds a gasless key: its terms, the custody signature, and the request of the app or the user. */
export function keyAddData(options: {
  readonly terms: KeyAddTerms;
  readonly custodySignature: Uint8Array;
  readonly request: KeyRequest;
  /** Custody address of the requesting fid, 20 bytes. */
  readonly requestSigner: Uint8Array;
  readonly requestSignature: Uint8Array;
  readonly head: MessageHead;
}): MessageData {
  const { terms, request, requestSigner, head } = options;
  const value = {
    ...bodyOf(terms),
    custodySignature: withFullV(options.custodySignature),
    metadata: encodeKeyRequest(request, requestSigner, withFullV(options.requestSignature)),
    metadataType: METADATA_TYPE_SIGNED_KEY_REQUEST,
  };
  return { type: MessageType.MESSAGE_TYPE_KEY_ADD, ...head, body: { $case: "keyAddBody", value } };
}

/** Returns the message data by which a gasless key removes itself. */
export function selfRemovalData(options: {
  readonly key: Uint8Array;
  /** Must exceed the last nonce of the app that requested the key. */
  readonly nonce: number;
  readonly deadline: number;
  readonly head: MessageHead;
}): MessageData {
  const { key, nonce, deadline, head } = options;
  const value = KeyRemoveBody.fromPartial({ key, signatureType: KEY_REMOVE_BY_SELF, nonce, deadline });
  return { type: MessageType.MESSAGE_TYPE_KEY_REMOVE, ...head, body: { $case: "keyRemoveBody", value } };
}

function bodyOf({ key, scopes, ttlSecs, nonce, deadline }: KeyAddTerms): KeyAddBody {
  const keyType = KEY_TYPE_ED25519;
  return KeyAddBody.fromPartial({ key, keyType, scopes: [...scopes], ttl: ttlSecs, nonce, deadline });
}

const WORD_BYTES = 32;

/** ABI-encodes the tuple `(uint256 requestFid, address requestSigner, bytes signature, uint256 deadline)`. */
function encodeKeyRequest(
  { requestFid, deadline }: KeyRequest,
  requestSigner: Uint8Array,
  signature: Uint8Array,
): Uint8Array {
  const padded = Buffer.alloc(Math.ceil(signature.length / WORD_BYTES) * WORD_BYTES);
  padded.set(signature);
  const address = Buffer.alloc(WORD_BYTES);
  address.set(requestSigner, WORD_BYTES - requestSigner.length);
  const head = [word(requestFid), address, word(4 * WORD_BYTES), word(deadline)];
  return new Uint8Array(Buffer.concat([word(WORD_BYTES), ...head, word(signature.length), padded]));
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(WORD_BYTES);
  bytes.writeBigUInt64BE(BigInt(value), WORD_BYTES - 8);
  return bytes;
}

/**
 * EIP-712 domain of an app's signature of a SignedKeyRequest: `chain` for the contract on OP Mainnet, which clients of the hosted API
 * use, or `gasless` for gasless keys. A signature for one is not valid for the other.
 */
type RequestDomain = "chain" | "gasless";

/** What an app signs to request a key: its own fid, the key, and a deadline in unix seconds. */
export interface KeyRequest {
  readonly requestFid: number;
  /** 32 bytes. */
  readonly key: Uint8Array;
  readonly deadline: number;
}

/** EIP-712 domain of the contract SignedKeyRequestValidator. */
const CHAIN_DOMAIN = {
  name: "Farcaster SignedKeyRequestValidator",
  version: "1",
  chainId: 10n,
  verifyingContract: "0x00000000fc700472606ed4fa22623acf62c60553",
} as const;

/** Returns the 20-byte address that signed a request under a domain; undefined if the signature is malformed. */
export function recoverKeyRequest(
  domain: RequestDomain,
  { requestFid, key, deadline }: KeyRequest,
  signature: Uint8Array,
): Uint8Array | undefined {
  const digest =
    domain === "gasless"
      ? signedKeyRequestDigest(requestFid, key, BigInt(deadline))
      : fromHex(
          hashTypedData({
            domain: CHAIN_DOMAIN,
            types: SIGNED_KEY_REQUEST_TYPES,
            primaryType: "SignedKeyRequest",
            message: { requestFid: BigInt(requestFid), key: toHex(key), deadline: BigInt(deadline) },
          }),
        );
  return recoverSigner(digest, signature);
}

/** Returns the domain under which `custody` signed a request; undefined if it did not. */
export function domainOf(
  request: KeyRequest,
  signature: Uint8Array,
  custody: Uint8Array,
): RequestDomain | undefined {
  return (["chain", "gasless"] as const).find((domain) => {
    const signer = recoverKeyRequest(domain, request, signature);
    return signer !== undefined && Buffer.compare(signer, custody) === 0;
  });
}
