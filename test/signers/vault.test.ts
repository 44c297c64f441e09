import { describe, expect, test } from "bun:test";
import { ed25519 } from "@noble/curves/ed25519.js";
import { MessageData, MessageType } from "../../src/protocol/wire/generated/message.ts";
import { createVault } from "../../src/signers/vault.ts";
import { createMasterKeyText, readMasterKey } from "../../src/vault/master-key.ts";

const [one, two] = [readMasterKey("11".repeat(32)), readMasterKey("22".repeat(32))];
const UUID = "2f7ad6a5-0f5a-4d5e-9d3e-0d3a6f0c1b11";
const OTHER_UUID = "2f7ad6a5-0f5a-4d5e-9d3e-0d3a6f0c1b12";
const data = MessageData.fromPartial({ type: MessageType.MESSAGE_TYPE_CAST_ADD, fid: 3, network: 1 });

describe("vault", () => {
  const vault = createVault([one]);
  const signer = { signerUuid: UUID, ...vault.create(UUID) };

  test("signs with the key whose public half it has shown", () => {
    const { hash, signature, signer: key } = vault.sign(signer, data);
    expect(key).toEqual(signer.publicKey);
    expect(ed25519.verify(signature, hash, signer.publicKey)).toBe(true);
  });

  test("seals a seed with a fresh nonce each time, and never as it is", () => {
    const seed = new Uint8Array(32).fill(7);
    const [first, second] = [vault.seal(UUID, seed), vault.seal(UUID, seed)];
    expect(first.publicKey).toEqual(ed25519.getPublicKey(seed));
    expect(first.sealed).not.toEqual(second.sealed);
    expect(Buffer.from(first.sealed).includes(seed.subarray(0, 4))).toBe(false);
    expect(vault.open({ signerUuid: UUID, ...first })).toEqual(seed);
  });

  test.each([
    ["the row of another signer", { ...signer, signerUuid: OTHER_UUID }],
    ["the row of another key", { ...signer, publicKey: vault.create(UUID).publicKey }],
    ["a changed byte", { ...signer, sealed: signer.sealed.with(20, (signer.sealed[20] ?? 0) ^ 1) }],
    ["a missing byte", { ...signer, sealed: signer.sealed.slice(1) }],
    ["an unknown master key", { ...signer, keyId: two.keyId }],
  ])("does not open a seed in %s", (_, changed) => {
    expect(() => vault.open(changed)).toThrow();
    expect(() => vault.sign(changed, data)).toThrow();
  });

  test("does not open a seed under another master key that claims its id", () => {
    const impostor = createVault([{ ...two, keyId: one.keyId }]);
    expect(() => impostor.open(signer)).toThrow();
  });

  test("opens seeds of earlier master keys and seals them again under the current one", () => {
    const rotated = createVault([two, one]);
    expect(rotated.keyId).toBe(two.keyId);
    expect(rotated.open(signer)).toEqual(vault.open(signer));
    const resealed = { ...signer, ...rotated.reseal(signer) };
    expect(resealed.keyId).toBe(two.keyId);
    expect(createVault([two]).open(resealed)).toEqual(vault.open(signer));
    expect(() => vault.open(resealed)).toThrow();
  });

  test("has the id of a master key from a digest, and new ones differ", () => {
    expect(one.keyId).toBe("47e92bff0cf83bcd");
    expect(createMasterKeyText()).toMatch(/^[0-9a-f]{64}$/);
    expect(createMasterKeyText()).not.toBe(createMasterKeyText());
  });
});
