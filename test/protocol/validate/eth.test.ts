import { expect, test } from "bun:test";
import { recoverAddress } from "../../../src/protocol/validate/eth.ts";
import { makeWallet, signDigest } from "../../support/messages.ts";

test("only a signature of 65 bytes has a signer", () => {
  const wallet = makeWallet("eth");
  const digest = new Uint8Array(32).fill(3);
  const signature = signDigest(digest, wallet);
  expect(recoverAddress(digest, signature)).toEqual(wallet.address);
  for (const other of [signature.subarray(0, 64), Buffer.concat([signature, Buffer.of(0)])])
    expect(recoverAddress(digest, other)).toBeUndefined();
});
