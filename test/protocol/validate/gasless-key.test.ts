import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeAbiParameters, encodeAbiParameters } from "viem/utils";
import {
  decodeSignedKeyRequest,
  keyAddDigest,
  keyRemoveDigest,
  recoverKeyAddCustody,
  recoverKeyRemoveCustody,
  recoverSignedKeyRequestSigner,
  signedKeyRequestDigest,
} from "../../../src/protocol/validate/chain/gasless-key.ts";
import { KeyAddBody, KeyRemoveBody, MessageData } from "../../../src/protocol/wire/generated/message.ts";
import { makeSigner, makeWallet, signDigest } from "../../support/messages.ts";

const wallet = makeWallet("custody");
const key = makeSigner("gasless").publicKey;
const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}` as const;
const abi = [
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

function encode(requestFid: bigint, requestSigner: Uint8Array, signature: Uint8Array, deadline: bigint) {
  const encoded = encodeAbiParameters(abi, [
    { requestFid, requestSigner: hex(requestSigner), signature: hex(signature), deadline },
  ]);
  return new Uint8Array(Buffer.from(encoded.slice(2), "hex"));
}

const request = fc.record({
  requestFid: fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }),
  requestSigner: fc.uint8Array({ minLength: 20, maxLength: 20 }),
  signature: fc.uint8Array({ maxLength: 100 }),
  deadline: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
});

describe("decodeSignedKeyRequest", () => {
  test("decodes what viem encodes", () => {
    fc.assert(
      fc.property(request, ({ requestFid, requestSigner, signature, deadline }) => {
        expect(decodeSignedKeyRequest(encode(requestFid, requestSigner, signature, deadline))).toEqual({
          requestFid: Number(requestFid),
          requestSigner,
          signature,
          deadline,
        });
      }),
    );
  });

  test("decodes damaged bytes like viem or returns undefined, and never throws", () => {
    const damaged = fc
      .tuple(request, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }), fc.nat(40))
      .map(([{ requestFid, requestSigner, signature, deadline }, edits, cut]) => {
        const bytes = encode(requestFid, requestSigner, signature, deadline);
        for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
        return bytes.subarray(0, bytes.length - cut);
      });
    fc.assert(
      fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 300 })), (bytes) => {
        const decoded = decodeSignedKeyRequest(bytes);
        if (decoded === undefined) return;
        const [tuple] = decodeAbiParameters(abi, hex(bytes));
        expect(hex(decoded.signature)).toBe(tuple.signature);
        expect(hex(decoded.requestSigner)).toBe(tuple.requestSigner.toLowerCase() as `0x${string}`);
        expect([BigInt(decoded.requestFid), decoded.deadline]).toEqual([tuple.requestFid, tuple.deadline]);
      }),
      { numRuns: 1000 },
    );
  });

  test("refuses an fid above 2^53 - 1, an address of more than 20 bytes and a length of 2^256 - 1", () => {
    const valid = encode(9n, wallet.address, new Uint8Array(65), 1n);
    expect(decodeSignedKeyRequest(valid)?.requestFid).toBe(9);
    expect(decodeSignedKeyRequest(encode(2n ** 53n, wallet.address, new Uint8Array(65), 1n))).toBeUndefined();
    const largest = encode(2n ** 53n - 1n, wallet.address, new Uint8Array(65), 1n);
    expect(decodeSignedKeyRequest(largest)?.requestFid).toBe(2 ** 53 - 1);
    for (const word of [2, 5]) {
      const bytes = Uint8Array.from(valid).fill(255, word * 32, word * 32 + 12);
      expect(decodeSignedKeyRequest(bytes)).toBeUndefined();
    }
  });
});

test("refuses a request that is truncated before its deadline, even if its signature is at another offset", () => {
  const words = [32, 0, 7, 0].map((value) => Uint8Array.of(...new Uint8Array(31), value));
  expect(decodeSignedKeyRequest(new Uint8Array(Buffer.concat(words)))).toBeUndefined();
  const whole = [...words, Uint8Array.of(...new Uint8Array(31), 9)];
  expect(decodeSignedKeyRequest(new Uint8Array(Buffer.concat(whole)))?.deadline).toBe(9n);
});

describe("recovery of the signer", () => {
  const FID = 12;

  test("of a signed key request depends on the key", () => {
    const signature = signDigest(signedKeyRequestDigest(9, key, 77n), wallet);
    const decoded = { requestFid: 9, requestSigner: wallet.address, signature, deadline: 77n };
    expect(recoverSignedKeyRequestSigner(decoded, key)).toEqual(wallet.address);
    expect(recoverSignedKeyRequestSigner(decoded, makeSigner("other").publicKey)).not.toEqual(wallet.address);
  });

  test("of a KEY_ADD depends on every signed field", () => {
    const body = KeyAddBody.fromPartial({ key, keyType: 1, deadline: 5, nonce: 6, scopes: [1, 2], ttl: 7 });
    const custodySignature = signDigest(keyAddDigest(FID, body), wallet);
    const recover = (over: Partial<KeyAddBody>, fid = FID) =>
      recoverKeyAddCustody(
        MessageData.fromPartial({
          fid,
          body: { $case: "keyAddBody", value: { ...body, custodySignature, ...over } },
        }),
      );
    expect(recover({})).toEqual(wallet.address);
    expect(recover({}, FID + 1)).not.toEqual(wallet.address);
    const changes: Partial<KeyAddBody>[] = [
      { deadline: 6 },
      { nonce: 7 },
      { scopes: [1] },
      { ttl: 8 },
      { keyType: 2 },
    ];
    for (const over of changes) expect(recover(over)).not.toEqual(wallet.address);
  });

  test("of a KEY_REMOVE works for custody and returns undefined for a removal by the key itself", () => {
    const body = KeyRemoveBody.fromPartial({ key, signatureType: 1, deadline: 5, nonce: 6 });
    const signature = signDigest(keyRemoveDigest(FID, body), wallet);
    const recover = (over: Partial<KeyRemoveBody>) =>
      recoverKeyRemoveCustody(
        MessageData.fromPartial({
          fid: FID,
          body: { $case: "keyRemoveBody", value: { ...body, signature, ...over } },
        }),
      );
    expect(recover({})).toEqual(wallet.address);
    expect(recover({ nonce: 7 })).not.toEqual(wallet.address);
    expect(recover({ signatureType: 2 })).toBeUndefined();
  });

  test("of a message of another type returns undefined", () => {
    const data = MessageData.fromPartial({ fid: FID });
    expect([recoverKeyAddCustody(data), recoverKeyRemoveCustody(data)]).toEqual([undefined, undefined]);
  });
});
