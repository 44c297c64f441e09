import type { BulkProgress } from "../../db/index/bulk/bulk-state.ts";
import { type RelayedBatch, sizeOfOp } from "../../ingest/relayed-op.ts";
import { toUnixSecs } from "../../protocol/time.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { ShardProgress, UpstreamPhase, UpstreamProgress } from "./progress.ts";

const RATE_WINDOW_MS = 10_000;

interface Shard {
  appliedBlock: number;
  headBlock: number;
  /** The time of `appliedBlock` in Unix seconds. */
  appliedTime: number | undefined;
}

/** Tracks the progress of following. */
export class ProgressTracker {
  readonly #clock: Clock;
  readonly #shards = new Map<number, Shard>();
  #phase: UpstreamPhase = "connecting";
  #messages = 0;
  #build: BulkProgress | undefined;
  #fids = { done: 0, total: 0 };
  #syncStart = { atMs: 0, done: 0 };
  #lastFault: string | undefined;
  #peerError: string | undefined;
  /** Messages in this window and in the previous one. */
  #window = { atMs: 0, messages: 0, before: 0, beforeMs: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  enter(phase: UpstreamPhase): void {
    this.#phase = phase;
  }

  /** Records that a sync starts or resumes: `remaining` of `total` fids must still be read. */
  startSync(remaining: number, total: number): void {
    const all = Math.max(total, remaining);
    this.#fids = { done: all - remaining, total: all };
    this.#syncStart = { atMs: this.#clock.nowMs(), done: all - remaining };
  }

  /**
   * Records a step of the bulk build.
   *
   * @param build undefined when the index is built.
   */
  building(build: BulkProgress | undefined): void {
    this.#build = build;
  }

  countWritten({ ops, todo, spooled = [], spooledFids = [] }: RelayedBatch): void {
    this.#fids.done += spooledFids.length;
    if (spooledFids.length > 0) this.#peerError = undefined;
    for (const { count } of spooled) this.#messages += count;
    for (const op of ops) {
      const { kind } = op;
      if (kind === "merge" || kind === "put" || kind === "putAll") this.#messages += sizeOfOp(op);
      if (kind === "fidComplete") {
        this.#fids.done++;
        this.#peerError = undefined;
      }
    }
    if (todo) this.#fids.total += todo.length;
    this.#fids.total = Math.max(this.#fids.total, this.#fids.done);
    this.#roll();
  }

  /**
   * Records that a block was applied, which shows that the peer that sent it is a Farcaster node.
   *
   * @param timestamp Farcaster seconds of the block; undefined for an earlier position.
   */
  applied(shard: number, block: number, timestamp: number | undefined): void {
    const known = this.#shard(shard);
    known.appliedBlock = block;
    if (timestamp !== undefined) {
      known.appliedTime = toUnixSecs(timestamp);
      this.#peerError = undefined;
    }
    this.reportHead(shard, block);
  }

  /** Records that the upstream has reported a block. */
  reportHead(shard: number, block: number): void {
    const known = this.#shard(shard);
    known.headBlock = Math.max(known.headBlock, block);
  }

  setFault(what: string): void {
    this.#lastFault = what;
  }

  /**
   * Records that the upstream is not a Farcaster node or, with undefined, that it is one. The next applied block or fid also
   * clears the error.
   */
  setPeerError(error: string | undefined): void {
    this.#peerError = error;
  }

  progress(): Omit<UpstreamProgress, "isConnected" | "trust" | "upstreams" | "engine"> {
    this.#roll();
    return {
      phase: this.#phase,
      shards: [...this.#shards]
        .sort(([a], [b]) => a - b)
        .map(([shard, known]) => this.#shardProgress(shard, known)),
      fids: { ...this.#fids },
      build: this.#build,
      messages: this.#messages,
      messagesPerSec: this.#rate(),
      etaSecs: this.#etaSecs(),
      peerError: this.#peerError,
      lastFault: this.#lastFault,
    };
  }

  #shardProgress(shard: number, { appliedBlock, headBlock, appliedTime }: Shard): ShardProgress {
    const lagSecs = appliedTime === undefined ? undefined : Math.max(0, nowSecs(this.#clock) - appliedTime);
    return { shard, appliedBlock, headBlock, lagSecs };
  }

  #etaSecs(): number | undefined {
    const { done, total } = this.#fids;
    const doneSince = done - this.#syncStart.done;
    if (doneSince <= 0) return undefined;
    const elapsedSecs = (this.#clock.nowMs() - this.#syncStart.atMs) / 1000;
    return (elapsedSecs / doneSince) * (total - done);
  }

  #rate(): number {
    const { atMs, messages, before, beforeMs } = this.#window;
    const elapsedMs = this.#clock.nowMs() - atMs + beforeMs;
    return elapsedMs > 0 ? ((this.#messages - messages + before) / elapsedMs) * 1000 : 0;
  }

  #roll(): void {
    const nowMs = this.#clock.nowMs();
    const elapsedMs = nowMs - this.#window.atMs;
    if (elapsedMs < RATE_WINDOW_MS) return;
    const isFirst = this.#window.atMs === 0;
    this.#window = {
      atMs: nowMs,
      before: isFirst ? 0 : this.#messages - this.#window.messages,
      beforeMs: isFirst ? 0 : elapsedMs,
      messages: this.#messages,
    };
  }

  #shard(shard: number): Shard {
    let known = this.#shards.get(shard);
    if (!known) {
      known = { appliedBlock: 0, headBlock: 0, appliedTime: undefined };
      this.#shards.set(shard, known);
    }
    return known;
  }
}
