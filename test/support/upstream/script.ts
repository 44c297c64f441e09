import { type Random, seededRandom } from "../../../src/demo/random.ts";
import type { EncodedRecord } from "../../../src/ingest/record.ts";
import { toFarcasterSecs } from "../../../src/protocol/time.ts";
import { fnameProof, registerEvent, rentEvent, signerEvent } from "../events.ts";
import {
  DEFAULT_NOW_SECS,
  makeSigner,
  makeWallet,
  signedCast,
  type TestSigner,
  type TestWallet,
} from "../messages.ts";
import { eventRecord, proofRecord } from "../node.ts";
import { nextActions } from "./acts.ts";

/** What happens on the network in one second: each action goes to the shards that it concerns. */
export interface Tick {
  /** Unix seconds. */
  readonly at: number;
  readonly actions: readonly Action[];
}

/** `fid` is whose transaction it is; a transfer of an fname also names who loses the name (0: nobody). */
export interface Action {
  readonly fid: number;
  readonly record: EncodedRecord;
  readonly fromFid?: number;
}

/** What the acts of a script know of the people whom they write about. */
export interface Person {
  readonly fid: number;
  custody: TestWallet;
  readonly keys: TestSigner[];
  readonly gasless: TestSigner[];
  nonce: number;
  readonly verified: { readonly address: Uint8Array; readonly isSolana: boolean }[];
}

/** A script that is being written. Nothing in it has to succeed: what the network refuses is part of it. */
export class Draft {
  readonly people: Person[] = [];
  readonly casts: { readonly fid: number; readonly hash: Uint8Array; readonly bytes: Uint8Array }[] = [];
  /** Casts whose removal was sent before them. */
  readonly unsent: { readonly fid: number; readonly bytes: Uint8Array }[] = [];
  readonly sent: Action[] = [];
  readonly nameHolders = new Map<string, number>();
  /** When each fname was last transferred, in unix seconds. */
  readonly lastTransfers = new Map<string, number>();
  /** Farcaster seconds of links, which compact states like to hit exactly. */
  readonly linkTimes: number[] = [];
  /** The last nonce with which a key of the app removed itself. */
  appNonce = 0;
  #chainBlock = 1000;
  nowSecs = DEFAULT_NOW_SECS;

  constructor(readonly random: Random) {}

  /** Farcaster seconds of a message that was signed lately. */
  signedAt(): number {
    return toFarcasterSecs(this.nowSecs) - this.random.below(40);
  }

  /** A place of its own on the chain. */
  place() {
    this.#chainBlock += 1;
    return { block: this.#chainBlock, log: this.random.below(9), at: this.nowSecs };
  }

  person(): Person {
    return this.random.pick(this.people);
  }

  /** What makes an fid a member, as the chain and the name server say it; without units it may keep nothing. */
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
      { fid, fromFid: 0, record: proofRecord(fnameProof(name, fid, custody.address, this.nowSecs)) },
    ];
  }
}

/** Enough units that an fid may lend some of them on mainnet. */
const LENDER_UNITS = 1200;
/** The first lends, the next three have one unit, then there is one with nothing. */
const FIRST_UNITS = [LENDER_UNITS, 1, 1, 1, 0, 2, 1];
const CROWDED_FID = 2;
/** A unit holds a hundred casts. */
const CASTS_OF_A_CROWD = 104;

/** At the end nothing happens any more, so that what shard 0 decided is replayed everywhere. */
const REST_TICKS = 2;

/** What the network does in `ticks` seconds; the same for the same seed. */
export function makeScript(seed: string, ticks: number): Tick[] {
  const draft = new Draft(seededRandom(seed));
  return Array.from({ length: ticks }, (_, n): Tick => {
    draft.nowSecs = DEFAULT_NOW_SECS + n;
    const actions: Action[] = [];
    const units = FIRST_UNITS[n];
    if (units !== undefined) actions.push(...draft.join(n + 1, units));
    else if (n === FIRST_UNITS.length) actions.push(...registeredAgain(draft));
    else if (n === FIRST_UNITS.length + 1) actions.push(...crowd(draft));
    else if (n < ticks - REST_TICKS && draft.random.chance(0.75)) actions.push(...nextActions(draft));
    draft.sent.push(...actions);
    return { at: draft.nowSecs, actions };
  });
}

/** A handful of fids have two registrations. */
function registeredAgain(draft: Draft): Action[] {
  const [, , third] = draft.people;
  if (!third) return [];
  const event = registerEvent(third.fid, third.custody.address, draft.place());
  return [{ fid: third.fid, record: eventRecord(event) }];
}

/** More casts than their author has room for. */
function crowd(draft: Draft): Action[] {
  const author = draft.people.find(({ fid }) => fid === CROWDED_FID);
  const key = author?.keys[0];
  if (!key) return [];
  return Array.from({ length: CASTS_OF_A_CROWD }, (_, n) => {
    const timestamp = toFarcasterSecs(draft.nowSecs) - 300 + n;
    return {
      fid: CROWDED_FID,
      record: { kind: "message", bytes: signedCast(CROWDED_FID, `crowd ${n}`, key, { timestamp }) },
    };
  });
}
