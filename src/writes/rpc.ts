import type { MessageData, MessageType } from "../protocol/wire/generated/message.ts";
import type { MessageOutcome, WriteRefusal } from "./outcome.ts";
import type { WriteStatus } from "./store/write-store.ts";

/** A message without author, time, network and signature. */
export interface UnsignedBody {
  readonly type: MessageType;
  readonly body: NonNullable<MessageData["body"]>;
  /**
   * Of settings of a channel, which were made from those that the index had: the number of the event that decided these; null for a
   * channel without any.
   */
  readonly basis?: number | null;
}

/** A write that an HTTP worker has read and checked. All of it can be cloned between threads. */
export interface WriteCall {
  readonly owner: {
    readonly fid: number;
    readonly apiKeyId: string;
    /** Messages that the key may write in a minute; null for messages about signers, which have no limit here. */
    readonly writesPerMinute: number | null;
  };
  /** Method and path, as `POST /cast`. */
  readonly route: string;
  readonly idem: { readonly key: string; readonly bodyDigest: Uint8Array } | null;
  /** The managed signer; null for messages that are signed already. */
  readonly signerUuid: string | null;
  readonly content:
    | { readonly signed: readonly Uint8Array[] }
    /** At most 100, of different slots; null for a part that can make no message. */
    | { readonly bodies: readonly (UnsignedBody | null)[] }
    /** A repetition of a write that is stored under the idempotency key. */
    | "stored";
  readonly requestId: string;
  /** The client's address. */
  readonly address: string;
}

/** A limit of messages after a write. */
export interface WriteLimit {
  /** `writes`: of the key. `fid`: of the user. */
  readonly name: "writes" | "fid";
  readonly quota: number;
  readonly windowSecs: number;
  readonly left: number;
  readonly fullInSecs: number;
}

export type WriteReply = (
  | /** At least one message is or will be in the network. The outcomes are in the order of the content. */
  { readonly ok: true; readonly replayed: boolean; readonly outcomes: readonly MessageOutcome[] }
  /** Nothing of it is there, and nothing ever will be. */
  | { readonly ok: false; readonly refusal: WriteRefusal }
) & {
  /** The limits that the write was charged to, or refused by. */
  readonly limits?: readonly WriteLimit[];
};

/** What the thread of writes counts, since it started. */
export interface WritesStats {
  /** Messages by outcome. */
  readonly answered: Readonly<Record<"merged" | "queued" | "unchanged" | "refused", number>>;
  /** Requests that got the outcome of an earlier one. */
  readonly replayed: number;
  /** Messages that were submitted again, and how those of the queue ended. */
  readonly resubmitted: number;
  readonly mergedLater: number;
  readonly refusedLater: number;
  /** Requests under way. */
  readonly underWay: number;
  /** Messages that wait for the network, and the unix seconds of the oldest; null when the state does not respond. */
  readonly queue: { readonly count: number; readonly oldestAt: number | null } | null;
}

/** Writes, for the HTTP interface. */
export interface Writes {
  submit(call: WriteCall): Promise<WriteReply>;
  /** Returns what is known of an owner's message. */
  find(ownerFid: number, hash: Uint8Array): Promise<WriteStatus | undefined>;
}

/** The methods of the thread of writes. It knows nothing of HTTP. */
export interface WritesRpc extends Writes {
  stats(): Promise<WritesStats>;
}
