import { type Random, seededRandom } from "../../../src/demo/random.ts";
import type { EncodedRecord } from "../../../src/ingest/record.ts";
import { toFarcasterSecs } from "../../../src/protocol/time.ts";
import { FarcasterNetwork, Message, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { registerEvent, rentEvent, signedFnameProof, signerEvent } from "../events.ts";
import {
  DEFAULT_NOW_SECS,
  makeSigner,
  makeWallet,
  signedCast,
  type TestSigner,
  type TestWallet,
} from "../messages.ts";
import { eventRecord, proofRecord } from "../node.ts";
import { nextActions, nextActionsWithChannels } from "./acts.ts";
import { claim, crowdOfWallets, registerAll } from "./channel-acts.ts";
import { dataOf } from "./hub-events.ts";

/** The actions of one second. Each is sent to the shards that it concerns. */
export interface Tick {
  /** Unix seconds. */
  readonly at: number;
  readonly actions: readonly Action[];
}

/** `fid` is the author. `fromFid` is the previous owner of a transferred fname (0: none). */
export interface Action {
  readonly fid: number;
  readonly record: EncodedRecord;
  readonly fromFid?: number;
}

/** The users of a script, as its acts know them. */
export interface Person {
  readonly fid: number;
  custody: TestWallet;
  readonly keys: TestSigner[];
  readonly gasless: TestSigner[];
  nonce: number;
  readonly verified: { readonly address: Uint8Array; readonly isSolana: boolean }[];
}

/** A script under construction. Its actions need not succeed: refused ones are part of it. */
export class Draft {
  readonly people: Person[] = [];
  readonly casts: { readonly fid: number; readonly hash: Uint8Array; readonly bytes: Uint8Array }[] = [];
  /** Casts that were removed before they were sent. */
  readonly unsent: { readonly fid: number; readonly bytes: Uint8Array }[] = [];
  readonly sent: Action[] = [];
  readonly nameHolders = new Map<string, number>();
  /** When each fname was last transferred, in unix seconds. */
  readonly lastTransfers = new Map<string, number>();
  /** Farcaster seconds of links; compact states reuse them. */
  readonly linkTimes: number[] = [];
  /** The last nonce with which a key of the app removed itself. */
  appNonce = 0;
  #chainBlock = 1000;

  constructor(
    readonly random: Random,
    readonly network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    public nowSecs = DEFAULT_NOW_SECS,
  ) {}

  /** Returns recent Farcaster seconds for a message. */
  signedAt(): number {
    return toFarcasterSecs(this.nowSecs) - this.random.below(40);
  }

  /** Returns a unique position on the chain. */
  place() {
    this.#chainBlock += 1;
    return { block: this.#chainBlock, log: this.random.below(9), at: this.nowSecs };
  }

  person(): Person {
    return this.random.pick(this.people);
  }

  /** Registers an fid with a key and an fname. Without units of storage its messages are pruned. */
  join(fid: number, units: number): Action[] {
    const custody = makeWallet(`custody ${fid}`);
    const key = makeSigner(`account ${fid}`);
    this.people.push({ fid, custody, keys: [key], gasless: [], nonce: 0, verified: [] });
    const name = `name${fid}`;
    this.nameHolders.set(name, fid);
    this.lastTransfers.set(name, this.nowSecs);
    const events = [
      registerEvent(fid, custody.address, this.place()),
      signerEvent(fid, key.publicKey, this.place()),
      ...(units > 0 ? [rentEvent(fid, units, this.place())] : []),
    ];
    return [
      ...events.map((event) => ({ fid, record: eventRecord(event) })),
      { fid, fromFid: 0, record: proofRecord(signedFnameProof(name, fid, custody.address, this.nowSecs)) },
    ];
  }
}

/** Enough units that an fid may lend some of them on mainnet. */
const LENDER_UNITS = 1200;
/** The first fid lends, the next three have one unit each, the last has none. */
const FIRST_UNITS = [LENDER_UNITS, 1, 1, 1, 0, 2, 1];
const CROWDED_FID = 2;
/** Casts per unit of storage. */
const CASTS_OF_A_CROWD = 104;

const MORE_THAN_A_UNIT = 30;
const ROOM_ON_SHARD_ZERO = 8;

/** Ticks without actions at the end, so that all messages of shard 0 are replayed. */
const REST_TICKS = 2;

export interface ScriptOptions {
  /** Default: mainnet. */
  readonly network?: FarcasterNetwork | undefined;
  /** The second of engine V21. Default: there is none. */
  readonly boundary?: number;
  /** Unix seconds. */
  readonly startsAt?: number;
}

/** Returns the actions of `ticks` seconds; the same for the same seed. */
export function makeScript(
  seed: string,
  ticks: number,
  { network, boundary = Number.POSITIVE_INFINITY, startsAt = DEFAULT_NOW_SECS }: ScriptOptions = {},
): Tick[] {
  const draft = new Draft(seededRandom(seed), network, startsAt);
  return Array.from({ length: ticks }, (_, n): Tick => {
    draft.nowSecs = startsAt + n;
    const actions: Action[] = [];
    const units = FIRST_UNITS[n];
    if (units !== undefined) actions.push(...draft.join(n + 1, units));
    else if (n === FIRST_UNITS.length) actions.push(...registeredAgain(draft));
    else if (n === FIRST_UNITS.length + 1) actions.push(...crowd(draft));
    else if (n === boundary - 1 || n === boundary) actions.push(...atBoundary(draft, n === boundary));
    else if (n < ticks - REST_TICKS && draft.random.chance(0.75))
      actions.push(...(n < boundary ? nextActions(draft) : nextActionsWithChannels(draft)));
    draft.sent.push(...actions);
    return { at: draft.nowSecs, actions };
  });
}

/**
 * Verifications around the boundary: one of the last second before it that shard 0 decides again in the next, because it is dated later;
 * and as many of one fid as the shard of their author has no room for, while shard 0 has.
 */
function atBoundary(draft: Draft, isActive: boolean): Action[] {
  const [, second, third] = draft.people;
  if (!second || !third) return [];
  const early = claim(draft, third, "signed for later", toFarcasterSecs(draft.nowSecs) + (isActive ? 4 : 5));
  if (!isActive) return [early, ...crowdOfWallets(draft, second, "before", MORE_THAN_A_UNIT)];
  return [...registerAll(draft), early, ...crowdOfWallets(draft, second, "after", ROOM_ON_SHARD_ZERO)];
}

/** A handful of fids have two registrations. */
function registeredAgain(draft: Draft): Action[] {
  const [, , third] = draft.people;
  if (!third) return [];
  const event = registerEvent(third.fid, third.custody.address, draft.place());
  return [{ fid: third.fid, record: eventRecord(event) }];
}

/** More casts than their author has storage for. */
function crowd(draft: Draft): Action[] {
  const author = draft.people.find(({ fid }) => fid === CROWDED_FID);
  const key = author?.keys[0];
  if (!key) return [];
  return Array.from({ length: CASTS_OF_A_CROWD }, (_, n) => {
    const over = { timestamp: toFarcasterSecs(draft.nowSecs) - 300 + n, network: draft.network };
    return {
      fid: CROWDED_FID,
      record: { kind: "message", bytes: signedCast(CROWDED_FID, `crowd ${n}`, key, over) },
    };
  });
}

const SHARD_ZERO_TYPES: readonly MessageType[] = [
  MessageType.MESSAGE_TYPE_LEND_STORAGE,
  MessageType.MESSAGE_TYPE_KEY_ADD,
  MessageType.MESSAGE_TYPE_KEY_REMOVE,
];

/** Whether shard 0 decides a message whatever the engine version. */
export function isOfShardZero({ record }: Action): boolean {
  return record.kind === "message" && SHARD_ZERO_TYPES.includes(dataOf(Message.decode(record.bytes)).type);
}
