import { describe } from "bun:test";
import { encodeAbiParameters } from "viem/utils";
import {
  keyAddDigest,
  keyRemoveDigest,
  signedKeyRequestDigest,
} from "../../../src/protocol/validate/chain/gasless-key.ts";
import { ethClaimDigest, solanaClaimText } from "../../../src/protocol/validate/verification.ts";
import {
  type DeepPartial,
  KeyAddBody,
  KeyRemoveBody,
  MessageType,
  type VerificationAddBody,
  VerificationProtocol,
} from "../../../src/protocol/wire/generated/message.ts";
import {
  DEFAULT_TIMESTAMP,
  makeSigner,
  makeWallet,
  signBytes,
  signDigest,
  signMessage,
  type TestData,
} from "../../support/messages.ts";
import {
  FID,
  IDENTITY,
  MAINNET,
  type Refused,
  raw,
  signer,
  testMessages,
  utf8,
  type Valid,
} from "./message-tables.ts";

const T = MessageType;
const ETH = VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM;
const SOL = VerificationProtocol.VERIFICATION_PROTOCOL_SOLANA;
const wallet = makeWallet("alice");
const app = makeWallet("app");
const solana = makeSigner("alice on solana");

const verificationRemove = (protocol: number, address: Uint8Array) =>
  signMessage(
    {
      type: T.MESSAGE_TYPE_VERIFICATION_REMOVE,
      fid: FID,
      body: { $case: "verificationRemoveBody", value: { protocol, address } },
    },
    signer,
  );

const blockHash = new Uint8Array(32).fill(9);
const ethClaim = { fid: FID, network: MAINNET, address: wallet.address, blockHash };
const solanaClaim = { ...ethClaim, address: solana.publicKey };

function verification(over: DeepPartial<VerificationAddBody> = {}, outer: TestData = {}) {
  const value = {
    address: wallet.address,
    claimSignature: signDigest(ethClaimDigest(ethClaim), wallet),
    blockHash,
    verificationType: 0,
    chainId: 0,
    protocol: VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM,
    ...over,
  };
  return signMessage(
    {
      type: T.MESSAGE_TYPE_VERIFICATION_ADD,
      fid: FID,
      body: { $case: "verificationAddBody", value },
      ...outer,
    },
    signer,
  );
}

const solanaVerification = (over: DeepPartial<VerificationAddBody> = {}) =>
  verification({
    address: solana.publicKey,
    claimSignature: signBytes(utf8(solanaClaimText(solanaClaim)), solana),
    protocol: VerificationProtocol.VERIFICATION_PROTOCOL_SOLANA,
    ...over,
  });

const gaslessKey = makeSigner("gasless").publicKey;
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

function requestMetadata(deadline: bigint, requestSigner = app.address, key = gaslessKey): Uint8Array {
  const signature = hex(signDigest(signedKeyRequestDigest(9, key, deadline), app));
  const encoded = encodeAbiParameters(requestAbi, [
    { requestFid: 9n, requestSigner: hex(requestSigner), signature, deadline },
  ]);
  return new Uint8Array(Buffer.from(encoded.slice(2), "hex"));
}

function keyAdd(over: DeepPartial<KeyAddBody> = {}) {
  const body = KeyAddBody.fromPartial({
    key: gaslessKey,
    keyType: 1,
    deadline: DEFAULT_TIMESTAMP,
    nonce: 1,
    metadata: requestMetadata(BigInt(DEFAULT_TIMESTAMP)),
    metadataType: 1,
    scopes: [T.MESSAGE_TYPE_CAST_ADD],
    ttl: 90 * 86_400,
    ...over,
  });
  const custodySignature = over.custodySignature ?? signDigest(keyAddDigest(FID, body), wallet);
  return signMessage(
    {
      type: T.MESSAGE_TYPE_KEY_ADD,
      fid: FID,
      body: { $case: "keyAddBody", value: { ...body, custodySignature } },
    },
    signer,
  );
}

function keyRemove(over: DeepPartial<KeyRemoveBody> = {}) {
  const body = KeyRemoveBody.fromPartial({
    key: gaslessKey,
    signatureType: 1,
    deadline: 1,
    nonce: 2,
    ...over,
  });
  const signature = over.signature ?? signDigest(keyRemoveDigest(FID, body), wallet);
  return signMessage(
    {
      type: T.MESSAGE_TYPE_KEY_REMOVE,
      fid: FID,
      body: { $case: "keyRemoveBody", value: { ...body, signature } },
    },
    signer,
  );
}

const valid: readonly Valid[] = [
  ["a key's claim that names a chain", verification({ chainId: 1 })],
  [
    "a claim signature with v of 0 or 1",
    verification({
      claimSignature: signDigest(ethClaimDigest(ethClaim), wallet).map((byte, at) =>
        at === 64 ? byte - 27 : byte,
      ),
    }),
  ],
  [
    "a contract's claim, which only its chain can check",
    verification({ verificationType: 1, chainId: 10, claimSignature: new Uint8Array(2048 - 200) }),
  ],
  ["a solana claim", solanaVerification()],
  ["a gasless key", keyAdd()],
  [
    "a gasless key whose request expires in 2^64 - 1 seconds",
    keyAdd({ metadata: requestMetadata(2n ** 64n - 1n) }),
  ],
  ["16 scopes", keyAdd({ scopes: new Array(16).fill(T.MESSAGE_TYPE_LEND_STORAGE) })],
  ["removal of a gasless key", keyRemove()],
  ["removal of a key by itself", keyRemove({ key: signer.publicKey, signatureType: 2, signature: raw() })],
];

const refused: readonly Refused[] = [
  ["an ethereum address of 32 bytes", verification({ address: new Uint8Array(32) }), /20 bytes/],
  ["a block hash of 31 bytes", verification({ blockHash: blockHash.subarray(1) }), /block_hash/],
  ["a claim of another block", verification({ blockHash: new Uint8Array(32) }), /not the address's/],
  ["a claim of another fid", verification({}, { fid: FID + 1 }), /not the address's/],
  [
    "a claim signed by another wallet",
    verification({ claimSignature: signDigest(ethClaimDigest(ethClaim), app) }),
    /not the address's/,
  ],
  [
    "a claim signature that is not a point",
    verification({ claimSignature: new Uint8Array(65) }),
    /not the address's/,
  ],
  ["a claim signature of 64 bytes", verification({ claimSignature: new Uint8Array(64) }), /65 bytes/],
  [
    "a key's claim bound to a chain",
    verification({ chainId: 10, claimSignature: signDigest(ethClaimDigest(ethClaim, 10), wallet) }),
    /not the address's/,
  ],
  ["chain 8453", verification({ chainId: 8453 }), /chain_id/],
  ["chain 65536, which is 0 in 16 bits", verification({ chainId: 65_536 }), /chain_id/],
  ["verification type 2", verification({ verificationType: 2 }), /verification_type/],
  [
    "a contract signature of 2049 bytes",
    verification({ verificationType: 1, claimSignature: new Uint8Array(2049) }),
    /larger than 2048/,
  ],
  ["verification protocol 2", verification({ protocol: 2 as VerificationProtocol }), /protocol is unknown/],
  ["a solana address of 20 bytes", solanaVerification({ address: wallet.address }), /32 bytes/],
  [
    "a solana claim signature of 65 bytes",
    solanaVerification({ claimSignature: new Uint8Array(65) }),
    /64 bytes/,
  ],
  [
    "a solana claim signed by another key",
    solanaVerification({ claimSignature: signBytes(utf8(solanaClaimText(solanaClaim)), signer) }),
    /not the address's/,
  ],
  [
    "a solana claim by a small-order key",
    solanaVerification({ address: IDENTITY, claimSignature: raw(IDENTITY, new Uint8Array(32)) }),
    /not the address's/,
  ],
  ["removal of an ethereum address of 32 bytes", verificationRemove(ETH, new Uint8Array(32)), /20 bytes/],
  ["removal of a solana address of 20 bytes", verificationRemove(SOL, wallet.address), /32 bytes/],
  ["removal under an unknown protocol", verificationRemove(2, wallet.address), /protocol is unknown/],
  ["a gasless key of 31 bytes", keyAdd({ key: gaslessKey.subarray(1) }), /key must be 32/],
  ["a gasless key of type 2", keyAdd({ keyType: 2 }), /key_type/],
  ["a gasless key without deadline", keyAdd({ deadline: 0 }), /deadline is missing/],
  ["a gasless key without ttl", keyAdd({ ttl: 0 }), /ttl/],
  ["a gasless key for 90 days and a second", keyAdd({ ttl: 90 * 86_400 + 1 }), /ttl/],
  ["a gasless key with metadata type 2", keyAdd({ metadataType: 2 }), /metadata_type/],
  ["a gasless key without metadata", keyAdd({ metadata: raw() }), /metadata/],
  [
    "a gasless key with truncated metadata",
    keyAdd({ metadata: requestMetadata(BigInt(DEFAULT_TIMESTAMP)).subarray(0, -32) }),
    /metadata/,
  ],
  ["a gasless key without scopes", keyAdd({ scopes: [] }), /scopes must be/],
  ["a gasless key with 17 scopes", keyAdd({ scopes: new Array(17).fill(1) }), /scopes must be/],
  ["a gasless key that may add keys", keyAdd({ scopes: [T.MESSAGE_TYPE_KEY_ADD] }), /cannot be granted/],
  [
    "a gasless key that may add casts and keys",
    keyAdd({ scopes: [T.MESSAGE_TYPE_CAST_ADD, T.MESSAGE_TYPE_KEY_ADD] }),
    /cannot be granted/,
  ],
  ["a gasless key with an unknown scope", keyAdd({ scopes: [18 as MessageType] }), /cannot be granted/],
  [
    "a gasless key with a custody signature of 64 bytes",
    keyAdd({ custodySignature: new Uint8Array(64) }),
    /custody_signature/,
  ],
  [
    "a gasless key whose request has expired",
    keyAdd({ metadata: requestMetadata(BigInt(DEFAULT_TIMESTAMP) - 1n) }),
    /expired/,
  ],
  [
    "a gasless key whose request never expires",
    keyAdd({ metadata: requestMetadata(2n ** 64n) }),
    /out of range/,
  ],
  [
    "a gasless key whose request names another signer",
    keyAdd({ metadata: requestMetadata(BigInt(DEFAULT_TIMESTAMP), wallet.address) }),
    /not signed by its signer/,
  ],
  [
    "a gasless key requested for another key",
    keyAdd({ metadata: requestMetadata(BigInt(DEFAULT_TIMESTAMP), app.address, signer.publicKey) }),
    /not signed by its signer/,
  ],
  ["removal of a gasless key of 33 bytes", keyRemove({ key: raw(gaslessKey, 1) }), /key must be 32/],
  ["removal of a gasless key without deadline", keyRemove({ deadline: 0 }), /deadline is missing/],
  ["removal of a gasless key of signature type 3", keyRemove({ signatureType: 3 }), /signature_type/],
  ["removal by custody with 64 bytes", keyRemove({ signature: new Uint8Array(64) }), /65 bytes/],
  ["removal by itself, signed by another key", keyRemove({ signatureType: 2 }), /its own removal/],
];

describe("verifications and gasless keys", () => {
  testMessages(valid, refused, "bad_request.validation_failure");
});
