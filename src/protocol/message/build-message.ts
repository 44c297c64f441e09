import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { HashScheme, MessageData, SignatureScheme } from "../wire/generated/message.ts";
import { messageHash } from "./message-hash.ts";
import type { SignedMessage } from "./signed-message.ts";

/** An Ed25519 key pair that signs messages: the raw 32-byte seed and public key, and the parsed private key. */
export interface Ed25519Key {
  readonly seed: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly privateKey: KeyObject;
}

const ED25519_KEY_BYTES = 32;
/** The fixed prefix of a PKCS #8 Ed25519 private key (RFC 8410); the seed follows it. */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

/**
 * Derives the key pair of a 32-byte seed.
 *
 * @throws RangeError for a seed of another length.
 */
export function ed25519KeyFromSeed(seed: Uint8Array): Ed25519Key {
  if (seed.length !== ED25519_KEY_BYTES) {
    throw new RangeError(`an Ed25519 seed has ${ED25519_KEY_BYTES} bytes, not ${seed.length}`);
  }
  const der = Buffer.concat([PKCS8_HEAD, seed]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  // The caller may zero the seed after use.
  der.fill(0);
  const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  return { seed, publicKey: new Uint8Array(spki.subarray(-ED25519_KEY_BYTES)), privateKey };
}

/**
 * Encodes and signs message data in the form in which nodes store a message: `data_bytes`, the first 20 bytes of its BLAKE3
 * hash, and an Ed25519 signature of that hash. The result is deterministic. Does not check the rules of the message type.
 */
export function buildMessage(data: MessageData, signer: Ed25519Key): SignedMessage {
  const dataBytes = MessageData.encode(data).finish();
  const hash = messageHash(dataBytes);
  return {
    data,
    dataBytes,
    hash,
    hashScheme: HashScheme.HASH_SCHEME_BLAKE3,
    signature: new Uint8Array(sign(null, hash, signer.privateKey)),
    signatureScheme: SignatureScheme.SIGNATURE_SCHEME_ED25519,
    signer: signer.publicKey,
  };
}
