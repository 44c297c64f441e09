import { expect, test } from "bun:test";
import { eip712 } from "@farcaster/core";
import fc from "fast-check";
import {
  fnameDigest,
  nameServerOf,
  verifyFnameSignature,
} from "../../../src/protocol/validate/username-proof.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { REGISTRY_PROOF, signedFnameProof, TEST_NAME_SERVER } from "../../support/events.ts";
import { makeWallet, signDigest } from "../../support/messages.ts";

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));

const real = nameServerOf(FarcasterNetwork.FARCASTER_NETWORK_MAINNET) ?? new Uint8Array();

test("the name server of mainnet and testnet is that of the registry; a devnet has none", () => {
  expect(verifyFnameSignature(REGISTRY_PROOF, real)).toBeUndefined();
  expect(nameServerOf(FarcasterNetwork.FARCASTER_NETWORK_TESTNET)).toEqual(real);
  expect(nameServerOf(FarcasterNetwork.FARCASTER_NETWORK_DEVNET)).toBeUndefined();
});

test.each([
  ["another name", { name: Buffer.from("farcasteR") }],
  ["another time", { timestamp: REGISTRY_PROOF.timestamp + 1 }],
  ["another owner", { owner: bytes("8773442740c17c9d0f0b87022c722f9a136206ee") }],
  ["no signature", { signature: new Uint8Array() }],
  ["a short signature", { signature: REGISTRY_PROOF.signature.slice(0, 64) }],
  [
    "another signature",
    { signature: Uint8Array.from(REGISTRY_PROOF.signature, (byte, at) => (at === 40 ? byte ^ 1 : byte)) },
  ],
  [
    "another parity",
    { signature: Uint8Array.from(REGISTRY_PROOF.signature, (byte, at) => (at === 64 ? 28 : byte)) },
  ],
])("refuses a proof with %s", (_, over) => {
  expect(verifyFnameSignature({ ...REGISTRY_PROOF, ...over }, real)?.reason).toBe(
    "signature is not the name server's",
  );
});

test("refuses a proof that someone else signed", () => {
  const proof = signedFnameProof("alice", 1, makeWallet("owner").address, 1_700_000_000);
  expect(verifyFnameSignature(proof, TEST_NAME_SERVER.address)).toBeUndefined();
  expect(verifyFnameSignature(proof, real)).toBeDefined();
});

test("the official library accepts the same signatures, over any name, time and owner", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,15}$/),
      fc.integer({ min: 1, max: 0xffff_ffff }),
      fc.uint8Array({ minLength: 20, maxLength: 20 }),
      async (name, timestamp, owner) => {
        const proof = { name: Buffer.from(name), timestamp, owner };
        const signature = signDigest(fnameDigest(proof), TEST_NAME_SERVER);
        const claim = {
          name,
          timestamp: BigInt(timestamp),
          owner: `0x${Buffer.from(owner).toString("hex")}` as const,
        };
        const theirs = await eip712.verifyUserNameProofClaim(claim, signature, TEST_NAME_SERVER.address);
        expect(theirs._unsafeUnwrap()).toBe(true);
      },
    ),
    { numRuns: 10 },
  );
});
