import { describe, expect, test } from "bun:test";
import { hashTypedData } from "viem/utils";
import { decodeMessage, type SignedMessage } from "../../../src/protocol/message/signed-message.ts";
import { isCostly } from "../../../src/protocol/validate/message.ts";
import { needsChainCheck, needsPro } from "../../../src/protocol/validate/requirements.ts";
import { requiredUsername, requiredVerifiedAddress } from "../../../src/protocol/validate/user-data.ts";
import { usernameOf } from "../../../src/protocol/validate/username-proof.ts";
import {
  CastType,
  MessageType,
  UserDataType,
  UserNameType,
  VerificationProtocol,
} from "../../../src/protocol/wire/generated/message.ts";
import { makeSigner, makeWallet, signMessage, type TestData } from "../../support/messages.ts";
import { expectOk } from "../../support/result.ts";
import { castData, FID, padded, seal, utf8 } from "./message-tables.ts";

const signer = makeSigner("alice");
const wallet = makeWallet("alice");

function decoded(bytes: Uint8Array): SignedMessage {
  return expectOk(decodeMessage(bytes));
}

const built = (data: TestData) => decoded(signMessage(data, signer));

const userData = (type: UserDataType, value: string) =>
  built({
    type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
    fid: FID,
    body: { $case: "userDataBody", value: { type, value } },
  });

describe("needsPro", () => {
  test("returns a reason for ten-k casts, casts above 2048 bytes and banners", () => {
    expect(needsPro(built(castData({ text: "x", type: CastType.CAST_TYPE_TEN_K_CAST })))).toMatch(/ten-k/);
    expect(needsPro(decoded(seal(padded(castData({ text: "x" }), 2049))))).toMatch(/2048/);
    expect(needsPro(userData(UserDataType.USER_DATA_TYPE_BANNER, "x"))).toMatch(/banner/);
    expect(needsPro(userData(UserDataType.USER_DATA_TYPE_BANNER, ""))).toMatch(/banner/);
  });

  test("returns undefined for casts of 2048 bytes with four embeds, and large proofs", () => {
    const embeds = Array.from({ length: 4 }, () => ({ embed: { $case: "url" as const, value: "u" } }));
    expect(needsPro(decoded(seal(padded(castData({ text: "x", embeds }), 2048))))).toBeUndefined();
    const type = MessageType.MESSAGE_TYPE_USERNAME_PROOF;
    const proof: TestData = { type, fid: FID, body: { $case: "usernameProofBody", value: {} } };
    expect(needsPro(decoded(seal(padded(proof, 16_384))))).toBeUndefined();
    expect(needsPro(userData(UserDataType.USER_DATA_TYPE_PFP, "x"))).toBeUndefined();
  });
});

test("checks cost more for Ethereum claims, names and gasless keys, not for other messages", () => {
  const { VERIFICATION_PROTOCOL_ETHEREUM, VERIFICATION_PROTOCOL_SOLANA } = VerificationProtocol;
  const verification = (protocol: VerificationProtocol): TestData["body"] => ({
    $case: "verificationAddBody",
    value: { protocol },
  });
  const isCostlyBody = (body: TestData["body"]) => isCostly(built({ fid: FID, body }));
  for (const body of [
    verification(VERIFICATION_PROTOCOL_ETHEREUM),
    { $case: "usernameProofBody" as const, value: {} },
    { $case: "keyAddBody" as const, value: {} },
    { $case: "keyRemoveBody" as const, value: {} },
  ])
    expect(isCostlyBody(body)).toBe(true);
  expect(isCostlyBody(verification(VERIFICATION_PROTOCOL_SOLANA))).toBe(false);
  expect(isCostly(built(castData({ text: "x" })))).toBe(false);
});

test("a name that is not UTF-8 has no text", () => {
  expect(usernameOf({ name: utf8("é") })).toBe("é");
  expect(usernameOf({ name: Uint8Array.of(0x61, 0xff) })).toBeUndefined();
});

describe("requiredUsername and requiredVerifiedAddress", () => {
  test("return a username that is set, undefined if it is unset or for other data", () => {
    expect(requiredUsername(userData(UserDataType.USER_DATA_TYPE_USERNAME, "a.eth").data)).toBe("a.eth");
    expect(requiredUsername(userData(UserDataType.USER_DATA_TYPE_USERNAME, "").data)).toBeUndefined();
    expect(requiredUsername(userData(UserDataType.USER_DATA_TYPE_DISPLAY, "a").data)).toBeUndefined();
    expect(requiredUsername(built(castData({ text: "a" })).data)).toBeUndefined();
  });

  test("return a primary address as protocol and bytes, undefined if it is unset or for other data", () => {
    const ethereum = UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM;
    const solana = UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA;
    expect(
      requiredVerifiedAddress(userData(ethereum, "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed").data),
    ).toEqual({
      protocol: VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM,
      address: new Uint8Array(Buffer.from("5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "hex")),
    });
    expect(requiredVerifiedAddress(userData(solana, `${"1".repeat(31)}2`).data)).toEqual({
      protocol: VerificationProtocol.VERIFICATION_PROTOCOL_SOLANA,
      address: Uint8Array.from([...new Array(31).fill(0), 1]),
    });
    expect(requiredVerifiedAddress(userData(ethereum, "").data)).toBeUndefined();
    expect(requiredVerifiedAddress(userData(solana, "").data)).toBeUndefined();
    expect(requiredVerifiedAddress(userData(UserDataType.USER_DATA_TYPE_PFP, "x").data)).toBeUndefined();
    expect(requiredVerifiedAddress(built(castData({ text: "a" })).data)).toBeUndefined();
  });
});

describe("needsChainCheck", () => {
  const verification = (
    verificationType: number,
    protocol = VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM,
  ) =>
    built({
      type: MessageType.MESSAGE_TYPE_VERIFICATION_ADD,
      fid: FID,
      body: {
        $case: "verificationAddBody",
        value: {
          address: wallet.address,
          blockHash: new Uint8Array(32).fill(9),
          claimSignature: new Uint8Array(70).fill(3),
          chainId: 10,
          verificationType,
          protocol,
        },
      },
    }).data;

  test("returns a contract's claim as the hash that viem computes for its chain", () => {
    const claimHash = hashTypedData({
      domain: {
        name: "Farcaster Verify Ethereum Address",
        version: "2.0.0",
        chainId: 10,
        salt: "0xf2d857f4a3edcb9b78b4d503bfe733db1e3f6cdc2b7971ee739626c97e86a558",
      },
      types: {
        VerificationClaim: [
          { name: "fid", type: "uint256" },
          { name: "address", type: "address" },
          { name: "blockHash", type: "bytes32" },
          { name: "network", type: "uint8" },
        ],
      },
      primaryType: "VerificationClaim",
      message: {
        fid: BigInt(FID),
        address: `0x${Buffer.from(wallet.address).toString("hex")}`,
        blockHash: `0x${"09".repeat(32)}`,
        network: 1,
      },
    });
    expect(needsChainCheck(verification(1))).toEqual({
      kind: "contract-verification",
      chainId: 10,
      address: wallet.address,
      claimHash: new Uint8Array(Buffer.from(claimHash.slice(2), "hex")),
      signature: new Uint8Array(70).fill(3),
    });
  });

  test("returns undefined for a claim of a key, for Solana and for other messages", () => {
    expect(needsChainCheck(verification(0))).toBeUndefined();
    expect(
      needsChainCheck(verification(1, VerificationProtocol.VERIFICATION_PROTOCOL_SOLANA)),
    ).toBeUndefined();
    expect(needsChainCheck(built(castData({ text: "a" })).data)).toBeUndefined();
  });

  test.each([
    [UserNameType.USERNAME_TYPE_ENS_L1, "alice.eth", 1],
    [UserNameType.USERNAME_TYPE_BASENAME, "alice.base.eth", 8453],
  ])("gives a name proof of type %p with its chain", (type, name, chainId) => {
    const { data } = built({
      type: MessageType.MESSAGE_TYPE_USERNAME_PROOF,
      fid: FID,
      body: {
        $case: "usernameProofBody",
        value: { type, name: utf8(name), owner: wallet.address, fid: FID },
      },
    });
    expect(needsChainCheck(data)).toEqual({
      kind: "name-proof",
      chainId,
      name,
      owner: wallet.address,
      fid: FID,
    });
  });
});
