import type { MessageOutcome, WriteRefusal } from "../outcome.ts";

/** Identifies a write for its repetitions. */
export interface CallKey {
  readonly ownerFid: number;
  /** Empty for messages that are already signed. */
  readonly signerUuid: string;
  /** Method and path, such as `POST /cast`. */
  readonly route: string;
  readonly idem: string;
}

/** A write as stored by an earlier request with the same key. */
export interface StoredCall {
  /** UUID of that request. */
  readonly request: string;
  readonly bodyDigest: Uint8Array;
  readonly outcomes: readonly MessageOutcome[];
  readonly isDone: boolean;
}

/** A signed message of a write. */
export interface NewMessage {
  /** Index of its outcome. */
  readonly position: number;
  readonly fid: number;
  readonly type: number;
  readonly hash: Uint8Array;
  /** Encoded, with only `data_bytes`. */
  readonly message: Uint8Array;
}

/**
 * Who requested a write and how, for the audit log. It is stored with the messages, so that any process that settles them can record it.
 */
export interface WriteAudit {
  /** For example `write.cast`. */
  readonly action: string;
  readonly signerUuid: string | null;
  readonly requestId: string;
  /** The client's address. */
  readonly address: string;
}

/** A write to be stored on its way to the network. */
export interface NewWrite {
  /** UUID. */
  readonly request: string;
  readonly ownerFid: number;
  readonly apiKeyId: string;
  /** Null without an idempotency key. */
  readonly call:
    | (CallKey & { readonly bodyDigest: Uint8Array; readonly outcomes: readonly MessageOutcome[] })
    | null;
  readonly messages: readonly NewMessage[];
  readonly audit: WriteAudit;
}

/** A merged message of a call, which a repetition of the call can restore. */
export interface MergedMessage {
  readonly position: number;
  /** Encoded. */
  readonly message: Uint8Array;
}

/** The right to submit a message until the lease ends. */
export interface Lease {
  readonly seq: number;
  readonly position: number;
  readonly leaseEndsAtMs: number;
}

export type BeginResult =
  /** The leases are in the order of the messages. */
  | { readonly kind: "leased"; readonly leases: readonly Lease[] }
  /** Another request has stored a write with this key. */
  | { readonly kind: "known"; readonly call: StoredCall }
  | { readonly kind: "full" };

/** A message whose turn it is. */
export interface ClaimedWrite extends Lease {
  readonly request: string;
  readonly ownerFid: number;
  readonly apiKeyId: string;
  readonly fid: number;
  readonly hash: Uint8Array;
  readonly message: Uint8Array;
  readonly accepted: boolean;
  /** For a message that shard 0 decides: the block of shard 0 that the index had applied at the last OK. */
  readonly acceptedBlock: number | null;
  readonly attempts: number;
}

/** The result of an attempt to submit a message. */
export interface Settlement {
  readonly lease: Lease;
  readonly result: /** `isReplaced`: a later message has taken its slot. */
    | { readonly kind: "merged"; readonly isReplaced?: true }
    /** `isTold`: the requester gets this response, so nothing of the message is stored. */
    | { readonly kind: "refused"; readonly refusal: WriteRefusal; readonly isTold: boolean }
    | {
        readonly kind: "again";
        readonly afterMs: number;
        readonly accepted: boolean;
        /** See `ClaimedWrite`. If absent, it does not change. */
        readonly acceptedBlock?: number | undefined;
      };
}

/** What is known about a message of an owner. Times are unix seconds. */
export interface WriteStatus {
  readonly hash: Uint8Array;
  readonly fid: number;
  readonly type: number;
  readonly state: "queued" | "merged" | "refused";
  readonly reason: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A slot whose next message needs a time. */
export interface SlotTime {
  /** The store of the slot as the first byte, followed by the slot. */
  readonly slot: Uint8Array;
  /** The time of the message in the slot, Farcaster seconds; -1 if it is empty. */
  readonly heldAt: number;
}

/** Pending writes. Every method is one transaction, and durable when it resolves. */
export interface WriteStore {
  /** Returns the write with this key; one older than a day may have been deleted. */
  findCall(key: CallKey): Promise<StoredCall | undefined>;
  /** Stores a write and leases its messages to this process, unless its key is in use or the queue is full. */
  begin(write: NewWrite, maxQueued: number): Promise<BeginResult>;
  /**
   * Stores the results of a request's attempts, their effect on its call, and the audit entries: one for the first attempt of each
   * message, and one for a later refusal. Leases that have ended have no effect.
   */
  settle(request: string, settlements: readonly Settlement[]): Promise<void>;
  /** Returns the merged messages of a request with an idempotency key, by position. */
  mergedMessages(request: string): Promise<readonly MergedMessage[]>;
  /**
   * Leases merged messages of a request to this process again, because the index has lost them, and makes their outcomes pending. Returns
   * the leases ordered by position, without messages that another process has reopened.
   */
  reopen(request: string, positions: readonly number[]): Promise<readonly Lease[]>;
  /** Deletes a write that may have been stored even though `begin` has failed. */
  forget(request: string): Promise<void>;
  /** Leases messages that are due, longest due first. */
  claim(max: number): Promise<ClaimedWrite[]>;
  /** Ends queued messages that were seen in the index, even if a process has leased them. */
  markMerged(seqs: readonly number[]): Promise<void>;
  /** Makes messages due that are leased by processes that no longer run. Returns their number. */
  endLeasesOfTheDead(): Promise<number>;
  /** Returns the newest write of an owner with this hash. */
  find(ownerFid: number, hash: Uint8Array): Promise<WriteStatus | undefined>;
  /**
   * Takes a time for the next message of each slot: now, or one second after the newest message that is in the slot or was signed for it.
   * Returns undefined, and takes none, if one would be more than `maxAheadSecs` after now.
   *
   * @param nowSecs Farcaster seconds.
   */
  takeTimes(
    fid: number,
    slots: readonly SlotTime[],
    nowSecs: number,
    maxAheadSecs: number,
  ): Promise<readonly number[] | undefined>;
  /** Returns the time of the newest message signed for each slot, Farcaster seconds; -1 if none was recently. */
  signedAt(fid: number, slots: readonly Uint8Array[]): Promise<readonly number[]>;
  /** Returns a user's queued messages of one type, encoded. */
  queuedOf(fid: number, type: number): Promise<readonly Uint8Array[]>;
  /** Returns the number of messages waiting for the network, and the unix seconds of the oldest. */
  queued(): Promise<{ readonly count: number; readonly oldestAt: number | null }>;
}

/** How long a process may take to submit a message before another one does. */
export const LEASE_MS = 30_000;
/** How long a message is remembered after it has ended. */
export const WRITE_RETENTION_SECS = 7 * 86_400;
