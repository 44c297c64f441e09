import { encodeAbiParameters } from "viem/utils";
import {
  keyAddDigest,
  keyRemoveDigest,
  signedKeyRequestDigest,
} from "../../src/protocol/validate/chain/gasless-key.ts";
import {
  type FarcasterNetwork,
  KeyAddBody,
  KeyRemoveBody,
  MessageType,
} from "../../src/protocol/wire/generated/message.ts";
import {
  DEFAULT_TIMESTAMP,
  makeWallet,
  signDigest,
  signMessage,
  type TestSigner,
  type TestWallet,
} from "./messages.ts";

/** Builders of apps' key requests, and of the messages that add and remove keys without a chain. */

const requestAbi = [
  {
    type: "tuple",
    components: [
      { name: "requestFid", type: "uint256" },
      { name: "requestSigner", type: "address" },
      { name: "signature", type: "bytes" },
      { name: "deadline", type: "uint256" },
    ],
  },
] as const;

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}` as const;

const FAR_DEADLINE = 2 ** 32 - 1;

/** The metadata of a key that the app `requestFid` requested, signed by that app's custody wallet. */
export function requestMetadata(
  requestFid: number,
  key: Uint8Array,
  wallet: TestWallet = makeWallet(`custody ${requestFid}`),
): Uint8Array {
  const deadline = 2n ** 40n;
  const encoded = encodeAbiParameters(requestAbi, [
    {
      requestFid: BigInt(requestFid),
      requestSigner: hex(wallet.address),
      signature: hex(signDigest(signedKeyRequestDigest(requestFid, key, deadline), wallet)),
      deadline,
    },
  ]);
  return new Uint8Array(Buffer.from(encoded.slice(2), "hex"));
}

/**
 * The KEY_ADD message by which `fid` adds a key of the app `requestFid` without a chain. Both must be registered, with
 * the wallets `makeWallet("custody <fid>")` unless `custody` is another one.
 */
export function gaslessKeyMessage(options: {
  readonly fid: number;
  readonly signer: TestSigner;
  readonly requestFid: number;
  readonly ttlSecs: number;
  readonly nonce: number;
  readonly scopes?: readonly MessageType[];
  /** Farcaster seconds. */
  readonly at?: number;
  readonly custody?: TestWallet;
  /** The key that signs the message; the network wants no proof that the added one is the sender's. */
  readonly envelope?: TestSigner;
  readonly network?: FarcasterNetwork;
}): Uint8Array {
  const { fid, signer, requestFid, ttlSecs, nonce, scopes = [MessageType.MESSAGE_TYPE_CAST_ADD] } = options;
  const { at = DEFAULT_TIMESTAMP, custody = makeWallet(`custody ${fid}`) } = options;
  const body = KeyAddBody.fromPartial({
    key: signer.publicKey,
    keyType: 1,
    deadline: FAR_DEADLINE,
    nonce,
    metadata: requestMetadata(requestFid, signer.publicKey),
    metadataType: 1,
    scopes: [...scopes],
    ttl: ttlSecs,
  });
  const custodySignature = signDigest(keyAddDigest(fid, body), custody);
  const value = { ...body, custodySignature };
  return signMessage(
    {
      type: MessageType.MESSAGE_TYPE_KEY_ADD,
      fid,
      timestamp: at,
      body: { $case: "keyAddBody", value },
      ...onNetwork(options),
    },
    options.envelope ?? signer,
  );
}

/** The KEY_REMOVE message by which the custody wallet of `fid`, or the key itself, removes a gasless key. */
export function gaslessKeyRemoval(options: {
  readonly fid: number;
  readonly signer: TestSigner;
  readonly nonce: number;
  readonly by: TestWallet | "itself";
  /** Farcaster seconds. */
  readonly at: number;
  readonly network?: FarcasterNetwork;
}): Uint8Array {
  const { fid, signer, nonce, by, at } = options;
  const body = KeyRemoveBody.fromPartial({
    key: signer.publicKey,
    signatureType: by === "itself" ? 2 : 1,
    deadline: FAR_DEADLINE,
    nonce,
  });
  const signature = by === "itself" ? new Uint8Array() : signDigest(keyRemoveDigest(fid, body), by);
  return signMessage(
    {
      type: MessageType.MESSAGE_TYPE_KEY_REMOVE,
      fid,
      timestamp: at,
      body: { $case: "keyRemoveBody", value: { ...body, signature } },
      ...onNetwork(options),
    },
    signer,
  );
}

/** Mainnet by default, as for all messages of tests. */
function onNetwork({ network }: { readonly network?: FarcasterNetwork }): { network?: FarcasterNetwork } {
  return network === undefined ? {} : { network };
}
