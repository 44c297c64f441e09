import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { ConfirmRpc } from "../../../src/auth/owners/owners.ts";
import { openIndexInMemory } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { getPosition } from "../../../src/db/index/positions.ts";
import { chainHeadOf } from "../../../src/db/index/upstream-work.ts";
import { createIngestEngine } from "../../../src/ingest/engine.ts";
import { SignedBlock, SignedChunk } from "../../../src/protocol/wire/generated/certificate.ts";
import { HubEvent } from "../../../src/protocol/wire/generated/hub.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { type ValidatorSet, ValidatorSets } from "../../../src/trust/validator-sets.ts";
import type { FollowerDeps } from "../../../src/upstream/follow/follow.ts";
import { type Follower, startFollower } from "../../../src/upstream/follow/follower.ts";
import type { Verification } from "../../../src/upstream/follow/verification.ts";
import { DEFAULT_TIMINGS } from "../../../src/upstream/timings.ts";
import { ManualClock } from "../clock.ts";
import { vectorJson } from "../vectors.ts";
import { callsAtOnce } from "./calls.ts";
import { type Recording, recordedChain, serveRecording } from "./recorded.ts";

const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_DEVNET;
/** Some minutes after the chain was recorded. */
const NOW_SECS = 1_795_423_200;
export const LAST_BLOCK = 100;
export const SHARDS = [0, 1, 2];
const PATIENCE_MS = 28_000;
const TIMINGS = {
  ...DEFAULT_TIMINGS,
  pollMs: 4,
  retryMs: 2,
  maxRetryMs: 16,
  roomPollMs: 4,
  stallMs: 20_000,
  callTimeoutMs: 20_000,
  // A busy machine makes no node one that does not respond.
  confirmMs: 20_000,
  headPollMs: 100,
  silenceMs: 500,
  coolMs: 10,
  maxCoolMs: 100,
};

export const chain = recordedChain("four-validators/");
export const [validators] = vectorJson<{ sets: [ValidatorSet] }>("four-validators/validators.json").sets;

/** A node that serves the recorded network. A test changes what it serves, how far, and whether it responds. */
export interface RecordedNode {
  url: string;
  recording: Recording;
  /** The newest block of each shard. */
  readonly heads: Map<number, number>;
  /** The newest block of each shard as it says; default: `heads`. */
  announced: ReadonlyMap<number, number>;
  /** The addresses that it announces of other nodes. */
  announces: readonly string[];
  /** Calls by their method. */
  readonly calls: Map<string, number>;
  /** Accepts calls, of one method or of all, and responds to none, until `resume`. */
  pause(method?: string): void;
  resume(): void;
  /** Ends it with all its connections. */
  kill(): void;
}

async function startNode(
  listing: { count: number },
  lastBlock: number,
  recording: Recording,
): Promise<RecordedNode & Disposable> {
  const heads = new Map(SHARDS.map((shard) => [shard, lastBlock]));
  let gate: (PromiseWithResolvers<void> & { readonly method: string | undefined }) | undefined;
  const calls = new Map<string, number>();
  const node = {
    recording,
    announced: heads as ReadonlyMap<number, number>,
    announces: [] as readonly string[],
  };
  const server = await serveRecording(() => node.recording, heads, {
    listing,
    announced: () => node.announced,
    contacts: () => encodedContacts(node.announces),
    async beforeResponse(method) {
      calls.set(method, (calls.get(method) ?? 0) + 1);
      if (gate && (gate.method ?? method) === method) await gate.promise;
    },
  });
  return Object.assign(node, {
    url: server.url,
    heads,
    calls,
    pause(method?: string) {
      gate ??= { ...Promise.withResolvers<void>(), method };
    },
    resume() {
      gate?.resolve();
      gate = undefined;
    },
    kill: () => server[Symbol.dispose](),
    [Symbol.dispose]: () => server[Symbol.dispose](),
  });
}

/** A response of GetConnectedPeers. */
export function encodedContacts(addresses: readonly string[], network: number = NETWORK): Uint8Array {
  const writer = new BinaryWriter();
  for (const address of addresses)
    writer
      .tag(1, WireType.LengthDelimited)
      .bytes(
        new BinaryWriter()
          .tag(1, WireType.LengthDelimited)
          .string("/ip4/203.0.113.9/udp/3382/quic-v1")
          .tag(4, WireType.Varint)
          .int32(network)
          .tag(6, WireType.LengthDelimited)
          .string(address)
          .finish(),
      );
  // Its other list, and what a later version adds.
  writer.tag(2, WireType.LengthDelimited).bytes(Uint8Array.of(8, 1));
  return writer.finish();
}

/** An index that follows the recorded network of four validators, of which three sign. */
export async function followNodes({
  sets = [validators] as readonly ValidatorSet[],
  onUnknownSet = "stop" as Verification["onUnknownSet"],
  isFollowing = true,
  /** Nodes that serve the network. */
  nodes: count = 1,
  /** How many of them the settings name. The others are found if one announces them. */
  named = undefined as number | undefined,
  discovery = undefined as FollowerDeps["discovery"],
  lastBlock = LAST_BLOCK,
  /** What all of them serve. */
  recording = chain,
  forksDir = undefined as string | undefined,
  /** Awaited between a commit and its acknowledgement. */
  acknowledged = async () => {},
  /** See `Timings`. */
  sampleMs = 600_000,
  silenceMs = TIMINGS.silenceMs,
  /** Asked instead of a second node, with `trust.events = "rpc"`. */
  registries = undefined as FollowerDeps["registries"],
} = {}) {
  const stack = new AsyncDisposableStack();
  const listing = { count: 0 };
  const nodes: RecordedNode[] = [];
  for (let started = 0; started < count; started++)
    nodes.push(stack.use(await startNode(listing, lastBlock, recording)));
  const [first] = nodes as [RecordedNode];
  const db = stack.use(openIndexInMemory());
  claimNetwork(db, "devnet");
  const clock = new ManualClock(NOW_SECS);
  const engine = createIngestEngine({
    db,
    network: NETWORK,
    clock,
    onFault: (cause) => {
      throw cause;
    },
  });
  const waiting: (() => void)[] = [];
  const wake = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  const faults: string[] = [];
  const peerErrors: string[] = [];
  let follower: Follower | undefined;
  stack.defer(async () => follower?.stop());
  const applied = (shard: number) => getPosition(db, `upstream ${shard} applied`) ?? 0;
  const followed = {
    db,
    clock,
    nodes,
    heads: first.heads,
    faults,
    peerErrors,
    applied,
    trust: () => follower?.progress().trust,
    peerError: () => follower?.progress().peerError,
    certified: () => SHARDS.map((shard) => chainHeadOf(db, shard)?.certified),
    upstreams: () => follower?.progress().upstreams ?? [],
    /** What decisions rest on; only while it follows. */
    confirm: (): ConfirmRpc => {
      if (!follower) throw new Error("nothing is followed");
      return follower;
    },
    /** The node that is followed; undefined between two of them. */
    active: () => nodes[(followed.upstreams().find(({ isActive }) => isActive)?.position ?? 0) - 1],
    switchTo(other: string) {
      first.url = other;
    },
    serve(changed: Recording) {
      first.recording = changed;
    },
    know(changed: readonly ValidatorSet[]) {
      sets = changed;
    },
    start() {
      follower = startFollower({
        urls: nodes.slice(0, named).map(({ url }) => url),
        ...(discovery && { discovery }),
        db,
        writer: {
          async apply(batch) {
            engine.applyRelayed(batch);
            wake();
            await acknowledged();
          },
          buildStep: async () => engine.buildStep(),
        },
        network: NETWORK,
        nameServer: undefined,
        verification: {
          validators: () => ({ origin: "file", sets: new ValidatorSets(sets) }),
          onUnknownSet,
        },
        clock,
        fids: undefined,
        calls: callsAtOnce(1),
        timings: { ...TIMINGS, sampleMs, silenceMs },
        ...(forksDir !== undefined && { forksDir }),
        registries,
        onFault: (what, cause) => {
          faults.push(`${what}: ${cause}`);
          wake();
        },
        onPeerError: ({ reason }) => {
          peerErrors.push(reason);
          wake();
        },
      });
    },
    async stop() {
      await follower?.stop();
      follower = undefined;
    },
    /** Waits for a state. No event says that a node's has changed. */
    async until(isOver: () => boolean) {
      using polling = new DisposableStack();
      polling.adopt(setInterval(wake, 5), clearInterval);
      const tooLong = AbortSignal.timeout(PATIENCE_MS);
      tooLong.addEventListener("abort", wake);
      while (!isOver()) {
        if (tooLong.aborted)
          throw new Error(
            `stuck at ${SHARDS.map(applied)}: ${faults.slice(-3).join("; ")}; ${peerErrors.at(-1)}`,
          );
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    allApplied: (height = LAST_BLOCK) =>
      followed.until(() => SHARDS.every((shard) => applied(shard) === height)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  if (isFollowing) followed.start();
  return followed;
}

/** The recorded network with one block of a shard changed. */
export function withChunk(
  shard: number,
  height: number,
  change: (chunk: SignedChunk) => void,
  recording = chain,
): Recording {
  return withChunks(recording, (chunk, of, number) => {
    if (of === shard && number === height) change(chunk);
  });
}

/** A recorded network with changed blocks of data shards. */
export function withChunks(
  recording: Recording,
  change: (chunk: SignedChunk, shard: number, height: number) => void,
): Recording {
  const changed = (shard: number) => (one: { readonly number: number; readonly bytes: Uint8Array }) => {
    const chunk = SignedChunk.decode(Uint8Array.from(one.bytes));
    change(chunk, shard, one.number);
    return { number: one.number, bytes: SignedChunk.encode(chunk).finish() };
  };
  return {
    ...recording,
    chunks: new Map([...recording.chunks].map(([shard, all]) => [shard, all.map(changed(shard))])),
  };
}

/** The recorded network with one block of shard 0 changed, or with all of them. */
export function withBlock(
  height: number | undefined,
  change: (block: SignedBlock) => void,
  recording = chain,
): Recording {
  const blocks = recording.blocks.map((one) => {
    if (height !== undefined && one.number !== height) return one;
    const block = SignedBlock.decode(Uint8Array.from(one.bytes));
    change(block);
    return { number: one.number, bytes: SignedBlock.encode(block).finish() };
  });
  return { ...recording, blocks };
}

/** The recorded network with another hash in the confirmation of a block's events. */
export function withConfirmation(shard: number, height: number): Recording {
  const events = new Map(chain.events);
  events.set(
    shard,
    (chain.events.get(shard) ?? []).map(({ id, bytes }) => {
      const event = HubEvent.decode(bytes);
      if (event.body?.$case !== "blockConfirmedBody" || event.body.value.blockNumber !== height)
        return { id, bytes };
      event.body.value.blockHash = event.body.value.blockHash.toReversed();
      return { id, bytes: HubEvent.encode(event).finish() };
    }),
  );
  return { ...chain, events };
}
