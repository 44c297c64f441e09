import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { encodeMessage, signedMessageFromWire } from "../../../src/protocol/message/signed-message.ts";
import { SignedChunk } from "../../../src/protocol/wire/generated/certificate.ts";
import { MessageType, UserNameProof } from "../../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../../src/protocol/wire/generated/on-chain.ts";
import {
  SnapshotPageRequest as PageRequest,
  type SnapshotEntry,
  SnapshotPage,
  type SnapshotPageRequest,
  Snapshots,
  SnapshotsRequest,
  TrieNode,
  TrieNodeRequest,
} from "../../../src/protocol/wire/generated/snapshot.ts";
import { fnameKey, keysOfSigned, onChainKey, type TrieKey } from "../../../src/trust/trie-key.ts";
import { expectOk } from "../result.ts";
import type { UpstreamNode } from "./node.ts";
import { DATA_SHARDS, shardOf } from "./shards.ts";
import { SnapshotTree, UnservedPage } from "./snapshot-tree.ts";

interface HeldSnapshot {
  readonly shard: number;
  readonly height: number;
  /** Farcaster seconds. */
  readonly timestamp: number;
  readonly tree: SnapshotTree;
  /** The encoded block; undefined where nothing is verified. */
  readonly chunk?: Uint8Array;
}

/** The snapshots of a node, in memory: a restart drops them. */
export class HeldSnapshots {
  #held: HeldSnapshot[] = [];
  /** Records of a page. Tests of small networks have small pages. */
  perPage = 1000;
  /** What the node says of the number of keys; undefined for the true one. */
  announcedKeys: number | undefined;
  /** Changes a page before it is sent. */
  change: (page: SnapshotPage, request: SnapshotPageRequest) => SnapshotPage = (page) => page;

  /** What the node says of a hash of its trie. */
  nodeHash = (hash: string): string => hash;
  /** Makes pages of its own, if it is set. */
  invent: ((request: SnapshotPageRequest) => SnapshotPage) | undefined;

  /** Makes a snapshot of each data shard of a scripted node. */
  take(node: UpstreamNode): void {
    for (const shard of DATA_SHARDS) {
      const last = node.blocks(shard, "events").at(-1);
      if (!last) throw new Error("the node has no blocks");
      this.add({
        shard,
        height: last.height,
        timestamp: last.timestamp,
        tree: new SnapshotTree(entriesOf(node, shard)),
      });
    }
  }

  add(snapshot: HeldSnapshot): void {
    this.#held.push(snapshot);
  }

  /** Drops the snapshots, as a restart and the end of their day do. */
  drop(): void {
    this.#held = [];
  }

  /** Makes the snapshots older. */
  age(secs: number): void {
    this.#held = this.#held.map((one) => ({ ...one, timestamp: one.timestamp - secs }));
  }

  list({ shard }: SnapshotsRequest): Snapshots {
    const own = this.#held.filter((one) => one.shard === shard);
    return {
      snapshots: own.map(({ height, timestamp, tree, chunk }) => ({
        shard,
        height,
        timestamp,
        chunk: chunk && SignedChunk.decode(chunk),
        keys: this.announcedKeys ?? tree.keys,
      })),
    };
  }

  page(request: SnapshotPageRequest): SnapshotPage | ServiceError {
    if (this.invent) return this.invent(request);
    const { shard, height, virtualShard, pageToken } = request;
    const held = this.#held.find((one) => one.shard === shard && one.height === height);
    if (!held) return internal(`Failed to get transactions: No stores found for the given height and shard`);
    try {
      return this.change(held.tree.page(virtualShard, pageToken, this.perPage), request);
    } catch (cause) {
      if (!(cause instanceof UnservedPage)) throw cause;
      return internal(`Failed to get transactions: ${cause.message}`);
    }
  }

  node({ shard, prefix }: TrieNodeRequest): TrieNode {
    const node = this.#held.findLast((one) => one.shard === shard)?.tree.node(prefix) ?? { children: [] };
    return { children: node.children.map((child) => ({ ...child, hash: this.nodeHash(child.hash) })) };
  }
}

/** The methods of the reference node that serve snapshots. */
export const SNAPSHOT_METHODS = {
  getShardSnapshotMetadata: method(
    "ReplicationService/GetShardSnapshotMetadata",
    SnapshotsRequest,
    Snapshots,
  ),
  getShardTransactions: method("ReplicationService/GetShardTransactions", PageRequest, SnapshotPage),
  getTrieMetadataByPrefix: method("HubService/GetTrieMetadataByPrefix", TrieNodeRequest, TrieNode),
};

function method<Request, Response>(
  path: string,
  request: { decode(bytes: Uint8Array): Request },
  response: { encode(value: Response): { finish(): Uint8Array } },
) {
  const refuse = (): never => {
    throw new Error("this is the server");
  };
  return {
    path: `/${path}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: refuse,
    requestDeserialize: (bytes: Buffer) => request.decode(bytes),
    responseSerialize: (value: Response) => Buffer.from(response.encode(value).finish()),
    responseDeserialize: refuse,
  };
}

function internal(details: string): ServiceError {
  return Object.assign(new Error(details), { code: status.INTERNAL, details, metadata: new Metadata() });
}

const KEY_TYPES: readonly MessageType[] = [
  MessageType.MESSAGE_TYPE_KEY_ADD,
  MessageType.MESSAGE_TYPE_KEY_REMOVE,
];

/** The state of a data shard with its keys. */
function entriesOf(node: UpstreamNode, shard: number): SnapshotEntry[] {
  const state = node.state(shard);
  const entries = new Map<string, SnapshotEntry>();
  const add = (key: TrieKey | undefined, record: Partial<SnapshotEntry>) => {
    const nothing = { message: undefined, onChainEvent: undefined, fnameTransfer: undefined };
    if (key) entries.set(key.toHex(), { ...nothing, ...record, key });
  };
  for (const { message, fid, type } of state.allMessages()) {
    // The replay of a gasless key fails on the other shards.
    if (KEY_TYPES.includes(type) && shardOf(fid) !== shard) continue;
    const signed = expectOk(signedMessageFromWire(message));
    for (const key of keysOfSigned(signed)) add(key, { message: encodeMessage(signed) });
  }
  for (const proof of state.allFnames()) {
    const bytes = UserNameProof.encode(proof).finish();
    add(fnameKey(bytes), { fnameTransfer: { proof: bytes } });
  }
  for (const event of state.onChainEvents()) {
    const bytes = OnChainEvent.encode(event).finish();
    add(onChainKey(bytes), { onChainEvent: bytes });
  }
  return [...entries.values()];
}
