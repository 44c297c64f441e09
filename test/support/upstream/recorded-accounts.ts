import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Metadata, type Server, type ServerUnaryCall, type sendUnaryData, status } from "@grpc/grpc-js";
import { SignedChunk } from "../../../src/protocol/wire/generated/certificate.ts";
import { MessageType, UserNameProof } from "../../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../../src/protocol/wire/generated/on-chain.ts";
import {
  type SnapshotEntry,
  type SnapshotPageRequest,
  type SnapshotsRequest,
  TrieNode,
  type TrieNodeRequest,
} from "../../../src/protocol/wire/generated/snapshot.ts";
import {
  FidRequest,
  FidsRequest,
  OnChainEventRequest,
  SignersByFidRequest,
  UsernameProofRequest,
} from "../../../src/protocol/wire/generated/state.ts";
import { FNAME_KIND, fidOfKey, kindOfKey, messageKind } from "../../../src/trust/trie-key.ts";
import { type RecordedUpstream, type Recording, rawMethod } from "./recorded.ts";
import { RecordedState } from "./recorded-state.ts";
import { SnapshotTree } from "./snapshot-tree.ts";
import { HeldSnapshots, SNAPSHOT_METHODS } from "./snapshots.ts";

const SHARDS = [1, 2];
const T = MessageType;

const MESSAGES: Readonly<Record<string, readonly MessageType[]>> = {
  GetAllCastMessagesByFid: [T.MESSAGE_TYPE_CAST_ADD, T.MESSAGE_TYPE_CAST_REMOVE],
  GetAllReactionMessagesByFid: [T.MESSAGE_TYPE_REACTION_ADD, T.MESSAGE_TYPE_REACTION_REMOVE],
  GetAllLinkMessagesByFid: [T.MESSAGE_TYPE_LINK_ADD, T.MESSAGE_TYPE_LINK_REMOVE],
  GetLinkCompactStateMessageByFid: [T.MESSAGE_TYPE_LINK_COMPACT_STATE],
  GetAllVerificationMessagesByFid: [T.MESSAGE_TYPE_VERIFICATION_ADD, T.MESSAGE_TYPE_VERIFICATION_REMOVE],
  GetAllUserDataMessagesByFid: [T.MESSAGE_TYPE_USER_DATA_ADD],
  GetAllLendStorageMessagesByFid: [T.MESSAGE_TYPE_LEND_STORAGE],
};

/** What a node of a recorded network serves beside its chain: the state after its newest block, and snapshots of earlier ones. */
export class RecordedAccounts {
  readonly snapshots = new HeldSnapshots();
  /** Calls by their method. */
  readonly calls = new Map<string, number>();
  /** Changes the records of the state of now, as a node does that leaves some out. */
  change: (entries: readonly SnapshotEntry[], shard: number) => readonly SnapshotEntry[] = (entries) =>
    entries;
  /** Whether it says of each prefix that its trie has nothing there. */
  hidesTrie = false;
  readonly #recording: Recording;
  readonly #heads: RecordedUpstream["heads"];
  readonly #trees = new Map<
    string,
    { readonly tree: SnapshotTree; readonly entries: readonly SnapshotEntry[] }
  >();

  constructor(recording: Recording, heads: RecordedUpstream["heads"]) {
    this.#recording = recording;
    this.#heads = heads;
  }

  /** Makes a snapshot of a data shard after a block. */
  snapshot(shard: number, height: number): void {
    const chunk = this.#recording.chunks.get(shard)?.find(({ number }) => number === height)?.bytes;
    const timestamp = chunk ? (SignedChunk.decode(chunk).header?.timestamp ?? 0) : 0;
    this.snapshots.add({
      shard,
      height,
      timestamp,
      tree: this.#at(shard, height).tree,
      ...(chunk && { chunk }),
    });
  }

  /** The fids of a data shard. */
  fids(shard: number): number[] {
    const registrations = this.#now(shard).filter(({ key }) => kindOfKey(key) === 3);
    return [...new Set(registrations.map(({ key }) => fidOfKey(key)))].sort((a, b) => a - b);
  }

  serve(server: Server): void {
    const counted =
      <Request, Response>(name: string, respond: (request: Request) => Response | Error) =>
      ({ request }: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>) => {
        this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
        const response = respond(request);
        if (response instanceof Error) callback(response as never);
        else callback(null, response);
      };
    server.addService(SNAPSHOT_METHODS, {
      getShardSnapshotMetadata: counted("GetShardSnapshotMetadata", (request: SnapshotsRequest) =>
        this.snapshots.list(request),
      ),
      getShardTransactions: counted("GetShardTransactions", (request: SnapshotPageRequest) =>
        this.snapshots.page(request),
      ),
      getTrieMetadataByPrefix: counted("GetTrieMetadataByPrefix", ({ shard, prefix }: TrieNodeRequest) =>
        this.hidesTrie ? TrieNode.create() : this.#at(shard, this.#heads.get(shard) ?? 0).tree.node(prefix),
      ),
    });
    const addList = <Request>(
      name: string,
      request: { decode(bytes: Uint8Array): Request },
      respond: (request: Request) => readonly Uint8Array[],
    ) =>
      server.addService(
        { call: rawMethod(name, request) },
        { call: counted(name, (of: Request) => listOf(respond(of))) },
      );
    for (const [name, types] of Object.entries(MESSAGES))
      addList(name, FidRequest, ({ fid }) => this.#messages(fid, types));
    addList("GetOnChainEvents", OnChainEventRequest, ({ fid, eventType }) => this.#events(fid, eventType));
    addList("GetUserNameProofsByFid", FidRequest, ({ fid }) => this.#names(fid));
    addList("GetSignersByFid", SignersByFidRequest, () => []);
    server.addService(
      { call: rawMethod("GetUsernameProof", UsernameProofRequest) },
      { call: counted("GetUsernameProof", ({ name }: UsernameProofRequest) => this.#name(name)) },
    );
    server.addService(
      { call: rawMethod("GetFids", FidsRequest) },
      {
        call: counted("GetFids", ({ shardId }: FidsRequest) => {
          const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).fork();
          for (const fid of this.fids(shardId)) writer.uint64(fid);
          return writer.join().finish();
        }),
      },
    );
  }

  #at(shard: number, height: number) {
    return this.#trees.getOrInsertComputed(`${shard} ${height}`, () => {
      const entries = RecordedState.at(this.#recording, shard, height).entries();
      return { entries, tree: new SnapshotTree(entries) };
    });
  }

  #now(shard: number): readonly SnapshotEntry[] {
    return this.change(this.#at(shard, this.#heads.get(shard) ?? 0).entries, shard);
  }

  #of(fid: number, kinds: readonly number[]): SnapshotEntry[] {
    const entries = SHARDS.flatMap((shard) => this.#now(shard)).filter(
      ({ key }) => fidOfKey(key) === fid && kinds.includes(kindOfKey(key)),
    );
    return [...new Map(entries.map((entry) => [entry.key.toHex(), entry])).values()];
  }

  #messages(fid: number, types: readonly MessageType[]): Uint8Array[] {
    return this.#of(fid, types.map(messageKind)).flatMap(({ message }) => message ?? []);
  }

  #events(fid: number, type: number): Uint8Array[] {
    return this.#of(fid, [type])
      .flatMap(({ onChainEvent }) => onChainEvent ?? [])
      .filter((bytes) => OnChainEvent.decode(bytes).type === type);
  }

  #names(fid: number): Uint8Array[] {
    return this.#of(fid, [FNAME_KIND]).flatMap(({ fnameTransfer }) => fnameTransfer?.proof ?? []);
  }

  #name(name: Uint8Array): Uint8Array | Error {
    const entries = SHARDS.flatMap((shard) => this.#now(shard));
    const found = entries
      .flatMap(({ fnameTransfer }) => fnameTransfer?.proof ?? [])
      .find((bytes) => Buffer.compare(UserNameProof.decode(bytes).name, name) === 0);
    const missing = { code: status.NOT_FOUND, details: "not found", metadata: new Metadata() };
    return found ?? Object.assign(new Error("not found"), missing);
  }
}

function listOf(items: readonly Uint8Array[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const item of items) writer.tag(1, WireType.LengthDelimited).bytes(item);
  return writer.finish();
}
