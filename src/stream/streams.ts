import type { IndexDatabase } from "../db/index/database.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { ScoreSource } from "../read/hydrate/users.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { BannedAmong } from "../webhooks/match/exclusions.ts";
import type { MatchClient } from "../webhooks/match/rpc.ts";
import { kindsOf, type Subscription } from "../webhooks/subscription.ts";
import {
  type ConnectionTimings,
  createStreamEnd,
  type EndReason,
  StreamConnection,
  type StreamEnd,
} from "./connection.ts";
import { createEventFrames, gapFrame, helloFrame } from "./frame.ts";
import { createLiveTail, type TailLimits } from "./live-tail.ts";
import {
  type LogEnds,
  logEnds,
  type ResolvedStart,
  resolveStart,
  type StreamPosition,
  type StreamStart,
} from "./position.ts";
import { createReplays } from "./replays.ts";
import { costOf, type SlotAnswer, type SlotRefusal, type SubscriptionCost, type Transport } from "./slots.ts";

export const DEFAULT_TIMINGS: ConnectionTimings = { keepAliveMs: 15_000, stallMs: 30_000 };
const TICK_MS = 1000;

/** The slots of the main thread, as called by other threads. */
export interface StreamSlotsClient {
  take(request: {
    readonly address: string;
    readonly transport: Transport;
    readonly cost: SubscriptionCost;
  }): Promise<SlotAnswer>;
  change(slot: number, cost: SubscriptionCost): Promise<SlotRefusal | undefined>;
  release(slot: number): Promise<void>;
}

export interface StreamsDeps {
  readonly db: IndexDatabase;
  readonly clock: Clock;
  /** Two clients of the matching thread that no other part uses. */
  readonly matching: { readonly live: MatchClient; readonly replays: MatchClient };
  /** Returns the accounts that subscriptions with `exclude.bans` leave out. */
  readonly bannedAmong: BannedAmong;
  /** Set if `minimum_author_score` has an effect. */
  readonly scores?: ScoreSource | undefined;
  /** Resolves once the log has an event after a number, however long that takes. */
  readonly awaitEvents: (afterSeq: number) => Promise<void>;
  readonly slots: StreamSlotsClient;
  /** How long an event stays in the log after it was applied, in seconds. */
  readonly retentionSecs: number;
  readonly onFault: (cause: unknown) => void;
  /** Called for an event that is skipped. */
  readonly onSkipped: (seq: number, cause: unknown) => void;
  readonly timings?: ConnectionTimings;
  readonly tickMs?: number;
  readonly tailLimits?: Partial<TailLimits>;
  /** Returns monotonic time in milliseconds. */
  readonly nowMs?: () => number;
}

export interface StreamRequest {
  /** The key by which limits of clients count. */
  readonly address: string;
  readonly transport: Transport;
  /** The owner of the request's API key; undefined without one. */
  readonly ownerFid: number | undefined;
  /** Undefined if the client sends it later. */
  readonly subscription: Subscription | undefined;
  readonly start: StreamStart;
}

/** Why a stream cannot be opened. */
export type StreamRefusal =
  | { readonly kind: "slots"; readonly limit: SlotRefusal }
  | { readonly kind: "gone"; readonly oldest: StreamPosition }
  /** The cursor is at or after the end of the stream. */
  | { readonly kind: "complete" }
  /** The node is stopping, or has not opened its log yet. */
  | { readonly kind: "unavailable"; readonly reason: string };

export interface StreamStats {
  readonly connections: Readonly<Record<Transport, number>>;
  readonly frames: Readonly<Record<Transport, number>>;
  /** By reason. */
  readonly ended: Readonly<Record<EndReason, number>>;
  readonly refused: number;
  /** Number of events that the stream furthest behind still has to read. */
  readonly maxLagEvents: number;
  readonly replays: number;
}

/** An open stream, with the means to change its subscription. */
export interface OpenStream {
  readonly connection: StreamConnection;
  /** Replaces the subscription, or sets the first one. */
  subscribe(subscription: Subscription): Promise<Result<void, SlotRefusal>>;
}

/** The streams of one thread. */
export type Streams = ReturnType<typeof createStreams>;

const STOPPING = "the node is shutting down";
const STARTING = "the node is starting";

export function createStreams(deps: StreamsDeps) {
  const { db, clock, matching, slots, onFault, nowMs = () => performance.now() } = deps;
  const frames = createEventFrames({ db, clock, onFault: deps.onSkipped });
  const page = { db, scores: deps.scores, onUnreadable: deps.onSkipped };
  const { bannedAmong } = deps;
  const ends = (): LogEnds => {
    const found = logEnds(db);
    if (!found) throw new Error("the log of events has no id");
    return found;
  };
  const tail = createLiveTail(
    {
      ...page,
      matching: matching.live,
      bannedAmong,
      frames,
      awaitEvents: deps.awaitEvents,
      onFault,
      ...(deps.tailLimits ? { limits: deps.tailLimits } : {}),
    },
    () => ends().head,
  );
  const replays = createReplays({ ...page, matching: matching.replays, bannedAmong, frames });
  const open = new Map<StreamConnection, number>();
  const ended: Record<EndReason, number> = {
    client: 0,
    complete: 0,
    slow_consumer: 0,
    cursor_too_old: 0,
    expression_budget: 0,
    invalid_subscription: 0,
    key_ended: 0,
    shutdown: 0,
    internal_error: 0,
  };
  const endedFrames: Record<Transport, number> = { sse: 0, websocket: 0 };
  let refused = 0;
  let nextId = 1;
  let isClosed = false;
  let ticking: Timer | undefined;

  function remove(connection: StreamConnection): void {
    const slot = open.get(connection);
    open.delete(connection);
    ended[connection.endReason ?? "internal_error"] += 1;
    endedFrames[connection.transport] += connection.sentFrames;
    if (slot !== undefined) slots.release(slot).catch(onFault);
    if (open.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  }

  function tick(): void {
    for (const connection of [...open.keys()]) connection.tick();
  }

  function start(
    request: StreamRequest,
    answer: { slot: number; lagSecs: number },
    { begin, end }: { readonly begin: ResolvedStart; readonly end: StreamEnd | undefined },
  ) {
    const { slot, lagSecs } = answer;
    const position = begin.position ?? tail.startLive(ends().head);
    const connection = new StreamConnection(
      {
        id: `${nextId++}`,
        ownerId: `address:${request.address}`,
        bansOf: request.ownerFid,
        transport: request.transport,
        tail,
        replays,
        timings: deps.timings ?? DEFAULT_TIMINGS,
        end,
        nowMs,
        onEnd: remove,
      },
      position,
      begin.seenBlocks,
    );
    open.set(connection, slot);
    ticking ??= setInterval(tick, deps.tickMs ?? TICK_MS);
    let gap = begin.gap;
    const subscribe = (subscription: Subscription) =>
      connection.subscribe(subscription, (at) => {
        const hello = helloFrame(at, {
          oldest: begin.oldest,
          kinds: kindsOf(subscription),
          resumed: begin.position !== undefined && begin.gap === undefined,
          lagSecs,
        });
        const first = gap ? [hello, gapFrame(gap.from, gap.to)] : [hello];
        gap = undefined;
        return first;
      });
    if (request.subscription) subscribe(request.subscription);
    return ok({
      connection,
      async subscribe(subscription: Subscription): Promise<Result<void, SlotRefusal>> {
        const limit = await slots.change(slot, costOf(subscription));
        if (limit) return err(limit);
        subscribe(subscription);
        return ok(undefined);
      },
    });
  }

  return {
    async open(request: StreamRequest): Promise<Result<OpenStream, StreamRefusal>> {
      if (isClosed) return err({ kind: "unavailable", reason: STOPPING });
      const found = logEnds(db);
      if (!found) return err({ kind: "unavailable", reason: STARTING });
      const retainedFrom = nowSecs(clock) - deps.retentionSecs;
      const begin = resolveStart(db, found, request.start, retainedFrom);
      if (!begin.ok) return err({ kind: "gone", oldest: begin.error.oldest });
      const { untilSecs, from } = request.start;
      const end = untilSecs === undefined ? undefined : createStreamEnd(db, clock, untilSecs);
      const last = end?.state();
      if (from.kind === "cursor" && typeof last === "number" && (begin.value.position?.seq ?? 0) >= last)
        return err({ kind: "complete" });
      const { address, transport, subscription } = request;
      const answer = await slots.take({ address, transport, cost: costOf(subscription ?? {}) });
      if ("refused" in answer) {
        refused += 1;
        return err({ kind: "slots", limit: answer.refused });
      }
      try {
        if (!isClosed) return start(request, answer, { begin: begin.value, end });
      } catch (cause) {
        slots.release(answer.slot).catch(onFault);
        throw cause;
      }
      slots.release(answer.slot).catch(onFault);
      return err({ kind: "unavailable", reason: STOPPING });
    },

    stats(): StreamStats {
      const all = [...open.keys()];
      const of = (transport: Transport) => all.filter((one) => one.transport === transport);
      const framesOf = (transport: Transport) =>
        of(transport).reduce((sum, { sentFrames }) => sum + sentFrames, endedFrames[transport]);
      const behind = all.filter(({ isWaiting }) => !isWaiting);
      return {
        connections: { sse: of("sse").length, websocket: of("websocket").length },
        frames: { sse: framesOf("sse"), websocket: framesOf("websocket") },
        ended: { ...ended },
        refused,
        maxLagEvents: behind.reduce((most, { position }) => Math.max(most, tail.end.seq - position.seq), 0),
        replays: replays.waiting,
      };
    },

    /** Accepts no more streams, and ends the open ones, spread over `ms`. */
    drain(ms: number): void {
      isClosed = true;
      const connections = [...open.keys()];
      for (const [at, connection] of connections.entries())
        setTimeout(() => connection.end("shutdown"), (ms * at) / connections.length);
    },

    /** Ends all streams. */
    stop(): void {
      isClosed = true;
      for (const connection of [...open.keys()]) connection.end("shutdown");
      tail.stop();
    },
  };
}
