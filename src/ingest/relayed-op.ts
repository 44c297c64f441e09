import type { PackedMessages } from "../db/index/bulk/bulk-state.ts";
import type { SpooledPart } from "../db/index/bulk/spool-tables.ts";
import type { ReportedRegistration } from "../db/index/channels/registrations.ts";
import type { ConfirmedEvents } from "../db/index/confirmed-events.ts";
import type { FollowedFids } from "../db/index/identity.ts";
import type { HubLogBlock } from "../db/index/log/hub-log.ts";
import type { PositionUpdate } from "../db/index/positions.ts";
import type { OpaqueAt } from "../db/index/trie/opaque.ts";
import type { UnknownRecord } from "../db/index/unknown-records.ts";
import type { ChainHead, JournaledBlock } from "../db/index/upstream-work.ts";
import { type ByteList, unpackBytes } from "../lib/bytes.ts";
import type { ChannelSlot } from "../protocol/channels/slots.ts";
import type { Store } from "../protocol/message/merge-rules.ts";
import type { Decision } from "./merge/channels.ts";
import type { GaslessKey, KeyNonces, KeyRemoval } from "./merge/keys/gasless-key-store.ts";
import type { OnChainEventRef } from "./merge/registry.ts";
import type { HealedAccount } from "./trie/heal-account.ts";
import type { SnapshotKeys } from "./trie/snapshot-keys.ts";

/** Identifies a message in its slot. */
export interface MessageRef {
  readonly fid: number;
  readonly store: Store;
  readonly slot: Uint8Array;
  readonly hash: Uint8Array;
}

/**
 * An operation that the upstream did, or a part of its state. It is not admitted, limited or revoked here, because the
 * upstream has decided. Each operation can be applied again, even over a state that is ahead of it. Applied in order up to
 * the newest, the operations produce the state of the upstream. `happenedAt` is in Unix seconds; it is 0 for operations from
 * reading the state, which produce no events.
 */
export type RelayedOp = { readonly happenedAt: number } & (
  | {
      /** A message became live and replaced `deleted`. */
      readonly kind: "merge";
      readonly message: Uint8Array;
      readonly deleted: readonly MessageRef[];
      /**
       * For a compact state, the hashes of links in the same block. The network compacts only what was committed before the
       * block, so these stay.
       */
      readonly spared?: readonly Uint8Array[];
    }
  /** A message is live, and any other message in its slot is not. */
  | { readonly kind: "put"; readonly message: Uint8Array }
  /** Many messages are live, each as with `put`. */
  | { readonly kind: "putAll"; readonly messages: ByteList }
  /** A message is no longer live. */
  | { readonly kind: "remove"; readonly ref: MessageRef }
  | { readonly kind: "onChainEvent"; readonly event: Uint8Array }
  | {
      /** An event of the channels' registry. */
      readonly kind: "registration";
      readonly event: Uint8Array;
      /** Undefined for a registration from a list. */
      readonly decision: Decision | undefined;
    }
  /** The content of a channel's slot, without its message. Every decision replaces it. */
  | { readonly kind: "channelState"; readonly slot: ChannelSlot; readonly authorFid: number }
  | {
      /** The fid that owns the channels of an address, if any. Every decision replaces it. */
      readonly kind: "ownerState";
      readonly fid: number;
      readonly address: Uint8Array;
      /** One of the address's channels. */
      readonly channel: ReportedRegistration;
    }
  /**
   * A live verification of the upstream's state, which counts for owners of channels. `timestamp` is in Farcaster seconds.
   */
  | {
      readonly kind: "claimState";
      readonly fid: number;
      readonly address: Uint8Array;
      readonly timestamp: number;
    }
  /** Everything that the upstream has about channels has been read. */
  | { readonly kind: "channelsComplete" }
  /** Shard 0 decided a message of a channel. */
  | { readonly kind: "channel"; readonly message: Uint8Array; readonly decision: Decision }
  | {
      /** Shard 0 decided a verification, which counts for owners of channels. */
      readonly kind: "claim";
      readonly message: Uint8Array;
      readonly decision: Decision;
      /** Whether it is also the author's live verification from now on, if it is in scope and was not decided before. */
      readonly isForced: boolean;
    }
  | { readonly kind: "removeOnChainEvent"; readonly ref: OnChainEventRef }
  | {
      readonly kind: "proof";
      readonly added?: Uint8Array | undefined;
      readonly removed?: Uint8Array | undefined;
      /** `added` is ignored unless another proof of the name is shown. */
      readonly onlyIfShown?: boolean;
      /**
       * Whether `added` is for a name that its user shows, but that is neither in the upstream's list for the fid nor in its
       * snapshot.
       */
      readonly isShownOnly?: boolean;
    }
  /** The current state of an opaque child of an account in a shard's trie. */
  | { readonly kind: "opaque"; readonly child: OpaqueAt }
  | { readonly kind: "key"; readonly key: GaslessKey }
  | {
      readonly kind: "removeKey";
      readonly fid: number;
      readonly key: Uint8Array;
      /** Undefined if the key is missing from the upstream's state, without a known removal. */
      readonly removal?: KeyRemoval;
    }
  | { readonly kind: "keyNonces"; readonly nonces: KeyNonces }
  /** All operations of an fid's state on the upstream precede this one. */
  | { readonly kind: "fidComplete"; readonly fid: number }
);

/** Consecutive blocks of one shard, whose operations are in a batch. */
export interface RelayedBlocks {
  readonly shard: number;
  readonly first: number;
  readonly last: number;
  /** In order; blocks without operations may be left out. */
  readonly parts: readonly {
    readonly number: number;
    /** Unix seconds. */
    readonly time: number;
    /** Number of its operations. */
    readonly ops: number;
    /** What the block reports about the keys of its shard's trie (see `KeyRecord`), if they are followed. */
    readonly keyRecords?: ByteList;
  }[];
  /** Whether the blocks were journaled while the state was read, so that their changes may be part of that state. */
  readonly isJournal: boolean;
}

/** Operations and the positions that they reach. The batch is atomic. */
export interface RelayedBatch {
  /**
   * Messages for the bulk build of an index that started empty. The operations are then only those that read no messages.
   * Undefined for a batch that is written row by row.
   */
  readonly spooled?: readonly PackedMessages[] | undefined;
  /** Fids whose messages are completely in the spool with this batch, as in a snapshot. */
  readonly spooledFids?: readonly number[];
  /** Progress of the virtual shards of snapshots in the spool with this batch. */
  readonly spooledParts?: readonly SpooledPart[];
  /** Number of data shards of the network. It is stored in an index without messages. */
  readonly shards?: number;
  readonly ops: readonly RelayedOp[];
  readonly positions: readonly PositionUpdate[];
  /** Blocks to append to the log of hub events: those that contain these operations. */
  readonly hubBlocks?: readonly HubLogBlock[];
  /** The blocks that contain these operations; undefined for operations outside of blocks. */
  readonly blocks?: RelayedBlocks | undefined;
  /**
   * Whether the operations change the network's tries exactly as its verified blocks say, so that their keys are followed.
   */
  readonly followsKeys?: boolean | undefined;
  /** What snapshots report about the keys of the tries, besides the spooled records. */
  readonly snapshotKeys?: readonly SnapshotKeys[];
  /** The account that the operations make equal to the network's. If they do not, nothing of the batch is applied. */
  readonly healed?: HealedAccount;
  /** Data shards whose snapshots are completely in the spool, with the block from which their keys are known. */
  readonly keysKnown?: readonly { readonly shard: number; readonly from: number }[];
  /** On-chain events on which two nodes agree. */
  readonly confirmed?: readonly ConfirmedEvents[];
  /** Records of kinds that this program does not know, to be kept. */
  readonly unknown?: readonly UnknownRecord[];
  /** Kept records that this batch applies. */
  readonly recovered?: readonly number[];
  /** Blocks to append to the journal. */
  readonly journal?: { readonly shard: number; readonly blocks: readonly JournaledBlock[] };
  /** The newest verified or followed blocks whose contents or journal are in this batch. */
  readonly heads?: readonly ChainHead[];
  /** Blocks of the journal to delete, up to and including `upTo`. */
  readonly discardedJournal?: readonly { readonly shard: number; readonly upTo: number }[];
  /** Fids to add to the todo list: their state must be read from the upstream. */
  readonly todo?: readonly number[];
  /** Fids whose profiles must be stored from now on. New ones are added to the todo list. */
  readonly mentioned?: readonly number[];
  /** The fids whose complete state is stored once the todo list is done. */
  readonly followed?: FollowedFids;
  /** Whether to discard the journal and the todo list first. */
  readonly startsOver?: boolean;
}

/** An operation on one record. */
export type SingleOp = Exclude<RelayedOp, { readonly kind: "putAll" }>;

/** Yields the single-record operations that make up operations. */
export function* singleOps(ops: readonly RelayedOp[]): Generator<SingleOp> {
  for (const op of ops) {
    if (op.kind !== "putAll") yield op;
    else
      for (const message of unpackBytes(op.messages))
        yield { kind: "put", message, happenedAt: op.happenedAt };
  }
}

/** Returns the number of records that an operation concerns. */
export function sizeOfOp(op: RelayedOp): number {
  return op.kind === "putAll" ? op.messages.count : 1;
}
