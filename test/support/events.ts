import { createHash } from "node:crypto";
import { fromHex } from "../../src/protocol/validate/eth.ts";
import { fnameDigest } from "../../src/protocol/validate/username-proof.ts";
import { type UserNameProof, UserNameType } from "../../src/protocol/wire/generated/message.ts";
import {
  IdRegisterEventType,
  OnChainEvent,
  OnChainEventType,
  SignerEventType,
  TierType,
} from "../../src/protocol/wire/generated/on-chain.ts";
import { DEFAULT_NOW_SECS, makeWallet, signDigest } from "./messages.ts";

/** Builders of on-chain events and fname proofs for tests. */

/** The position of an event on the chain. Each event needs a distinct one. */
export interface ChainPlace {
  readonly block: number;
  readonly log?: number;
  /** Unix seconds; by default a day before the default test time. */
  readonly at?: number;
}

const OP_MAINNET = 10;
const BASE_MAINNET = 8453;

function event(
  type: OnChainEventType,
  fid: number,
  place: ChainPlace,
  body: OnChainEvent["body"],
  chainId = OP_MAINNET,
): OnChainEvent {
  const seed = `${type} ${fid} ${place.block} ${place.log ?? 0}`;
  return OnChainEvent.fromPartial({
    type,
    chainId,
    fid,
    blockNumber: place.block,
    logIndex: place.log ?? 0,
    blockTimestamp: place.at ?? DEFAULT_NOW_SECS - 86_400,
    blockHash: createHash("sha256").update(`block ${seed}`).digest(),
    transactionHash: createHash("sha256").update(`tx ${seed}`).digest(),
    body,
  });
}

export function registerEvent(fid: number, to: Uint8Array, place: ChainPlace): OnChainEvent {
  return event(OnChainEventType.EVENT_TYPE_ID_REGISTER, fid, place, {
    $case: "idRegisterEventBody",
    value: {
      to,
      from: new Uint8Array(),
      recoveryAddress: to,
      eventType: IdRegisterEventType.ID_REGISTER_EVENT_TYPE_REGISTER,
    },
  });
}

export function recoveryEvent(fid: number, recoveryAddress: Uint8Array, place: ChainPlace): OnChainEvent {
  return event(OnChainEventType.EVENT_TYPE_ID_REGISTER, fid, place, {
    $case: "idRegisterEventBody",
    value: {
      to: new Uint8Array(),
      from: new Uint8Array(),
      recoveryAddress,
      eventType: IdRegisterEventType.ID_REGISTER_EVENT_TYPE_CHANGE_RECOVERY,
    },
  });
}

export function transferEvent(
  fid: number,
  from: Uint8Array,
  to: Uint8Array,
  place: ChainPlace,
): OnChainEvent {
  return event(OnChainEventType.EVENT_TYPE_ID_REGISTER, fid, place, {
    $case: "idRegisterEventBody",
    value: {
      to,
      from,
      recoveryAddress: new Uint8Array(),
      eventType: IdRegisterEventType.ID_REGISTER_EVENT_TYPE_TRANSFER,
    },
  });
}

export function signerEvent(
  fid: number,
  key: Uint8Array,
  place: ChainPlace,
  kind: "add" | "remove" | "admin_reset" = "add",
): OnChainEvent {
  const isAdd = kind === "add";
  const eventType = {
    add: SignerEventType.SIGNER_EVENT_TYPE_ADD,
    remove: SignerEventType.SIGNER_EVENT_TYPE_REMOVE,
    admin_reset: SignerEventType.SIGNER_EVENT_TYPE_ADMIN_RESET,
  }[kind];
  return event(OnChainEventType.EVENT_TYPE_SIGNER, fid, place, {
    $case: "signerEventBody",
    value: {
      key,
      keyType: isAdd ? 1 : 0,
      eventType,
      metadata: new Uint8Array(),
      metadataType: isAdd ? 1 : 0,
    },
  });
}

export function rentEvent(fid: number, units: number, place: ChainPlace): OnChainEvent {
  return event(OnChainEventType.EVENT_TYPE_STORAGE_RENT, fid, place, {
    $case: "storageRentEventBody",
    value: { payer: Buffer.alloc(20, 1), units, expiry: (place.at ?? DEFAULT_NOW_SECS) + 365 * 86_400 },
  });
}

export function proEvent(fid: number, days: number, place: ChainPlace): OnChainEvent {
  return event(
    OnChainEventType.EVENT_TYPE_TIER_PURCHASE,
    fid,
    place,
    {
      $case: "tierPurchaseEventBody",
      value: { tierType: TierType.TIER_TYPE_PRO, forDays: days, payer: Buffer.alloc(20, 1) },
    },
    BASE_MAINNET,
  );
}

/** An fname transfer as the name server signs it. The fid 0 releases the name. `at` is in unix seconds. */
export function fnameProof(name: string, fid: number, owner: Uint8Array, at: number): UserNameProof {
  return {
    timestamp: at,
    name: Buffer.from(name),
    owner,
    signature: Buffer.alloc(65, 7),
    fid,
    type: UserNameType.USERNAME_TYPE_FNAME,
  };
}

/** Signs the fnames of scripted networks. */
export const TEST_NAME_SERVER = makeWallet("name server");

/** `fnameProof` with the signature of the name server of scripted networks. */
export function signedFnameProof(name: string, fid: number, owner: Uint8Array, at: number): UserNameProof {
  const proof = fnameProof(name, fid, owner, at);
  return { ...proof, signature: signDigest(fnameDigest(proof), TEST_NAME_SERVER) };
}

/** The first fname, as the registry serves it, with the signature of the name server of mainnet and testnet. */
export const REGISTRY_PROOF: UserNameProof = {
  name: Buffer.from("farcaster"),
  timestamp: 1_628_882_891,
  owner: fromHex("0x8773442740c17c9d0f0b87022c722f9a136206ed"),
  signature: fromHex(
    "0xb7181760f14eda0028e0b647ff15f45235526ced3b4ae07fcce06141b73d32960d3253776e62f761363fb8137087192047763f4af838950a96f3885f3c2289c41b",
  ),
  fid: 1,
  type: UserNameType.USERNAME_TYPE_FNAME,
};
