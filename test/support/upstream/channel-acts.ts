import { DEMO_REGISTRAR, followUriOf } from "../../../src/protocol/channels/follow-uri.ts";
import { channelIdOfKey } from "../../../src/protocol/channels/registrations.ts";
import { toFarcasterSecs } from "../../../src/protocol/time.ts";
import { ethClaimDigest } from "../../../src/protocol/validate/verification.ts";
import {
  MessageType,
  ReactionType,
  VerificationProtocol,
} from "../../../src/protocol/wire/generated/message.ts";
import {
  ChannelRegisterEventType,
  OnChainEvent,
  OnChainEventType,
} from "../../../src/protocol/wire/generated/on-chain.ts";
import { makeWallet, signDigest, signMessage, type TestData } from "../messages.ts";
import { eventRecord } from "../node.ts";
import type { WeightedAct } from "./acts.ts";
import type { Action, Draft, Person } from "./script.ts";

/** What engine V21 adds: verifications of shared addresses, registrations, messages of channels and follows. */

const T = MessageType;
const KEYS = ["books", "Books", "a/b", "https://x", "🚋".repeat(60)];
/** Few addresses, which several fids claim. */
const WALLETS = 3;
const OLDEST_SECS = 500;

export const CHANNEL_ACTS: readonly WeightedAct[] = [
  [30, claimOne],
  [10, backdate],
  [15, disclaim],
  [5, (draft) => register(draft, draft.random.pick(KEYS))],
  [5, renewOrTransfer],
  [20, update],
  [50, changeMember],
  [30, pin],
  [30, moderate],
  [15, follow],
];

/** Few, so that one of them often owns a channel. All have storage. */
const inhabitant = ({ random, people }: Draft) => random.pick(people.slice(1, 4));
/** Mostly the fid whose wallet a channel was registered for. */
const likelyOwner = (draft: Draft, key: string) =>
  (draft.random.chance(0.7) && draft.people[1 + (KEYS.indexOf(key) % WALLETS)]) || inhabitant(draft);

const walletOf = (number: number) => `shared wallet ${number}`;

/** Mostly of the wallet that stands for the fid. */
function claimOne(draft: Draft): Action {
  const number = draft.random.below(WALLETS);
  const who = (draft.random.chance(0.6) && draft.people[1 + number]) || inhabitant(draft);
  return claim(draft, who, walletOf(number));
}

/** A verification of a wallet by its seed. */
export function claim(draft: Draft, who: Person, seed: string, at = draft.signedAt()): Action {
  const wallet = makeWallet(seed);
  const { address } = wallet;
  const { fid } = who;
  who.verified.push({ address, isSolana: false });
  const blockHash = new Uint8Array(32).fill(9);
  const claimSignature = signDigest(
    ethClaimDigest({ fid, network: draft.network, address, blockHash }),
    wallet,
  );
  const value = {
    address,
    claimSignature,
    blockHash,
    protocol: VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM,
  };
  return signed(draft, who, {
    type: T.MESSAGE_TYPE_VERIFICATION_ADD,
    timestamp: at,
    body: { $case: "verificationAddBody", value },
  });
}

/** Verifications of one fid of wallets of its own. */
export function crowdOfWallets(draft: Draft, who: Person, name: string, count: number): Action[] {
  return Array.from({ length: count }, (_, n) => claim(draft, who, `crowd ${name} ${n}`));
}

/** Signed so early that it may be of before V21, or older than what shard 0 has. */
function backdate(draft: Draft): Action {
  const at = toFarcasterSecs(draft.nowSecs) - draft.random.below(OLDEST_SECS);
  return claim(draft, inhabitant(draft), walletOf(draft.random.below(WALLETS)), at);
}

function disclaim(draft: Draft, who: Person): Action | undefined {
  const ethereum = who.verified.filter(({ isSolana }) => !isSolana);
  if (ethereum.length === 0) return undefined;
  const { address } = draft.random.pick(ethereum);
  return signed(draft, who, {
    type: T.MESSAGE_TYPE_VERIFICATION_REMOVE,
    timestamp: draft.signedAt(),
    body: { $case: "verificationRemoveBody", value: { address, protocol: 0 } },
  });
}

/** Registers every channel. */
export function registerAll(draft: Draft): Action[] {
  return KEYS.map((key) => register(draft, key));
}

function register(draft: Draft, key: string): Action {
  return registryEvent(draft, ChannelRegisterEventType.CHANNEL_REGISTER_EVENT_TYPE_REGISTER, key);
}

function renewOrTransfer(draft: Draft): Action {
  return registryEvent(
    draft,
    draft.random.chance(0.5)
      ? ChannelRegisterEventType.CHANNEL_REGISTER_EVENT_TYPE_RENEW
      : ChannelRegisterEventType.CHANNEL_REGISTER_EVENT_TYPE_TRANSFER,
  );
}

function registryEvent(
  draft: Draft,
  eventType: ChannelRegisterEventType,
  key = draft.random.pick(KEYS),
): Action {
  const { block, log, at } = draft.place();
  const isTransfer = eventType === ChannelRegisterEventType.CHANNEL_REGISTER_EVENT_TYPE_TRANSFER;
  const isRenewal = eventType === ChannelRegisterEventType.CHANNEL_REGISTER_EVENT_TYPE_RENEW;
  const value = {
    channelKey: isTransfer ? "" : key,
    expiry: isTransfer ? 0 : 2_000_000_000 + draft.random.below(1000),
    ownerAddress: isRenewal
      ? new Uint8Array()
      : makeWallet(walletOf(isTransfer ? draft.random.below(WALLETS) : KEYS.indexOf(key) % WALLETS)).address,
    eventType,
    label: channelIdOfKey(key),
  };
  const event = OnChainEvent.fromPartial({
    type: OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER,
    chainId: DEMO_REGISTRAR.chainId,
    blockNumber: block,
    logIndex: log,
    blockTimestamp: at,
    blockHash: new Uint8Array(32).fill(1),
    transactionHash: new Uint8Array(32).fill(2),
    body: { $case: "channelRegisterEventBody", value },
  });
  return { fid: 0, record: eventRecord(event) };
}

function update(draft: Draft): Action {
  const { random } = draft;
  const key = random.pick(KEYS);
  const value = {
    channelId: channelIdOfKey(key),
    name: random.chance(0.5) ? `name ${random.below(9)}` : undefined,
    castingMode: random.chance(0.5) ? 1 + random.below(3) : undefined,
    membershipMode: random.chance(0.5) ? 1 : undefined,
  };
  return ofChannel(draft, likelyOwner(draft, key), T.MESSAGE_TYPE_CHANNEL_UPDATE, {
    $case: "channelUpdateBody",
    value,
  });
}

function changeMember(draft: Draft): Action {
  const key = draft.random.pick(KEYS);
  const who = likelyOwner(draft, key);
  const value = {
    channelId: channelIdOfKey(key),
    fid: draft.random.chance(0.3) ? who.fid : draft.person().fid,
    action: 1 + draft.random.below(6),
  };
  return ofChannel(draft, who, T.MESSAGE_TYPE_CHANNEL_MEMBER, { $case: "channelMemberBody", value });
}

function pin(draft: Draft): Action {
  const castHash = draft.random.chance(0.2) ? new Uint8Array() : castHashOf(draft);
  const key = draft.random.pick(KEYS);
  const value = { channelId: channelIdOfKey(key), castHash };
  return ofChannel(draft, likelyOwner(draft, key), T.MESSAGE_TYPE_CHANNEL_PIN, {
    $case: "channelPinBody",
    value,
  });
}

function moderate(draft: Draft): Action {
  const key = draft.random.pick(KEYS);
  const value = {
    channelId: channelIdOfKey(key),
    castHash: castHashOf(draft),
    action: 1 + draft.random.below(2),
  };
  return ofChannel(draft, likelyOwner(draft, key), T.MESSAGE_TYPE_CHANNEL_MODERATE, {
    $case: "channelModerateBody",
    value,
  });
}

function follow(draft: Draft, who: Person): Action {
  const { random } = draft;
  const target = {
    $case: "targetUrl" as const,
    value: followUriOf(DEMO_REGISTRAR, channelIdOf(draft)) ?? "",
  };
  const type = random.chance(0.8) ? ReactionType.REACTION_TYPE_LIKE : ReactionType.REACTION_TYPE_RECAST;
  return signed(draft, who, {
    type: random.chance(0.3) ? T.MESSAGE_TYPE_REACTION_REMOVE : T.MESSAGE_TYPE_REACTION_ADD,
    timestamp: draft.signedAt(),
    body: { $case: "reactionBody", value: { type, target } },
  });
}

/** Its time says nothing: the order of shard 0 decides. */
function ofChannel(
  draft: Draft,
  who: Person,
  type: MessageType,
  body: NonNullable<TestData["body"]>,
): Action {
  const timestamp = toFarcasterSecs(draft.nowSecs) - draft.random.below(OLDEST_SECS);
  return signed(draft, who, { type, timestamp, body });
}

const channelIdOf = ({ random }: Draft) => channelIdOfKey(random.pick(KEYS));
const castHashOf = ({ random }: Draft) => new Uint8Array(20).fill(random.below(5));

/** With the first key of the fid, which is never removed. */
function signed({ network }: Draft, { fid, keys }: Person, data: TestData): Action {
  const [key] = keys;
  if (!key) throw new Error("a person without a key");
  return { fid, record: { kind: "message", bytes: signMessage({ fid, network, ...data }, key) } };
}
