import { MessagePacker, signerOfRow } from "../../db/index/bulk/packed-messages.ts";
import { splitMessage } from "../../db/index/messages/split.ts";
import { isChannelMessage } from "../../protocol/channels/slots.ts";
import { Kind, Store, slotOf } from "../../protocol/message/merge-rules.ts";
import type { SignedMessage } from "../../protocol/message/signed-message.ts";
import { toUnixSecs } from "../../protocol/time.ts";
import { needsPro } from "../../protocol/validate/requirements.ts";
import { type FarcasterNetwork, UserDataType } from "../../protocol/wire/generated/message.ts";

/** A message that may go to the spool of the bulk build, with everything needed to decide that. */
export interface SpoolCandidate {
  readonly fid: number;
  readonly store: Store;
  /** In Unix seconds. */
  readonly timestamp: number;
  readonly slot: SlotHash;
  readonly needsPro: boolean;
}

/** The candidates among records, in the form in which threads exchange them. */
export interface SpoolCandidates {
  /** Number of records, including those that are not candidates. */
  readonly count: number;
  /** `FIELDS` numbers per record. Records that are not candidates have fid 0. */
  readonly facts: Float64Array;
  /** The packed rows of the candidates, in order. */
  readonly rows: Uint8Array;
}

const FIELDS = 7;
/** The end of its rows in `rows`. They start where those of the previous record end. */
const ROWS_END = 6;

/** Collects the candidates among records, given in order. */
export class CandidatePacker {
  readonly #network: FarcasterNetwork;
  readonly #facts: Float64Array;
  readonly #packer = new MessagePacker();
  #count = 0;

  constructor(network: FarcasterNetwork, records: number) {
    this.#network = network;
    this.#facts = new Float64Array(records * FIELDS);
  }

  /** Adds a record: a valid message, or undefined for any other record. */
  add(message: SignedMessage | undefined): void {
    const at = this.#count++ * FIELDS;
    const facts = this.#facts;
    if (message && !isChannelMessage(message.data)) {
      const { store, slot, kind } = slotOf(message);
      if (isCandidate(message, store, kind)) {
        const { fid, timestamp } = message.data;
        const { low, high } = slotHash(fid, store, slot);
        facts[at] = fid;
        facts[at + 1] = store;
        facts[at + 2] = toUnixSecs(timestamp);
        facts[at + 3] = low;
        facts[at + 4] = high;
        facts[at + 5] = needsPro(message) ? 1 : 0;
        this.#packer.add(splitMessage(message, this.#network));
      }
    }
    facts[at + ROWS_END] = this.#packer.size;
  }

  finish(): SpoolCandidates {
    return { count: this.#count, facts: this.#facts, rows: this.#packer.finish().bytes };
  }
}

/** User data types that depend on names and verifications. */
const DEPENDENT_TYPES: readonly number[] = [
  UserDataType.USER_DATA_TYPE_USERNAME,
  UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM,
  UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA,
];

/** Reports whether the order of a message matters only within its store, or for user data within its slot. */
function isCandidate({ data }: SignedMessage, store: Store, kind: Kind): boolean {
  if (data.body?.$case === "userDataBody") return !DEPENDENT_TYPES.includes(data.body.value.type);
  const isSpooled = store === Store.Casts || store === Store.Reactions || store === Store.Links;
  return isSpooled && kind !== Kind.Compact;
}

/** Returns the candidate at a record; undefined if the record is not one. */
export function candidateAt({ facts }: SpoolCandidates, record: number): SpoolCandidate | undefined {
  const at = record * FIELDS;
  const fid = facts[at] as number;
  if (fid === 0) return undefined;
  return {
    fid,
    store: facts[at + 1] as Store,
    timestamp: facts[at + 2] as number,
    slot: { low: facts[at + 3] as number, high: facts[at + 4] as number },
    needsPro: facts[at + 5] === 1,
  };
}

/** Returns where the rows of a record start in `rows`; for `count`, where all rows end. */
export function rowsStart({ facts }: SpoolCandidates, record: number): number {
  return record === 0 ? 0 : (facts[(record - 1) * FIELDS + ROWS_END] as number);
}

/** Returns the key that signed the candidate at a record. */
export function candidateSigner(candidates: SpoolCandidates, record: number): Uint8Array {
  return signerOfRow(candidates.rows, rowsStart(candidates, record));
}

const HASHES = 4;
const BITS_PER_SLOT = 16;
const MIN_BITS = 2 ** 20;
/** 256 MB. Beyond about 130 million slots, more and more of them are reported in error. */
const MAX_BITS = 2 ** 31;

/** A 64-bit hash of a slot. */
interface SlotHash {
  readonly low: number;
  readonly high: number;
}

export function slotHash(fid: number, store: number, slot: Uint8Array): SlotHash {
  const hash = Bun.hash(slot, BigInt(fid) * 128n + BigInt(store)) as bigint;
  return { low: Number(hash & 0xffff_ffffn), high: Number(hash >> 32n) };
}

/** A Bloom filter of slots: it never misses one that was added, and rarely reports one that was not. */
export class SlotFilter {
  readonly #words: Uint32Array;
  readonly #bits: number;

  constructor(expectedSlots: number) {
    this.#bits = Math.min(MAX_BITS, Math.max(MIN_BITS, expectedSlots * BITS_PER_SLOT));
    this.#words = new Uint32Array(Math.ceil(this.#bits / 32));
  }

  /** Adds a slot. Returns whether it may have been there already. */
  add({ low, high }: SlotHash): boolean {
    const step = (high | 1) >>> 0;
    let isPresent = true;
    for (let n = 0; n < HASHES; n++) {
      const bit = (low + n * step) % this.#bits;
      const word = bit >>> 5;
      const mask = 1 << (bit & 31);
      const before = this.#words[word] ?? 0;
      if ((before & mask) === 0) {
        isPresent = false;
        this.#words[word] = before | mask;
      }
    }
    return isPresent;
  }
}
