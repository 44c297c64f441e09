import type { MessageData, MessageType } from "../protocol/wire/generated/message.ts";
import type { MessageOutcome, WriteRefusal } from "./outcome.ts";
import type { WriteStatus } from "./store/write-store.ts";

/** A message without author, time, network and signature. */
export interface UnsignedBody {
  readonly type: MessageType;
  readonly body: NonNullable<MessageData["body"]>;
  /**
   * For settings of a channel, which were composed from those of the index: the number of the event that set these; null for a channel
   * without any.
   */
  readonly basis?: number | null;
}

/** A write that an HTTP worker has read and validated. All of it can be cloned between threads. */
export interface WriteCall {
  readonly owner: {
    readonly fid: number;
    readonly apiKeyId: string;
    /** How many messages the key may write per minute; null for messages about signers, which have no limit here. */
    readonly writesPerMinute: number | null;
  };
  /** Method and path, such as `POST /cast`. */
  readonly route: string;
  readonly idem: { readonly key: string; readonly bodyDigest: Uint8Array } | null;
  /** The managed signer; null for messages that are already signed. */
  readonly signerUuid: string | null;
  readonly content:
    | { readonly signed: readonly Uint8Array[] }
    /** At most 100, for different slots; null for a part for which no message can be created. */
    | { readonly bodies: readonly (UnsignedBody | null)[] }
    /** A repetition of a write that is stored under its idempotency key. */
    | "stored";
  readonly requestId: string;
  /** The client's address. */
  readonly address: string;
}

/** The state of a message limit after a write. */
export interface WriteLimit {
  /** `writes`: the key's limit. `fid`: the user's limit. */
  readonly name: "writes" | "fid";
  readonly quota: number;
  readonly windowSecs: number;
  readonly left: number;
  readonly fullInSecs: number;
}

export type WriteReply = (
  | /** At least one message is or will be in the network. The outcomes are in the order of the content. */
  { readonly ok: true; readonly replayed: boolean; readonly outcomes: readonly MessageOutcome[] }
  /** None of it is in the network, and none ever will be. */
  | { readonly ok: false; readonly refusal: WriteRefusal }
) & {
  /** The limits to which the write was charged, or that refused it. */
  readonly limits?: readonly WriteLimit[];
};

/** Counts of the thread for writes, since it started. */
export interface WritesStats {
  /** Messages by outcome. */
  readonly answered: Readonly<Record<"merged" | "queued" | "unchanged" | "refused", number>>;
  /** Requests that got the outcome of an earlier one. */
  readonly replayed: number;
  /** Messages that were submitted again, and the outcomes of queued ones. */
  readonly resubmitted: number;
  readonly mergedLater: number;
  readonly refusedLater: number;
  /** Requests in progress. */
  readonly underWay: number;
  /** Messages waiting for the network, and the unix seconds of the oldest; null if the state does not respond. */
  readonly queue: { readonly count: number; readonly oldestAt: number | null } | null;
}

/** Writes, as used by the HTTP interface. */
export interface Writes {
  submit(call: WriteCall): Promise<WriteReply>;
  /** Returns what is known about an owner's message. */
  find(ownerFid: number, hash: Uint8Array): Promise<WriteStatus | undefined>;
}

/** The methods of the thread for writes, which is independent of HTTP. */
export interface WritesRpc extends Writes {
  stats(): Promise<WritesStats>;
}
