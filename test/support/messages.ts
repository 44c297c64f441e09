import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign as nodeSign } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { blake3 } from "@noble/hashes/blake3.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import {
  type DeepPartial,
  FarcasterNetwork,
  HashScheme,
  Message,
  MessageData,
  MessageType,
  SignatureScheme,
} from "../../src/protocol/wire/generated/message.ts";

/**
 * Builders of signed protocol messages for tests. They write wire bytes on their own (node:crypto signs, @noble
 * hashes), so that a bug of the code under test does not also affect its test data.
 */

/** The default timestamp of messages, in Farcaster seconds: 2025-08-27T05:20:00Z. */
export const DEFAULT_TIMESTAMP = 146_812_800;

/** Unix seconds of `DEFAULT_TIMESTAMP`: a suitable "now" for a validator under test. */
export const DEFAULT_NOW_SECS = 1_609_459_200 + DEFAULT_TIMESTAMP;

export interface TestSigner {
  /** The 32-byte Ed25519 seed. */
  readonly privateKey: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly keyObject: KeyObject;
}

export interface TestWallet {
  /** The 32-byte secp256k1 key. */
  readonly privateKey: Uint8Array;
  /** The 20-byte Ethereum address. */
  readonly address: Uint8Array;
}

/** The fields of a message's data; `timestamp` and `network` (mainnet) have defaults, the rest is proto3's. */
export type TestData = DeepPartial<MessageData>;

/** Derives an Ed25519 key from a text. */
export function makeSigner(seed: string): TestSigner {
  const privateKey = new Uint8Array(createHash("sha256").update(`ed25519 ${seed}`).digest());
  const keyObject = createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), privateKey]),
    format: "der",
    type: "pkcs8",
  });
  const spki = createPublicKey(keyObject).export({ format: "der", type: "spki" });
  return { privateKey, publicKey: new Uint8Array(spki.subarray(-32)), keyObject };
}

/** By their texts: an address takes as long as a signature. */
const wallets = new Map<string, TestWallet>();

/** Derives an Ethereum wallet from a text. */
export function makeWallet(seed: string): TestWallet {
  const known = wallets.get(seed);
  if (known) return known;
  const privateKey = new Uint8Array(createHash("sha256").update(`secp256k1 ${seed}`).digest());
  const point = secp256k1.getPublicKey(privateKey, false);
  const wallet = { privateKey, address: keccak_256(point.subarray(1)).slice(-20) };
  wallets.set(seed, wallet);
  return wallet;
}

/** The wallet's 65-byte `r s v` signature of a 32-byte digest, `v` being 27 or 28. */
export function signDigest(digest: Uint8Array, wallet: TestWallet): Uint8Array {
  const signature = secp256k1.sign(digest, wallet.privateKey, { prehash: false, format: "recovered" });
  return Uint8Array.from([...signature.subarray(1), 27 + (signature[0] ?? 0)]);
}

/** The signer's 64-byte Ed25519 signature of any bytes. */
export function signBytes(bytes: Uint8Array, signer: TestSigner): Uint8Array {
  return new Uint8Array(nodeSign(null, bytes, signer.keyObject));
}

/** The protobuf bytes of a message's data with the defaults filled in. */
export function encodeData(data: TestData): Uint8Array {
  return MessageData.encode(
    MessageData.fromPartial({
      timestamp: DEFAULT_TIMESTAMP,
      network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
      ...data,
    }),
  ).finish();
}

/** The signed envelope of data bytes, well formed or not; `over` replaces fields after signing. */
export function sealDataBytes(
  dataBytes: Uint8Array,
  signer: TestSigner,
  over: Partial<Message> = {},
): Message {
  const hash = blake3(dataBytes, { dkLen: 20 });
  return {
    data: undefined,
    hash,
    hashScheme: HashScheme.HASH_SCHEME_BLAKE3,
    signature: signBytes(hash, signer),
    signatureScheme: SignatureScheme.SIGNATURE_SCHEME_ED25519,
    signer: signer.publicKey,
    dataBytes,
    ...over,
  };
}

/** A signed wire `Message` that contains only `data_bytes`, as clients submit it. */
export function signMessage(data: TestData, signer: TestSigner): Uint8Array {
  return Message.encode(sealDataBytes(encodeData(data), signer)).finish();
}

/** A signed CastAdd; `over` replaces fields of its data. */
export function signedCast(
  fid: number,
  text: string,
  signer: TestSigner,
  over: Omit<TestData, "body"> = {},
): Uint8Array {
  return signMessage(
    {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid,
      body: { $case: "castAddBody", value: { text } },
      ...over,
    },
    signer,
  );
}
