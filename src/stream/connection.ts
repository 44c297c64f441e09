import type { IndexDatabase } from "../db/index/database.ts";
import { eventRange, firstEventFrom } from "../db/index/log/outbox.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { type Excluder, excluderOf } from "../webhooks/match/exclusions.ts";
import type { Subscription } from "../webhooks/subscription.ts";
import { endFrame, errorFrame, type Frame, KeepAliveFrame } from "./frame.ts";
import type { LiveTail } from "./live-tail.ts";
import { cursorOf, type ShardBlocks, type StreamPosition } from "./position.ts";
import type { ReplayedPage, ReplayReader, Replays } from "./replays.ts";
import type { Transport } from "./slots.ts";

/** Why a stream has ended. */
export type EndReason =
  | "client"
  | "complete"
  | "slow_consumer"
  | "cursor_too_old"
  | "expression_budget"
  | "invalid_subscription"
  | "key_ended"
  | "shutdown"
  | "internal_error";

export interface ConnectionTimings {
  /** Time without frames, in milliseconds, after which a frame without an event is sent. */
  readonly keepAliveMs: number;
  /** How long, in milliseconds, a client may leave bytes waiting. */
  readonly stallMs: number;
}

export interface ConnectionDeps {
  readonly id: string;
  /** The client's address, to whose budget matching is charged. */
  readonly ownerId: string;
  /** The owner of its API key, whose bans it may exclude. */
  readonly bansOf: number | undefined;
  readonly transport: Transport;
  readonly tail: LiveTail;
  readonly replays: Replays;
  readonly timings: ConnectionTimings;
  /** Where the stream ends; undefined for a stream without an end. */
  readonly end: StreamEnd | undefined;
  readonly nowMs: () => number;
  /** Called once. */
  readonly onEnd: (connection: StreamConnection) => void;
}

/**
 * A stream, which is a position in the log rather than a queue. Its transport takes frames when the socket has room; nothing
 * is read or encoded for it before that.
 */
export class StreamConnection implements ReplayReader {
  readonly id: string;
  readonly ownerId: string;
  readonly transport: Transport;
  subscription: Subscription = {};
  excluder: Excluder | undefined;
  position: StreamPosition;
  joinedSeq = Number.POSITIVE_INFINITY;
  readonly seenBlocks: ShardBlocks;
  lastSeq = Number.POSITIVE_INFINITY;
  isWaiting = false;
  replay: ReplayedPage | undefined;
  /** Called if the stream ends while the transport is sending frames. The remaining frames follow with `next`. */
  onEndWhileSending: (() => void) | undefined;
  readonly #deps: ConnectionDeps;
  /** Frames that precede those of the log. */
  #first: Frame[] = [];
  #endReason: EndReason | undefined;
  #wake: (() => void) | undefined;
  #lastFrameAtMs: number;
  /** When the transport took the frames that it has not sent yet. */
  #takenAtMs: number | undefined;
  #sentFrames = 0;

  constructor(deps: ConnectionDeps, position: StreamPosition, seenBlocks: ShardBlocks) {
    this.#deps = deps;
    this.seenBlocks = seenBlocks;
    this.id = deps.id;
    this.ownerId = deps.ownerId;
    this.transport = deps.transport;
    this.position = position;
    this.#lastFrameAtMs = deps.nowMs();
  }

  get hasEnded(): boolean {
    return this.#endReason !== undefined;
  }

  get endReason(): EndReason | undefined {
    return this.#endReason;
  }

  get sentFrames(): number {
    return this.#sentFrames;
  }

  /** Starts the stream, or changes its subscription. `frames` are sent next. */
  subscribe(subscription: Subscription, frames: (position: StreamPosition) => readonly Frame[]): void {
    if (this.hasEnded) return;
    this.#stopWaiting();
    this.subscription = subscription;
    this.excluder = excluderOf(subscription, this.#deps.bansOf);
    this.replay = undefined;
    this.#first.push(...frames(this.position));
    this.#deps.tail.join(this);
    this.wake();
  }

  /**
   * Takes the next frames, about `maxSize` at most. Waits for one, at most until the client needs a sign of life. Once the
   * stream has ended, returns the reason, then nothing. The transport calls this again when it has sent the frames.
   */
  async next(maxSize: number): Promise<readonly Frame[]> {
    this.#takenAtMs = undefined;
    for (;;) {
      if (this.#first.length > 0) return this.#hand(this.#first.splice(0));
      if (this.hasEnded) return [];
      const { tail, replays, end } = this.#deps;
      const last = end?.state();
      if (last === "closing") {
        await this.#wait(false);
        continue;
      }
      if (typeof last === "number") this.lastSeq = last;
      // A stream has nothing to read until its subscription is known.
      const isJoined = this.joinedSeq !== Number.POSITIVE_INFINITY;
      if (end && isJoined && this.position.seq >= this.lastSeq) {
        this.#complete(end);
        continue;
      }
      if (isJoined && (!tail.covers(this) || tail.end.seq > this.lastSeq)) {
        const taken = await replays.take(this, maxSize);
        if (taken === "overtaken") this.#endTooOld();
        else if (taken.length > 0 && !this.hasEnded) return this.#hand(taken);
        else if (this.#isSilent()) this.#first.push(new KeepAliveFrame(this.position));
        continue;
      }
      const taken = isJoined ? tail.take(this, maxSize) : [];
      if (taken.length > 0) return this.#hand(taken);
      if (this.position.seq < this.lastSeq) await this.#wait(isJoined);
    }
  }

  /** Sends the client a keep-alive frame, or ends the stream, when due. Called about once a second. */
  tick(): void {
    const nowMs = this.#deps.nowMs();
    if (this.#takenAtMs !== undefined && nowMs - this.#takenAtMs >= this.#deps.timings.stallMs) {
      this.end("slow_consumer", "the client took no byte for too long");
      return;
    }
    if (this.#deps.end && this.#deps.end.state() !== "open") {
      this.#stopWaiting();
      this.wake();
    }
    if (!this.isWaiting || !this.#isSilent()) return;
    this.#stopWaiting();
    this.#first.push(new KeepAliveFrame(this.position));
    this.wake();
  }

  /** Restarts the stall timer, because the client is not the reason why frames wait. */
  restartStallTime(): void {
    if (this.#takenAtMs !== undefined) this.#takenAtMs = this.#deps.nowMs();
  }

  /** Ends the stream. With a message, a last frame gives the reason, and the cursor at which to resume. */
  end(reason: EndReason, message?: string): void {
    if (this.hasEnded) return;
    this.#stopWaiting();
    this.#endReason = reason;
    this.#first = message === undefined ? [] : [errorFrame(reason, message, cursorOf(this.position))];
    this.#deps.tail.leave(this);
    this.#deps.onEnd(this);
    if (this.#wake) this.wake();
    else if (this.#takenAtMs !== undefined) this.onEndWhileSending?.();
  }

  refuse(reason: string): void {
    this.end("expression_budget", reason);
  }

  wake(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #complete({ untilSecs }: StreamEnd): void {
    const last = endFrame(this.position, untilSecs);
    this.end("complete");
    this.#first = [last];
  }

  #endTooOld(): void {
    this.end("cursor_too_old", "the events behind the position of this stream are gone");
  }

  #hand(frames: readonly Frame[]): readonly Frame[] {
    this.#lastFrameAtMs = this.#takenAtMs = this.#deps.nowMs();
    this.#sentFrames += frames.length;
    return frames;
  }

  #isSilent(): boolean {
    return this.#deps.nowMs() - this.#lastFrameAtMs >= this.#deps.timings.keepAliveMs;
  }

  #wait(isJoined: boolean): Promise<void> {
    this.isWaiting = isJoined;
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** A waiting stream has seen everything up to the end of the tail. */
  #stopWaiting(): void {
    if (!this.isWaiting) return;
    this.isWaiting = false;
    const { end } = this.#deps.tail;
    if (end.seq > this.position.seq) this.position = end;
  }
}

/** How long after a second has passed its last events may still be on their way into the log. */
const LATE_SECS = 2;

export type StreamEnd = ReturnType<typeof createStreamEnd>;

export function createStreamEnd(db: IndexDatabase, clock: Clock, untilSecs: number) {
  let lastSeq: number | undefined;
  return {
    /** Events applied at this time or later are not part of the stream, in Unix seconds. */
    untilSecs,
    /**
     * Returns the number of the last event before the end. `open`: the time has not been reached; `closing`: it has, but
     * earlier events may still follow.
     */
    state(): "open" | "closing" | number {
      if (lastSeq !== undefined) return lastSeq;
      const now = nowSecs(clock);
      if (now < untilSecs) return "open";
      if (now < untilSecs + LATE_SECS) return "closing";
      lastSeq = db.snapshot(() => (firstEventFrom(db, untilSecs) ?? eventRange(db).headSeq + 1) - 1);
      return lastSeq;
    },
  };
}
