import { describe, expect, test } from "bun:test";
import * as core from "@farcaster/core";
import { privateKeyToAccount } from "viem/accounts";
import { decodeMessage, encodeMessage } from "../../../src/protocol/message/signed-message.ts";
import { validateMessage } from "../../../src/protocol/validate/message.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { makeSigner, makeWallet, signBytes, signedCast } from "../../support/messages.ts";
import { expectOk } from "../../support/result.ts";

const FID = 4711;
const TARGET = { fid: 3, hash: new Uint8Array(20).fill(7) };
const key = makeSigner("oracle");
const wallet = makeWallet("oracle");
const app = makeWallet("oracle app");
const signer = new core.NobleEd25519Signer(key.privateKey);
const custody = coreWallet(wallet);
const appCustody = coreWallet(app);
const timestamp = core.getFarcasterTime()._unsafeUnwrap();
const options = { fid: FID, network: core.FarcasterNetwork.MAINNET, timestamp };
const ctx = {
  network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
  nowUnixSecs: 1_609_459_200 + timestamp,
};

function coreWallet({ privateKey }: { privateKey: Uint8Array }) {
  return new core.ViemLocalEip712Signer(privateKeyToAccount(`0x${Buffer.from(privateKey).toString("hex")}`));
}

const userData = (type: core.UserDataType, value: string) =>
  core.makeUserDataAdd({ type, value }, options, signer);

const castAdd = (over: Partial<core.CastAddBody>, at = timestamp) =>
  core.makeCastAdd(
    {
      text: "",
      embeds: [],
      embedsDeprecated: [],
      mentions: [],
      mentionsPositions: [],
      type: core.CastType.CAST,
      ...over,
    },
    { ...options, timestamp: at },
    signer,
  );

async function ethVerification() {
  const blockHash = new Uint8Array(32).fill(9);
  const claim = core.makeVerificationAddressClaim(
    FID,
    wallet.address,
    core.FarcasterNetwork.MAINNET,
    blockHash,
    core.Protocol.ETHEREUM,
  );
  const signature = await custody.signVerificationEthAddressClaim(
    claim._unsafeUnwrap() as core.VerificationAddressClaimEthereum,
  );
  return core.makeVerificationAddEthAddress(
    {
      address: wallet.address,
      blockHash,
      claimSignature: signature._unsafeUnwrap(),
      verificationType: 0,
      chainId: 0,
      protocol: core.Protocol.ETHEREUM,
    },
    options,
    signer,
  );
}

function solanaVerification() {
  const solana = makeSigner("solana");
  const blockHash = new Uint8Array(32).fill(5);
  const claim = core.makeVerificationAddressClaim(
    FID,
    solana.publicKey,
    core.FarcasterNetwork.MAINNET,
    blockHash,
    core.Protocol.SOLANA,
  );
  const text = core.recreateSolanaClaimMessage(
    claim._unsafeUnwrap() as core.VerificationAddressClaimSolana,
    solana.publicKey,
  );
  return core.makeVerificationAddEthAddress(
    {
      address: solana.publicKey,
      blockHash,
      claimSignature: signBytes(text, solana),
      verificationType: 0,
      chainId: 0,
      protocol: core.Protocol.SOLANA,
    },
    options,
    signer,
  );
}

async function keyAdd() {
  const body = await core.makeKeyAddBody(
    {
      fid: BigInt(FID),
      key: makeSigner("gasless").publicKey,
      scopes: [core.MessageType.CAST_ADD, core.MessageType.LEND_STORAGE],
      ttl: 90 * 86_400,
      nonce: 1,
      deadline: timestamp + 3600,
      requestFid: 9n,
    },
    custody,
    appCustody,
  );
  return core.makeKeyAdd(body._unsafeUnwrap(), options, signer);
}

async function keyRemove() {
  const body = await core.makeKeyRemoveBody(
    { fid: BigInt(FID), key: makeSigner("gasless").publicKey, nonce: 2, deadline: timestamp + 3600 },
    custody,
  );
  return core.makeKeyRemove(body._unsafeUnwrap(), options, signer);
}

function keyRemoveBySelf() {
  const body = core.makeKeyRemoveBodySelfRevoke({
    key: key.publicKey,
    nonce: 1,
    deadline: timestamp + 3600,
  });
  return core.makeKeyRemove(body._unsafeUnwrap(), options, signer);
}

function usernameProof(type: core.UserNameType, name: string) {
  const proof = core.UserNameProof.create({
    type,
    fid: FID,
    name: new TextEncoder().encode(name),
    owner: wallet.address,
    timestamp: 1_609_459_200 + timestamp,
    signature: new Uint8Array(65).fill(1),
  });
  return core.makeUsernameProof(proof, options, signer);
}

/** Every message type that @farcaster/core can build, in each form with rules of its own. */
const valid: Record<string, () => Promise<core.HubResult<core.Message>>> = {
  cast: () => castAdd({ text: "hello" }),
  "cast with a NUL and astral characters": () => castAdd({ text: "a\0b 🎩 é" }),
  "cast at 320 bytes": () => castAdd({ text: "é".repeat(160) }),
  "long cast at 321 bytes": () => castAdd({ text: "x".repeat(321), type: core.CastType.LONG_CAST }),
  "long cast at 1024 bytes": () => castAdd({ text: "x".repeat(1024), type: core.CastType.LONG_CAST }),
  "ten-k cast at 10000 bytes": () => castAdd({ text: "x".repeat(10_000), type: core.CastType.TEN_K_CAST }),
  "reply with mentions": () =>
    castAdd({ text: " hi ", mentions: [1, 2, 2], mentionsPositions: [0, 4, 4], parentCastId: TARGET }),
  "cast in a channel with four embeds": () =>
    castAdd({
      parentUrl: "https://example.com/~/channel/x",
      embeds: [{ url: "u".repeat(256) }, { castId: TARGET }, { url: "https://a.b" }, { castId: TARGET }],
    }),
  "cast of mentions alone": () => castAdd({ mentions: [1], mentionsPositions: [0] }),
  "old cast with deprecated embeds": () =>
    castAdd({ embedsDeprecated: ["https://a", "https://b"] }, 73_612_799),
  "cast remove": () => core.makeCastRemove({ targetHash: TARGET.hash }, options, signer),
  like: () => core.makeReactionAdd({ type: core.ReactionType.LIKE, targetCastId: TARGET }, options, signer),
  "recast of a url": () =>
    core.makeReactionAdd({ type: core.ReactionType.RECAST, targetUrl: "https://x" }, options, signer),
  "reaction remove": () =>
    core.makeReactionRemove({ type: core.ReactionType.LIKE, targetCastId: TARGET }, options, signer),
  "link add": () => core.makeLinkAdd({ type: "follow", targetFid: 5, displayTimestamp: 99 }, options, signer),
  "link add with a type of 8 bytes": () => core.makeLinkAdd({ type: "éééé", targetFid: 5 }, options, signer),
  "link remove": () => core.makeLinkRemove({ type: "block", targetFid: 5 }, options, signer),
  "compact link state": () =>
    core.makeLinkCompactState({ type: "follow", targetFids: [1, 2, 2, 2 ** 53 - 1] }, options, signer),
  "ethereum verification": ethVerification,
  "solana verification": solanaVerification,
  "ethereum verification remove": () =>
    core.makeVerificationRemove(
      { address: wallet.address, protocol: core.Protocol.ETHEREUM },
      options,
      signer,
    ),
  "solana verification remove": () =>
    core.makeVerificationRemove({ address: key.publicKey, protocol: core.Protocol.SOLANA }, options, signer),
  pfp: () => userData(core.UserDataType.PFP, "x".repeat(256)),
  display: () => userData(core.UserDataType.DISPLAY, "🎩".repeat(8)),
  bio: () => userData(core.UserDataType.BIO, ""),
  url: () => userData(core.UserDataType.URL, "https://example.com"),
  fname: () => userData(core.UserDataType.USERNAME, "alice-0123456789"),
  "ens name": () => userData(core.UserDataType.USERNAME, "alice-0123456789.eth"),
  basename: () => userData(core.UserDataType.USERNAME, "alice-0123456789.base.eth"),
  "no username": () => userData(core.UserDataType.USERNAME, ""),
  location: () => userData(core.UserDataType.LOCATION, "geo:-90.00,180.00"),
  "no location": () => userData(core.UserDataType.LOCATION, ""),
  twitter: () => userData(core.UserDataType.TWITTER, "a_123456789012x"),
  "no twitter": () => userData(core.UserDataType.TWITTER, ""),
  github: () => userData(core.UserDataType.GITHUB, "A-b-C9"),
  banner: () => userData(core.UserDataType.BANNER, "https://example.com/b.png"),
  "primary ethereum address": () =>
    userData(
      core.UserDataType.USER_DATA_PRIMARY_ADDRESS_ETHEREUM,
      "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    ),
  "primary solana address": () =>
    userData(
      core.UserDataType.USER_DATA_PRIMARY_ADDRESS_SOLANA,
      core.bytesToBase58(key.publicKey)._unsafeUnwrap(),
    ),
  "profile token": () =>
    userData(core.UserDataType.PROFILE_TOKEN, "eip155:1/erc721:0x06012c8cf97BEaD5deAe237070F9587f8E7A266d/7"),
  "live at": () => userData(core.UserDataType.LIVE_AT, "https://example.com/live"),
  "ens proof": () => usernameProof(core.UserNameType.USERNAME_TYPE_ENS_L1, "alice.eth"),
  "basename proof": () => usernameProof(core.UserNameType.USERNAME_TYPE_BASENAME, "alice.base.eth"),
  "storage lend": () =>
    core.makeLendStorage(
      { toFid: 8, numUnits: 5000, unitType: core.StorageUnitType.UNIT_TYPE_2025 },
      options,
      signer,
    ),
  "storage lend ended": () =>
    core.makeLendStorage(
      { toFid: 8, numUnits: 0, unitType: core.StorageUnitType.UNIT_TYPE_LEGACY },
      options,
      signer,
    ),
  "gasless key": keyAdd,
  "gasless key removed by custody": keyRemove,
  "gasless key removed by itself": keyRemoveBySelf,
};

describe("messages of @farcaster/core's builders", () => {
  for (const [name, build] of Object.entries(valid)) {
    test(`${name}: is valid here and unchanged by decoding and encoding`, async () => {
      const message = (await build())._unsafeUnwrap();
      const decoded = expectOk(decodeMessage(core.Message.encode(message).finish()));
      expect(validateMessage(decoded, ctx)).toBeUndefined();

      const again = core.Message.decode(encodeMessage(decoded));
      expect(again.data).toBeUndefined();
      expect(Buffer.from(again.dataBytes ?? [])).toEqual(Buffer.from(message.dataBytes ?? []));
      expect(Buffer.from(again.hash)).toEqual(Buffer.from(message.hash));
      expect(Buffer.from(again.signature)).toEqual(Buffer.from(message.signature));
    });
  }

  test("frame action: is refused because nodes do not store it", async () => {
    const built = await core.makeFrameAction(
      core.FrameActionBody.create({ url: new TextEncoder().encode("https://x"), buttonIndex: 1 }),
      options,
      signer,
    );
    const decoded = expectOk(decodeMessage(core.Message.encode(built._unsafeUnwrap()).finish()));
    expect(validateMessage(decoded, ctx)?.code).toBe("bad_request.validation_failure");
  });

  test("the cast of our test builders is valid for @farcaster/core", async () => {
    const bytes = signedCast(FID, "hello", key);
    expect((await core.validations.validateMessage(core.Message.decode(bytes))).isOk()).toBe(true);
  });
});
