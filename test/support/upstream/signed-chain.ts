import { blockHash } from "../../../src/protocol/message/message-hash.ts";
import { shardOfFid } from "../../../src/protocol/network/shard.ts";
import { FARCASTER_EPOCH_UNIX_SECS } from "../../../src/protocol/time.ts";
import {
  type Commits,
  SignedBlock,
  SignedBlockHeader,
  SignedChunk,
  SignedShardHeader,
  Vote,
} from "../../../src/protocol/wire/generated/certificate.ts";
import { HubEvent, HubEventType } from "../../../src/protocol/wire/generated/hub.ts";
import { FarcasterNetwork, type Message, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { messageKey } from "../../../src/trust/trie-key.ts";
import type { ValidatorSet } from "../../../src/trust/validator-sets.ts";
import { encodeData, makeSigner, sealDataBytes, signBytes } from "../messages.ts";
import { ShardKeys } from "../trie.ts";
import { eventId } from "./blocks.ts";
import type { Recording } from "./recorded.ts";

const DATA_SHARDS = [1, 2];
const SHARDS = [0, ...DATA_SHARDS];
const ENGINE_VERSION = 13;
const FIRST_PARENT = Uint8Array.of(0, 0x20);
const EMPTY = new Uint8Array();

const validators = Array.from({ length: 7 }, (_, at) => makeSigner(`validator ${at}`));

/** The validators of the chain. */
export const chainValidators: ValidatorSet = {
  effective_at: 0,
  shard_ids: SHARDS,
  public_keys: validators.map(({ publicKey }) => publicKey.toHex()),
};

export interface ChainPlan {
  readonly fids: readonly number[];
  /** The casts of a block of a data shard, by its height. */
  readonly castsOf: (height: number) => number;
  readonly blocks: number;
  /** Unix seconds of the first block. Each further one is a second later. */
  readonly startsAt: number;
  /** Default: devnet. */
  readonly network?: FarcasterNetwork;
}

/** Makes a chain of three shards whose accounts cast in turns. 5 of 7 validators sign each block, and its root is that of its casts. */
export function signedChain({
  fids,
  castsOf,
  blocks,
  startsAt,
  network = FarcasterNetwork.FARCASTER_NETWORK_DEVNET,
}: ChainPlan): Recording {
  const timeAt = (height: number) => startsAt + height - FARCASTER_EPOCH_UNIX_SECS;
  const chunks = new Map<number, { number: number; bytes: Uint8Array }[]>();
  const events = new Map<number, { id: number; bytes: Uint8Array }[]>();
  for (const shard of DATA_SHARDS) {
    const own = fids.filter((fid) => shardOfFid(fid, DATA_SHARDS.length) === shard);
    const keys = new ShardKeys();
    const ofChunks = chunks.getOrInsertComputed(shard, () => []);
    const ofEvents = events.getOrInsertComputed(shard, () => []);
    let parentHash: Uint8Array = FIRST_PARENT;
    let next = 0;
    for (let height = 1; height <= blocks; height++) {
      const casts = Array.from({ length: castsOf(height) }, () => {
        next += 1;
        return castOf(own[next % own.length] as number, `cast ${next}`, {
          timestamp: timeAt(height),
          network,
        });
      });
      for (const { key } of casts) keys.add(key);
      const { root, accounts } = keys.root();
      const header = { height: { shardIndex: shard, blockNumber: height }, timestamp: timeAt(height) };
      const encoded = SignedShardHeader.encode({ ...header, parentHash, shardRoot: root });
      const hash = blockHash(encoded.finish());
      const transactions = casts.map(({ fid }) => ({
        fid,
        systemMessages: [],
        accountRoot: accounts.get(fid)?.root ?? EMPTY,
      }));
      const signed = { header: { ...header, parentHash, shardRoot: root }, hash, transactions };
      const commits = commitsOf(shard, height, hash);
      ofChunks.push({ number: height, bytes: SignedChunk.encode({ ...signed, commits }).finish() });
      for (const event of eventsOf(header, hash, casts))
        ofEvents.push({ id: event.id, bytes: HubEvent.encode(event).finish() });
      parentHash = hash;
    }
  }
  return { blocks: blocksOf(blocks, timeAt, network), chunks, events };
}

/** Signs the hash of a block by as many validators as it takes. */
export function commitsOf(shard: number, height: number, hash: Uint8Array, signers = 5): Commits {
  const vote = {
    type: 1,
    height: { shardIndex: shard, blockNumber: height },
    round: 0,
    value: { shardIndex: shard, hash },
  };
  const signatures = validators.slice(0, signers).map((validator) => ({
    signer: validator.publicKey,
    signature: signBytes(Vote.encode({ ...vote, voter: validator.publicKey }).finish(), validator),
  }));
  return { height: vote.height, round: vote.round, value: vote.value, signatures };
}

interface Cast {
  readonly fid: number;
  readonly message: Message;
  readonly key: Uint8Array;
}

const castSigner = makeSigner("casts");

function castOf(
  fid: number,
  text: string,
  place: { readonly timestamp: number; readonly network: FarcasterNetwork },
): Cast {
  const type = MessageType.MESSAGE_TYPE_CAST_ADD;
  const body = { $case: "castAddBody" as const, value: { text } };
  const message = sealDataBytes(encodeData({ type, fid, ...place, body }), castSigner);
  return { fid, message, key: messageKey(fid, type, message.hash) };
}

interface ChunkPlace {
  readonly height: { readonly shardIndex: number; readonly blockNumber: number };
  readonly timestamp: number;
}

function eventsOf(
  { height, timestamp }: ChunkPlace,
  blockHash: Uint8Array,
  casts: readonly Cast[],
): HubEvent[] {
  const { shardIndex, blockNumber } = height;
  const place = { blockNumber, shardIndex, timestamp };
  const merge = HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE;
  const confirmed = HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED;
  const body = {
    $case: "blockConfirmedBody" as const,
    value: {
      ...place,
      blockHash,
      totalEvents: casts.length + 1,
      eventCountsByType: { [confirmed]: 1, [merge]: casts.length },
      maxBlockEventSeqnum: 0,
    },
  };
  return [
    { type: confirmed, id: eventId(blockNumber, 0), body, ...place },
    ...casts.map(({ message }, at) => ({
      type: merge,
      id: eventId(blockNumber, at + 1),
      body: { $case: "mergeMessageBody" as const, value: { message, deletedMessages: [] } },
      ...place,
    })),
  ];
}

function blocksOf(
  count: number,
  timeAt: (height: number) => number,
  network: FarcasterNetwork,
): Recording["blocks"] {
  let parentHash: Uint8Array = new TextEncoder().encode("the first block");
  return Array.from({ length: count }, (_, at) => {
    const number = at + 1;
    const header = {
      height: { shardIndex: 0, blockNumber: number },
      timestamp: timeAt(number),
      version: ENGINE_VERSION,
      chainId: network,
      shardWitnessesHash: blockHash(EMPTY),
      parentHash,
      stateRoot: EMPTY,
      eventsHash: EMPTY,
    };
    const hash = blockHash(SignedBlockHeader.encode(header).finish());
    parentHash = hash;
    const block = { header, hash, shardWitness: EMPTY, commits: commitsOf(0, number, hash), events: [] };
    return { number, bytes: SignedBlock.encode(block).finish() };
  });
}
