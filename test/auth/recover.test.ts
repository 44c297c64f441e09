import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import fc from "fast-check";
import { recoverAddress } from "viem";
import { recoverSigner } from "../../src/auth/typed-data.ts";
import { makeWallet, signDigest } from "../support/messages.ts";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const wallet = makeWallet("recover");
const digest = new Uint8Array(createHash("sha256").update("digest").digest());
const good = signDigest(digest, wallet);
const hex = (bytes: Uint8Array): `0x${string}` => `0x${Buffer.from(bytes).toString("hex")}`;
const toBytes32 = (value: bigint) => Buffer.from(value.toString(16).padStart(64, "0"), "hex");
const withV = (signature: Uint8Array, v: number) => Uint8Array.from([...signature.subarray(0, 64), v]);
const parity = (good[64] ?? 0) - 27;

test("recovers the signer's address, as viem does, for both encodings of v", async () => {
  for (const v of [parity, 27 + parity]) {
    const address = recoverSigner(digest, withV(good, v));
    expect(address).toEqual(wallet.address);
    expect(hex(address ?? good)).toBe(
      (await recoverAddress({ hash: hex(digest), signature: hex(withV(good, v)) })).toLowerCase() as "0x",
    );
  }
});

test("the other parity recovers another key", () => {
  const other = recoverSigner(digest, withV(good, 27 + (1 - parity)));
  expect(other).toBeDefined();
  expect(other).not.toEqual(wallet.address);
});

test("accepts four of the 256 values of v", () => {
  const taken = [...Array(256).keys()].filter((v) => recoverSigner(digest, withV(good, v)) !== undefined);
  expect(taken).toEqual([0, 1, 27, 28]);
});

describe("rejects", () => {
  const s = BigInt(hex(good.subarray(32, 64)));
  const withS = (value: bigint, v: number) =>
    Uint8Array.from([...good.subarray(0, 32), ...toBytes32(value), v]);
  const withR = (r: Uint8Array) => Uint8Array.from([...r, ...good.subarray(32)]);
  test.each<[string, Uint8Array]>([
    ["the high s of the same signature", withS(ORDER - s, 27 + (1 - parity))],
    ["the least high s", withS(ORDER / 2n + 1n, 27)],
    ["s = 0", withS(0n, 27)],
    ["s = the order", withS(ORDER, 27)],
    ["r = 0", withR(new Uint8Array(32))],
    ["r = the order", withR(toBytes32(ORDER))],
    ["r on no point of the curve", withR(toBytes32(5n))],
    ["64 bytes", good.subarray(0, 64)],
    ["66 bytes", Uint8Array.from([...good, 0])],
    ["nothing", new Uint8Array()],
  ])("%s", (_what, signature) => {
    expect(recoverSigner(digest, signature)).toBeUndefined();
  });

  // (s R - h G) / r is not a key if h G = s R, which anyone can choose.
  test("a signature that cancels out", () => {
    const { BASE, Fn } = secp256k1.Point;
    const pointR = BASE.multiply(12345n).toBytes(true);
    const cancelled = toBytes32(Fn.mul(777n, 12345n));
    const signature = Uint8Array.from([...pointR.subarray(1), ...toBytes32(777n), (pointR[0] ?? 0) - 2]);
    expect(recoverSigner(cancelled, signature)).toBeUndefined();
  });

  test("accepts the greatest low s", () => {
    expect(recoverSigner(digest, withS(ORDER / 2n, 27))).toBeDefined();
  });
});

test("agrees with viem's library for any signature of any digest", () => {
  const bytes32 = fc.oneof(
    fc.uint8Array({ minLength: 32, maxLength: 32 }),
    fc.constantFrom(0n, 1n, ORDER - 1n, ORDER, 2n ** 256n - 1n).map(toBytes32),
  );
  fc.assert(
    fc.asyncProperty(bytes32, bytes32, bytes32, fc.constantFrom(0, 1, 27, 28), async (hash, r, s, v) => {
      const ours = recoverSigner(hash, Uint8Array.from([...r, ...s, v]));
      const lowS = BigInt(hex(s)) <= ORDER / 2n;
      const theirs = lowS
        ? await recoverAddress({ hash: hex(hash), signature: hex(Uint8Array.from([...r, ...s, v])) }).catch(
            () => undefined,
          )
        : undefined;
      expect(ours && hex(ours)).toBe(theirs?.toLowerCase() as `0x${string}` | undefined);
    }),
  );
});
