import { expect, test } from "bun:test";
import fc from "fast-check";
import { privateKeyToAccount } from "viem/accounts";
import { hashTypedData as hashByViem } from "viem/utils";
import {
  hashTypedData,
  signTextWith,
  signTypedDataWith,
  textOfHex,
} from "../../../../src/console/web/owner/wallet/typed-data.ts";
import { demoKeys } from "../../../../src/demo/keys.ts";

const types = {
  SignedOp: [
    { name: "op", type: "string" },
    { name: "fid", type: "uint64" },
    { name: "signedAt", type: "uint256" },
    { name: "nonce", type: "bytes32" },
    { name: "who", type: "Person" },
    { name: "flag", type: "bool" },
    { name: "data", type: "bytes" },
    { name: "small", type: "int8" },
  ],
  Person: [
    { name: "wallet", type: "address" },
    { name: "half", type: "bytes4" },
  ],
} as const;
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((value) => `0x${value.toHex()}` as const);

const message = fc.record({
  op: fc.string({ unit: "grapheme" }),
  fid: fc.bigInt(0n, 2n ** 64n - 1n),
  signedAt: fc.bigInt(0n, 2n ** 256n - 1n),
  nonce: bytes(32),
  who: fc.record({ wallet: bytes(20), half: bytes(4) }),
  flag: fc.boolean(),
  data: fc.uint8Array({ maxLength: 80 }).map((value) => `0x${value.toHex()}` as const),
  small: fc.integer({ min: -128, max: 127 }),
});
const domain = fc.record(
  {
    name: fc.string(),
    version: fc.string({ minLength: 1 }),
    chainId: fc.integer({ min: 1 }),
    verifyingContract: bytes(20),
    salt: bytes(32),
  },
  { requiredKeys: ["name"] },
);

test("typed data has the hash that viem computes", () => {
  fc.assert(
    fc.property(domain, message, (givenDomain, given) => {
      const typed = { domain: givenDomain, types, primaryType: "SignedOp", message: given } as const;
      expect(`0x${hashTypedData(typed).toHex()}`).toBe(hashByViem(typed));
    }),
  );
});

test("the signature equals viem's with the same key", async () => {
  const keys = demoKeys(17)?.custody;
  if (!keys) throw new Error("no keys");
  const typed = {
    domain: { name: "Svc", version: "1", chainId: 10 },
    types: { SvcSignedOp: [{ name: "op", type: "string" }] },
    primaryType: "SvcSignedOp",
    message: { op: "app.create" },
  } as const;
  const account = privateKeyToAccount(keys.privateKey);
  expect(signTypedDataWith(keys.privateKey, typed)).toBe(await account.signTypedData(typed));
  expect(account.address.toLowerCase()).toBe(keys.address);
});

test.each([
  ["uint8", 256],
  ["uint8", -1],
  ["int8", 128],
  ["address", "0x00"],
  ["bytes4", "0x0000000000"],
  ["uint256[]", [1]],
  ["Missing", {}],
  ["bytes", "0xzz"],
])("a value that is not a valid %s is refused: %j", (type, value) => {
  const typed = {
    domain: { name: "x" },
    types: { A: [{ name: "a", type }] },
    primaryType: "A",
    message: { a: value },
  };
  expect(() => hashTypedData(typed)).toThrow();
});

test("types that contain themselves end", () => {
  const loop: Record<string, unknown> = {};
  loop.a = loop;
  const typed = {
    domain: { name: "x" },
    types: { A: [{ name: "a", type: "A" }] },
    primaryType: "A",
    message: loop,
  };
  expect(() => hashTypedData(typed)).toThrow();
});

test("the demo wallet signs texts as viem does", async () => {
  const keys = demoKeys(3);
  if (!keys) throw new Error("no such person");
  const account = privateKeyToAccount(keys.custody.privateKey);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (raw) => {
      const signature = signTextWith(keys.custody.privateKey, `0x${raw.toHex()}`);
      expect(signature).toBe(await account.signMessage({ message: { raw } }));
    }),
    { numRuns: 20 },
  );
  expect(textOfHex("0xc3bc0a31")).toBe("ü\n1");
});
