import { hashTypedData } from "viem/utils";
import type { SignedMessage } from "../../message/signed-message.ts";
import { invalid, type Rejection } from "../../rejection.ts";
import {
  type KeyAddBody,
  type KeyRemoveBody,
  type MessageData,
  MessageType,
} from "../../wire/generated/message.ts";
import { fromHex, recoverAddress, toHex } from "../eth.ts";
import { equalBytes } from "../fields.ts";

export const KEY_TYPE_ED25519 = 1;
export const KEY_TYPE_AUTH_ADDRESS = 2;

/** `KeyRemoveBody.signature_type`: who signed the removal, the fid's custody address or the key itself. */
export const KEY_REMOVE_BY_CUSTODY = 1;
export const KEY_REMOVE_BY_SELF = 2;

const METADATA_TYPE_SIGNED_KEY_REQUEST = 1;
const KEY_BYTES = 32;
const CUSTODY_SIGNATURE_BYTES = 65;
/** Maximum number of gasless keys of an fid, including expired ones. On-chain keys do not count. */
export const MAX_GASLESS_KEYS = 1000;
const MAX_TTL_SECS = 90 * 86_400;
const MAX_SCOPES = 16;
const MAX_UINT64 = 0xffff_ffff_ffff_ffffn;

/** Message types that a gasless key may be allowed to sign: all except key messages and types without a merge rule. */
const SCOPES: ReadonlySet<MessageType> = new Set([
  MessageType.MESSAGE_TYPE_CAST_ADD,
  MessageType.MESSAGE_TYPE_CAST_REMOVE,
  MessageType.MESSAGE_TYPE_REACTION_ADD,
  MessageType.MESSAGE_TYPE_REACTION_REMOVE,
  MessageType.MESSAGE_TYPE_LINK_ADD,
  MessageType.MESSAGE_TYPE_LINK_REMOVE,
  MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE,
  MessageType.MESSAGE_TYPE_VERIFICATION_ADD,
  MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE,
  MessageType.MESSAGE_TYPE_USER_DATA_ADD,
  MessageType.MESSAGE_TYPE_USERNAME_PROOF,
  MessageType.MESSAGE_TYPE_FRAME_ACTION,
  MessageType.MESSAGE_TYPE_LEND_STORAGE,
]);

/**
 * Validates a KEY_ADD, except that the app signed the request in its metadata (`verifyKeyRequest`). As on the reference
 * node, the deadline of that request is compared with the message's own timestamp in Farcaster seconds, and the deadline of
 * the body only has to be present. Whether the signatures are by the right custody addresses depends on the state.
 */
export function validateKeyAdd(body: KeyAddBody, timestamp: number): Rejection | undefined {
  if (body.key.length !== KEY_BYTES) return invalid(`key must be ${KEY_BYTES} bytes`);
  if (body.keyType !== KEY_TYPE_ED25519) return invalid("key_type must be 1");
  if (body.deadline === 0) return invalid("deadline is missing");
  if (body.ttl === 0 || body.ttl > MAX_TTL_SECS) return invalid(`ttl must be 1 to ${MAX_TTL_SECS} seconds`);
  if (body.metadataType !== METADATA_TYPE_SIGNED_KEY_REQUEST) return invalid("metadata_type must be 1");
  if (body.scopes.length < 1 || body.scopes.length > MAX_SCOPES) {
    return invalid(`scopes must be 1 to ${MAX_SCOPES} message types`);
  }
  if (!body.scopes.every((scope) => SCOPES.has(scope))) {
    return invalid("scopes hold a type that cannot be granted");
  }
  if (body.custodySignature.length !== CUSTODY_SIGNATURE_BYTES) {
    return invalid(`custody_signature must be ${CUSTODY_SIGNATURE_BYTES} bytes`);
  }
  const request = decodeSignedKeyRequest(body.metadata);
  if (request === undefined) return invalid("metadata is not a signed key request");
  if (request.deadline > MAX_UINT64) return invalid("deadline of the signed key request is out of range");
  return request.deadline < BigInt(timestamp) ? invalid("signed key request has expired") : undefined;
}

/** Recovers the signer of the key request of a valid KEY_ADD, which must be the signer that the request names. */
export function verifyKeyRequest(body: KeyAddBody): Rejection | undefined {
  const request = decodeSignedKeyRequest(body.metadata);
  const signer = request && recoverSignedKeyRequestSigner(request, body.key);
  return signer && equalBytes(signer, request.requestSigner)
    ? undefined
    : invalid("signed key request is not signed by its signer");
}

/** Validates a KEY_REMOVE. A key that removes itself must have signed the envelope. */
export function validateKeyRemove(body: KeyRemoveBody, message: SignedMessage): Rejection | undefined {
  if (body.key.length !== KEY_BYTES) return invalid(`key must be ${KEY_BYTES} bytes`);
  if (body.deadline === 0) return invalid("deadline is missing");
  switch (body.signatureType) {
    case KEY_REMOVE_BY_CUSTODY:
      return body.signature.length === CUSTODY_SIGNATURE_BYTES
        ? undefined
        : invalid(`signature must be ${CUSTODY_SIGNATURE_BYTES} bytes`);
    case KEY_REMOVE_BY_SELF:
      return equalBytes(message.signer, body.key) ? undefined : invalid("key does not sign its own removal");
    default:
      return invalid("signature_type is unknown");
  }
}

/** An app's request for a key, as in signer events and KEY_ADD messages. */
export interface SignedKeyRequest {
  /** The fid of the app. */
  readonly requestFid: number;
  /** The 20-byte custody address of the app. */
  readonly requestSigner: Uint8Array;
  readonly signature: Uint8Array;
  /** Seconds, in whichever epoch the app uses. */
  readonly deadline: bigint;
}

const WORD_BYTES = 32;

/**
 * Decodes the ABI form of the tuple `(uint256 requestFid, address requestSigner, bytes signature, uint256 deadline)`.
 * Returns undefined if the bytes do not have this form or the fid is not a safe integer.
 */
export function decodeSignedKeyRequest(metadata: Uint8Array): SignedKeyRequest | undefined {
  const tuple = subarrayAt(metadata, wordAt(metadata, 0));
  if (tuple === undefined) return undefined;
  const requestFid = wordAt(tuple, 0);
  const requestSigner = wordAt(tuple, WORD_BYTES);
  const signatureBlock = subarrayAt(tuple, wordAt(tuple, 2 * WORD_BYTES));
  const deadline = wordAt(tuple, 3 * WORD_BYTES);
  if (requestFid === undefined || requestSigner === undefined || deadline === undefined) return undefined;
  if (requestFid > BigInt(Number.MAX_SAFE_INTEGER) || requestSigner >> 160n !== 0n) return undefined;
  const length = signatureBlock && wordAt(signatureBlock, 0);
  if (signatureBlock === undefined || length === undefined) return undefined;
  if (length > BigInt(signatureBlock.length - WORD_BYTES)) return undefined;
  return {
    requestFid: Number(requestFid),
    requestSigner: tuple.slice(WORD_BYTES + 12, 2 * WORD_BYTES),
    signature: signatureBlock.slice(WORD_BYTES, WORD_BYTES + Number(length)),
    deadline,
  };
}

/** The EIP-712 domain of everything that concerns gasless keys. */
export const KEY_DOMAIN = { name: "Farcaster KeyAdd", version: "1", chainId: 1n } as const;

export const KEY_ADD_TYPES = {
  KeyAdd: [
    { name: "fid", type: "uint256" },
    { name: "key", type: "bytes" },
    { name: "keyType", type: "uint32" },
    { name: "scopes", type: "uint32[]" },
    { name: "ttl", type: "uint32" },
    { name: "nonce", type: "uint32" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

const KEY_REMOVE_TYPES = {
  KeyRemove: [
    { name: "fid", type: "uint256" },
    { name: "key", type: "bytes" },
    { name: "nonce", type: "uint32" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

export const SIGNED_KEY_REQUEST_TYPES = {
  SignedKeyRequest: [
    { name: "requestFid", type: "uint256" },
    { name: "key", type: "bytes" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

/** Returns the EIP-712 digest that the custody address of `fid` signs to add a gasless key. */
export function keyAddDigest(fid: number, body: KeyAddBody): Uint8Array {
  return fromHex(
    hashTypedData({
      domain: KEY_DOMAIN,
      types: KEY_ADD_TYPES,
      primaryType: "KeyAdd",
      message: {
        fid: BigInt(fid),
        key: toHex(body.key),
        keyType: body.keyType,
        scopes: body.scopes,
        ttl: body.ttl,
        nonce: body.nonce,
        deadline: BigInt(body.deadline),
      },
    }),
  );
}

/** Returns the EIP-712 digest that the custody address of `fid` signs to remove a gasless key. */
export function keyRemoveDigest(fid: number, body: KeyRemoveBody): Uint8Array {
  return fromHex(
    hashTypedData({
      domain: KEY_DOMAIN,
      types: KEY_REMOVE_TYPES,
      primaryType: "KeyRemove",
      message: {
        fid: BigInt(fid),
        key: toHex(body.key),
        nonce: body.nonce,
        deadline: BigInt(body.deadline),
      },
    }),
  );
}

/** Returns the EIP-712 digest that the app's custody address signs to request a gasless key. */
export function signedKeyRequestDigest(requestFid: number, key: Uint8Array, deadline: bigint): Uint8Array {
  return fromHex(
    hashTypedData({
      domain: KEY_DOMAIN,
      types: SIGNED_KEY_REQUEST_TYPES,
      primaryType: "SignedKeyRequest",
      message: { requestFid: BigInt(requestFid), key: toHex(key), deadline },
    }),
  );
}

/** Returns the address that signed the request for a gasless key. It must be the request's `requestSigner`. */
export function recoverSignedKeyRequestSigner(
  request: SignedKeyRequest,
  key: Uint8Array,
): Uint8Array | undefined {
  return recoverAddress(signedKeyRequestDigest(request.requestFid, key, request.deadline), request.signature);
}

/** Returns the address that signed a KEY_ADD. It must be the custody address of the message's fid. */
export function recoverKeyAddCustody(data: MessageData): Uint8Array | undefined {
  if (data.body?.$case !== "keyAddBody") return undefined;
  return recoverAddress(keyAddDigest(data.fid, data.body.value), data.body.value.custodySignature);
}

/**
 * Returns the address that signed a KEY_REMOVE of type custody. It must be the custody address of the message's fid.
 */
export function recoverKeyRemoveCustody(data: MessageData): Uint8Array | undefined {
  if (data.body?.$case !== "keyRemoveBody") return undefined;
  const body = data.body.value;
  if (body.signatureType !== KEY_REMOVE_BY_CUSTODY) return undefined;
  return recoverAddress(keyRemoveDigest(data.fid, body), body.signature);
}

function wordAt(bytes: Uint8Array, offset: number): bigint | undefined {
  const word = bytes.subarray(offset, offset + WORD_BYTES);
  return word.length === WORD_BYTES ? BigInt(toHex(word)) : undefined;
}

function subarrayAt(bytes: Uint8Array, offset: bigint | undefined): Uint8Array | undefined {
  return offset !== undefined && offset <= BigInt(bytes.length) ? bytes.subarray(Number(offset)) : undefined;
}
