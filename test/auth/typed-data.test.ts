import { describe, expect, test } from "bun:test";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { TypedDataEncoder } from "ethers";
import fc from "fast-check";
import { hashTypedData } from "viem";
import { createSignedOpHasher, signedOpTypedData } from "../../src/auth/typed-data.ts";
import { serviceNames } from "../../src/config/names.ts";

const hex = (bytes: Uint8Array): `0x${string}` => `0x${Buffer.from(bytes).toString("hex")}`;

const fields = [
  { name: "op", type: "string" },
  { name: "fid", type: "uint64" },
  { name: "signedAt", type: "uint256" },
  { name: "nonce", type: "bytes32" },
  { name: "requestHash", type: "bytes32" },
] as const;

test("the definition for signers matches the contract", () => {
  expect(signedOpTypedData(serviceNames("svc"))).toEqual({
    domain: { name: "Svc", version: "1", chainId: 10 },
    types: { SvcSignedOp: fields },
    primaryType: "SvcSignedOp",
  });
});

test("the digest matches an independently computed one", () => {
  // Computed from the text of EIP-712 by a separate program (Python integers, Keccak from its specification).
  const digest = createSignedOpHasher(serviceNames("svc"))({
    op: "app.create",
    fid: 4242,
    signedAt: 1_756_272_000,
    nonce: new Uint8Array(32).fill(1),
    requestHash: keccak_256(Buffer.from('{"name":"Vector","app_url":"https://vector.example/"}')),
  });
  expect(hex(digest)).toBe("0x3e76b88dcd667ae0be957f5e4f321ec95f201f91b2379faf93ae502fdf3e4c98");
});

describe("viem and ethers compute the same digest of any operation", () => {
  const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const op = fc.record({
    op: fc.string({ unit: "binary", maxLength: 64 }).filter((text) => text.isWellFormed()),
    fid: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    signedAt: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    nonce: bytes32,
    requestHash: bytes32,
  });

  test.each(["svc", "a", "node2"])("for the service name %s", (name) => {
    const names = serviceNames(name);
    const digestOf = createSignedOpHasher(names);
    const capitalised = name.charAt(0).toUpperCase() + name.slice(1);
    const domain = { name: capitalised, version: "1", chainId: 10 };
    const primaryType = `${capitalised}SignedOp`;
    fc.assert(
      fc.property(op, (signed) => {
        const message = {
          ...signed,
          fid: BigInt(signed.fid),
          signedAt: BigInt(signed.signedAt),
          nonce: hex(signed.nonce),
          requestHash: hex(signed.requestHash),
        };
        const types = { [primaryType]: [...fields] };
        const digest = hex(digestOf(signed));
        expect(hashTypedData({ domain, types, primaryType, message })).toBe(digest);
        expect(TypedDataEncoder.hash(domain, types, message)).toBe(digest);
      }),
      { numRuns: 50 },
    );
  });
});
