import { channelHistoryOf } from "../../../src/db/index/channels/history.ts";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { getPosition } from "../../../src/db/index/positions.ts";
import { createIngestEngine, type IngestEngine } from "../../../src/ingest/engine.ts";
import type { RelayedBatch } from "../../../src/ingest/relayed-op.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { type Follower, startFollower } from "../../../src/upstream/follow/follower.ts";
import { DEFAULT_TIMINGS } from "../../../src/upstream/timings.ts";
import { ManualClock } from "../clock.ts";
import { TEST_NAME_SERVER } from "../events.ts";
import { heightAt } from "./blocks.ts";
import { callsAtOnce } from "./calls.ts";
import type { UpstreamNode } from "./node.ts";
import type { CommitFault } from "./plan.ts";
import { DATA_SHARDS } from "./shards.ts";

const SHARDS = [0, ...DATA_SHARDS];

/** As short as possible, since tests run by the wall clock. */
const PACE = {
  ...DEFAULT_TIMINGS,
  pollMs: 4,
  retryMs: 2,
  maxRetryMs: 16,
  roomPollMs: 4,
  stallMs: 500,
  rateRecoveryMs: 1,
  callTimeoutMs: 60_000,
};

/** A follower without a call or commit for so long is stuck. */
const PATIENCE_MS = 30_000;

/** Returns contradictions between the positions of an index and its data. */
export type CommitCheck = (db: IndexDatabase, node: UpstreamNode) => string[];

export interface FollowedIndexOptions {
  readonly node: UpstreamNode;
  readonly url: string;
  /** What is compared with the positions after each commit. */
  readonly checks?: readonly CommitCheck[];
  /** Unix seconds. */
  readonly nowSecs: number;
  readonly fids?: ReadonlySet<number>;
  /** A silent stream is stalled after so long. Too short a time would fail on a busy machine. */
  readonly stallMs?: number;
  /** A call that an upstream holds is repeated after so long. By default longer than a test: a busy machine must not end a call. */
  readonly callTimeoutMs?: number;
  /** Returns the fault of the nth commit, if any. */
  readonly commitFault?: (commit: number) => CommitFault | undefined;
}

/**
 * An index with a follower, which may be killed and restarted. After each commit the stored positions are compared with
 * the data: a position ahead of it is reported at once, not only at the end.
 */
export class FollowedIndex {
  readonly db: IndexDatabase = openIndexInMemory();
  /** The faults that the follower reported and retried. */
  readonly faults: string[] = [];
  /** Why the upstream was taken for something else than a Farcaster node. */
  readonly peerErrors: string[] = [];
  /** Why records of the upstream were refused. */
  readonly refusals: string[] = [];
  /** Contradictions between a position and the data. */
  readonly contradictions: string[] = [];
  /** Whether the index is at the bound of its size. Tests set it. */
  isFull = false;
  /** The bytes that the index may have. */
  roomBytes = Number.POSITIVE_INFINITY;
  /** How often the follower has asked whether there is room. */
  roomAsked = 0;
  readonly #options: FollowedIndexOptions;
  /** The writer, for work on the index while no follower runs. */
  readonly engine: IngestEngine;
  /** The fids that the next follower follows. */
  fids: ReadonlySet<number> | undefined;
  readonly #clock: ManualClock;
  #follower: Follower | undefined;
  #commits = 0;
  #waiting: (() => void)[] = [];

  constructor(options: FollowedIndexOptions) {
    this.#options = options;
    this.fids = options.fids;
    const { network, boundary } = options.node.chain;
    claimNetwork(this.db, network === FarcasterNetwork.FARCASTER_NETWORK_MAINNET ? "mainnet" : "devnet");
    this.#clock = new ManualClock(options.nowSecs);
    this.engine = createIngestEngine({
      db: this.db,
      network,
      ...(boundary && { schedule: boundary.followed }),
      clock: this.#clock,
      bound: {
        isFull: () => this.isFull,
        size: () => ({ bytes: 0, maxBytes: 0, isFull: this.isFull }),
        setPhase: () => {},
      },
      onFault: (cause) => {
        throw cause;
      },
    });
  }

  start(): void {
    const { network, boundary } = this.#options.node.chain;
    this.#follower = startFollower({
      urls: [this.#options.url],
      db: this.db,
      writer: {
        apply: async (batch) => this.#apply(batch),
        buildStep: async () => this.engine.buildStep(),
      },
      hasRoom: async () => {
        this.roomAsked += 1;
        this.wake();
        return !this.isFull;
      },
      roomBytes: async () => this.roomBytes,
      network,
      ...(boundary && { schedule: boundary.followed }),
      nameServer: TEST_NAME_SERVER.address,
      clock: this.#clock,
      fids: this.fids,
      calls: callsAtOnce(8),
      timings: {
        ...PACE,
        stallMs: this.#options.stallMs ?? PACE.stallMs,
        callTimeoutMs: this.#options.callTimeoutMs ?? PACE.callTimeoutMs,
      },
      onFault: (what, cause) => this.faults.push(`${what}: ${cause}`),
      onPeerError: ({ reason }) => this.peerErrors.push(reason),
      onRefused: ({ reason }) => this.refusals.push(reason),
    });
  }

  async stop(): Promise<void> {
    await this.#follower?.stop();
    this.#follower = undefined;
  }

  /** Whether everything that the upstream has produced is in the index, and the todo list is empty. */
  get hasEverything(): boolean {
    const { node } = this.#options;
    return (
      this.#follower?.progress().phase === "live" &&
      SHARDS.every((shard) => (this.#applied(shard) ?? 0) >= node.height(shard)) &&
      this.db.sqlite.query("SELECT fid FROM upstream_todo").all().length === 0 &&
      channelHistoryOf(this.db).isDone
    );
  }

  get upstreamUrl(): string {
    return this.#options.url;
  }

  get progress(): ReturnType<Follower["progress"]> {
    if (!this.#follower) throw new Error("the follower has not started");
    return this.#follower.progress();
  }

  /** Number of batches passed to the writer. */
  get commits(): number {
    return this.#commits;
  }

  /** Resolves when the index is complete. */
  caughtUp(): Promise<void> {
    return this.until(() => this.hasEverything);
  }

  /** Resolves when `isOver` returns true. Rejects if the follower is stuck. */
  async until(isOver: () => boolean): Promise<void> {
    const tooLong = AbortSignal.timeout(PATIENCE_MS);
    tooLong.addEventListener("abort", () => this.wake());
    while (!isOver()) {
      if (tooLong.aborted) throw new Error(`the follower is stuck: ${this.#state()}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Resolves when `isOver` returns true, however long that takes. */
  async eventually(isOver: () => boolean): Promise<void> {
    while (!isOver()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Checks the conditions of all waits. Also called at each upstream call, because a phase changes without a commit. */
  wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #apply(batch: RelayedBatch): void {
    const fault = this.#options.commitFault?.(this.#commits);
    this.#commits += 1;
    if (fault === "before") throw new Error("the writer died before the commit");
    this.engine.applyRelayed(batch);
    for (const check of this.#options.checks ?? [])
      this.contradictions.push(...check(this.db, this.#options.node));
    this.wake();
    if (fault === "after") throw new Error("the writer died after the commit");
  }

  #applied(shard: number): number | undefined {
    return getPosition(this.db, `upstream ${shard} applied`);
  }

  /** Returns the tick up to which a shard is applied. */
  #tickOf(shard: number): number {
    return (this.#applied(shard) ?? 0) - heightAt(shard, 0);
  }

  #state(): string {
    const { node } = this.#options;
    const shards = SHARDS.map(
      (shard) => `${shard}: tick ${this.#tickOf(shard)} of ${node.produced(shard) - 1}`,
    );
    const progress = JSON.stringify(this.#follower?.progress());
    return [...shards, progress, ...this.faults.slice(-5)].join("; ");
  }
}
