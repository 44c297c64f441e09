import { describe, expect, test } from "bun:test";
import * as core from "@farcaster/core";
import {
  checkNotInFuture,
  validateOnChainEvent,
} from "../../../src/protocol/validate/chain/on-chain-event.ts";
import { validateFnameProof } from "../../../src/protocol/validate/username-proof.ts";
import { FarcasterNetwork, UserNameProof } from "../../../src/protocol/wire/generated/message.ts";
import {
  ChannelRegisterEventBody,
  OnChainEvent,
  OnChainEventType,
} from "../../../src/protocol/wire/generated/on-chain.ts";
import { utf8 } from "./message-tables.ts";

const MAINNET = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const DEVNET = FarcasterNetwork.FARCASTER_NETWORK_DEVNET;
const ADDRESS = new Uint8Array(20).fill(1);
const KEY = new Uint8Array(32).fill(2);

/** An event that @farcaster/core encodes and we decode. */
function event(over: Partial<core.OnChainEvent>): OnChainEvent {
  return OnChainEvent.decode(
    core.OnChainEvent.encode(
      core.OnChainEvent.create({
        chainId: 10,
        blockNumber: 100,
        blockHash: new Uint8Array(32).fill(3),
        blockTimestamp: 1_700_000_000,
        transactionHash: new Uint8Array(32).fill(4),
        fid: 7,
        ...over,
      }),
    ).finish(),
  );
}

const T = core.OnChainEventType;
const signer = (body: Partial<core.SignerEventBody>, over: Partial<core.OnChainEvent> = {}) =>
  event({ type: T.EVENT_TYPE_SIGNER, signerEventBody: core.SignerEventBody.create(body), ...over });
const idRegister = (body: Partial<core.IdRegisterEventBody>, over: Partial<core.OnChainEvent> = {}) =>
  event({
    type: T.EVENT_TYPE_ID_REGISTER,
    idRegisterEventBody: core.IdRegisterEventBody.create(body),
    ...over,
  });
const rent = (body: Partial<core.StorageRentEventBody>, over: Partial<core.OnChainEvent> = {}) =>
  event({
    type: T.EVENT_TYPE_STORAGE_RENT,
    storageRentEventBody: core.StorageRentEventBody.create(body),
    ...over,
  });
const tier = (body: Partial<core.TierPurchaseBody>, over: Partial<core.OnChainEvent> = {}) =>
  event({
    type: T.EVENT_TYPE_TIER_PURCHASE,
    tierPurchaseEventBody: core.TierPurchaseBody.create(body),
    chainId: 8453,
    ...over,
  });

/** @farcaster/core does not have this kind of event. */
const channel = (over: Partial<ChannelRegisterEventBody>, chainId = 10): OnChainEvent => ({
  ...event({ fid: 0, chainId }),
  type: OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER,
  body: { $case: "channelRegisterEventBody", value: ChannelRegisterEventBody.fromPartial(over) },
});

const ADD = core.SignerEventType.ADD;
const REMOVE = core.SignerEventType.REMOVE;
const PRO = core.TierType.Pro;
const registered = { eventType: core.IdRegisterEventType.REGISTER, to: ADDRESS, recoveryAddress: ADDRESS };

const valid: [name: string, event: OnChainEvent][] = [
  ["a key", signer({ eventType: ADD, keyType: 1, key: KEY, metadataType: 1, metadata: new Uint8Array(352) })],
  [
    "an auth address",
    signer({ eventType: ADD, keyType: 2, key: Buffer.concat([Buffer.alloc(12), ADDRESS]) }),
  ],
  ["an auth address of one byte", signer({ eventType: ADD, keyType: 2, key: ADDRESS.subarray(19) })],
  ["a removed key of 1024 bytes", signer({ eventType: REMOVE, key: new Uint8Array(1024) })],
  [
    "a channel with the longest texts",
    channel({
      channelKey: "é".repeat(2048),
      ownerAddress: new Uint8Array(1024),
      label: new Uint8Array(1024),
    }),
  ],
  ["a channel on any chain", channel({ channelKey: "books" }, 31_337)],
  ["a bare auth address", signer({ eventType: ADD, keyType: 2, key: ADDRESS })],
  ["an auth address that is none", signer({ eventType: ADD, keyType: 2, key: KEY.subarray(1) })],
  ["a removed key of 33 bytes, as the chain took it", signer({ eventType: REMOVE, key: new Uint8Array(33) })],
  ["a removed key", signer({ eventType: REMOVE, key: KEY })],
  ["a removed auth address", signer({ eventType: REMOVE, key: ADDRESS })],
  ["a reset key", signer({ eventType: core.SignerEventType.ADMIN_RESET, key: KEY })],
  [
    "the migration of signers",
    event({ type: T.EVENT_TYPE_SIGNER_MIGRATED, fid: 0, signerMigratedEventBody: { migratedAt: 1 } }),
  ],
  ["a registration", idRegister(registered)],
  ["a transfer", idRegister({ eventType: core.IdRegisterEventType.TRANSFER, to: ADDRESS, from: ADDRESS })],
  [
    "a change of recovery",
    idRegister({ eventType: core.IdRegisterEventType.CHANGE_RECOVERY, recoveryAddress: ADDRESS }),
  ],
  ["rent", rent({ payer: ADDRESS, units: 1, expiry: 5 })],
  [
    "metadata of 4096 bytes",
    signer({ eventType: ADD, keyType: 1, key: KEY, metadata: new Uint8Array(4096) }),
  ],
  ["a purchase of 36500 days", tier({ tierType: PRO, forDays: 36_500 })],
  ["the first second of unix time", rent({ units: 1 }, { blockTimestamp: 1 })],
  ["the last second of 32 bits", rent({ units: 1 }, { blockTimestamp: 0xffff_ffff })],
  ["a pro purchase", tier({ tierType: PRO, forDays: 30, payer: ADDRESS })],
];

const refused: [name: string, event: OnChainEvent, reason: RegExp][] = [
  ["no type", event({}), /type is unknown/],
  ["an unknown type", { ...event({}), type: 7 as OnChainEvent["type"] }, /type is unknown/],
  ["a type without body", event({ type: T.EVENT_TYPE_ID_REGISTER }), /does not belong/],
  ["the body of another type", rent({ units: 1 }, { type: T.EVENT_TYPE_ID_REGISTER }), /does not belong/],
  [
    "a migration with the body of another",
    rent({ units: 1 }, { type: T.EVENT_TYPE_SIGNER_MIGRATED }),
    /does not belong/,
  ],
  ["a registration of fid 0", idRegister(registered, { fid: 0 }), /fid is missing/],
  ["a block hash of 31 bytes", idRegister(registered, { blockHash: new Uint8Array(31) }), /block_hash/],
  [
    "a transaction hash of 33 bytes",
    idRegister(registered, { transactionHash: new Uint8Array(33) }),
    /transaction_hash/,
  ],
  ["no time", idRegister(registered, { blockTimestamp: 0 }), /block_timestamp/],
  [
    "a time in milliseconds",
    idRegister(registered, { blockTimestamp: 1_700_000_000_000 }),
    /block_timestamp/,
  ],
  ["a registration on Base", idRegister(registered, { chainId: 8453 }), /chain_id must be 10/],
  ["a purchase on Optimism", tier({ tierType: PRO, forDays: 1 }, { chainId: 10 }), /chain_id must be 8453/],
  ["a registration to nobody", idRegister({ ...registered, to: new Uint8Array() }), /^to must be 20/],
  [
    "a transfer to 32 bytes",
    idRegister({ eventType: core.IdRegisterEventType.TRANSFER, to: KEY }),
    /^to must be 20/,
  ],
  [
    "a recovery address of 19 bytes",
    idRegister({ ...registered, recoveryAddress: ADDRESS.subarray(1) }),
    /recovery_address/,
  ],
  [
    "no recovery address",
    idRegister({ eventType: core.IdRegisterEventType.CHANGE_RECOVERY }),
    /recovery_address/,
  ],
  ["an id event of no type", idRegister({ to: ADDRESS }), /event type/],
  ["a key of 31 bytes", signer({ eventType: ADD, keyType: 1, key: KEY.subarray(1) }), /key must be 32/],
  ["an auth address of no bytes", signer({ eventType: ADD, keyType: 2 }), /key must be 1 to/],
  [
    "an auth address of 1025 bytes",
    signer({ eventType: ADD, keyType: 2, key: new Uint8Array(1025) }),
    /key must/,
  ],
  ["a key of no type", signer({ eventType: ADD, key: KEY }), /key_type/],
  ["a removed key of 1025 bytes", signer({ eventType: REMOVE, key: new Uint8Array(1025) }), /key must/],
  ["a signer event of no type", signer({ keyType: 1, key: KEY }), /signer event type/],
  [
    "metadata of 4097 bytes",
    signer({ eventType: ADD, keyType: 1, key: KEY, metadata: new Uint8Array(4097) }),
    /metadata/,
  ],
  ["a key of a channel of 4097 bytes", channel({ channelKey: `${"é".repeat(2048)}a` }), /channel_key/],
  ["an owner of a channel of 1025 bytes", channel({ ownerAddress: new Uint8Array(1025) }), /owner_address/],
  ["a label of a channel of 1025 bytes", channel({ label: new Uint8Array(1025) }), /owner_address/],
  ["a registration from 3 bytes", idRegister({ ...registered, from: new Uint8Array(3) }), /^from must be 20/],
  ["rent of no units", rent({ payer: ADDRESS }), /units/],
  ["a payer of 3 bytes", rent({ payer: new Uint8Array(3), units: 1 }), /payer/],
  ["a purchase of no tier", tier({ forDays: 1 }), /tier type/],
  ["a purchase of no days", tier({ tierType: PRO }), /for_days/],
  ["a purchase of 36501 days", tier({ tierType: PRO, forDays: 36_501 }), /for_days/],
];

describe("validateOnChainEvent", () => {
  for (const [name, value] of valid) {
    test(`accepts ${name}`, () => {
      expect(validateOnChainEvent(value, MAINNET)).toBeUndefined();
    });
  }

  for (const [name, value, reason] of refused) {
    test(`refuses ${name}`, () => {
      const rejection = validateOnChainEvent(value, MAINNET);
      expect(rejection?.reason).toMatch(reason);
      expect(rejection?.code).toBe("bad_request.validation_failure");
    });
  }

  test("accepts any chain id on networks other than mainnet", () => {
    expect(validateOnChainEvent(idRegister(registered, { chainId: 31_337 }), DEVNET)).toBeUndefined();
    expect(validateOnChainEvent(tier({ tierType: PRO, forDays: 1 }, { chainId: 1 }), DEVNET)).toBeUndefined();
  });
});

test("an event may be ten minutes ahead of this node's clock, not more", () => {
  expect(checkNotInFuture({ blockTimestamp: 1_600 }, 1_000)).toBeUndefined();
  expect(checkNotInFuture({ blockTimestamp: 1_601 }, 1_000)?.reason).toMatch(/in the future/);
});

describe("validateFnameProof", () => {
  const proof = (over: Partial<UserNameProof>) =>
    UserNameProof.fromPartial({
      type: 1,
      name: utf8("alice"),
      owner: ADDRESS,
      fid: 7,
      timestamp: 1,
      ...over,
    });

  test("accepts a transfer to a fid and a release to fid 0", () => {
    expect(validateFnameProof(proof({}))).toBeUndefined();
    expect(validateFnameProof(proof({ fid: 0 }))).toBeUndefined();
    expect(validateFnameProof(proof({ timestamp: 0xffff_ffff }))).toBeUndefined();
  });

  const refusedProofs: [name: string, over: Partial<UserNameProof>, reason: RegExp][] = [
    ["an ENS name's type", { type: 2 }, /type must be FNAME/],
    ["an ENS name", { name: utf8("alice.eth") }, /fname/],
    ["no name", { name: utf8("") }, /fname/],
    ["a name that is not UTF-8", { name: Uint8Array.of(0x61, 0xff) }, /fname/],
    ["an owner of 19 bytes", { owner: ADDRESS.subarray(1) }, /owner/],
    ["no time", { timestamp: 0 }, /timestamp/],
    ["a time beyond 32 bits", { timestamp: 0x1_0000_0000 }, /timestamp/],
    ["a time in milliseconds", { timestamp: 1_700_000_000_000 }, /timestamp/],
  ];
  for (const [name, over, reason] of refusedProofs) {
    test(`refuses ${name}`, () => {
      expect(validateFnameProof(proof(over))?.reason).toMatch(reason);
    });
  }
});
