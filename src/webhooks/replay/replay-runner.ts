import { createFaultLog } from "../../db/state/unavailable.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { nowSecs, type SetTimer } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { InTurn } from "../preview/previews.ts";
import type { ScanDeps } from "../preview/scan.ts";
import { messageIdOf } from "../store/queue-events.ts";
import type { Webhook, WebhookStore } from "../store/webhook-store.ts";
import type { EventWindow } from "./match-window.ts";
import type { ReplayScope } from "./replay-scope.ts";
import type { ReplayStep, ReplayStore } from "./replay-store.ts";
import type { Replay } from "./replay-table.ts";

/** Each step of a replay queues at most what the rate allows in this time. */
const STEP_MS = 1_000;
/** How often to look for replays that another process has left behind. */
const POLL_MS = 30_000;
/** How many events a step examines, so that deliveries get their turn. */
const EVENTS_PER_STEP = 2_000;
/** The longest time for making a plan. */
const PLAN_MS = 2_000;
/** A plan counts at most this many deliveries per state. */
export const MAX_COUNTED = 100_000;

export interface ReplayPlanRequest extends EventWindow {
  readonly webhookId: string;
  readonly scope: ReplayScope;
}

/** The deliveries that a replay would send. */
export interface ReplayPlan {
  readonly matched: number;
  readonly alreadyDelivered: number;
  readonly toSend: number;
  /** Whether there may be more, because the time for the plan was up. */
  readonly isPartial: boolean;
}

/** Runs the replays of this process. */
export type ReplayRunner = ReturnType<typeof startReplays>;

export interface ReplayRunnerDeps extends ScanDeps {
  readonly inTurn: InTurn;
  readonly store: ReplayStore;
  readonly webhooks: Pick<WebhookStore, "find">;
  /** Called with a webhook that has new queued deliveries. */
  readonly onQueued: (webhookId: string) => void;
  readonly setTimer: SetTimer;
  /** Bounds the time of a plan. Default: the monotonic clock of the process. */
  readonly monotonicMs?: () => number;
  readonly log: Logger;
}

/**
 * Starts running replays. Each has a lease in the state; if its process dies, another process continues it. Deliveries stay queued, and
 * events that the webhook already has are left out, so a replay that starts again sends nothing twice.
 */
export function startReplays(deps: ReplayRunnerDeps) {
  const { store, inTurn, clock, onQueued, monotonicMs = () => performance.now() } = deps;
  const logFault = createFaultLog({ log: deps.log, clock });
  /** How far the events of each replay are matched, by replay id. */
  const reached = new Map<string, number>();
  let isStopped = false;
  let cancelTimer: (() => void) | undefined;
  let running: Promise<void> | undefined;
  let isWoken = false;

  function schedule(ms: number): void {
    cancelTimer?.();
    if (!isStopped) cancelTimer = deps.setTimer(ms, run);
  }

  function run(): void {
    isWoken = false;
    running ??= stepAll()
      .catch((cause: unknown) => {
        logFault(cause, {}, "The replays of deliveries could not continue");
        return 0;
      })
      .then((open) => {
        running = undefined;
        schedule(open > 0 || isWoken ? STEP_MS : POLL_MS);
      });
  }

  /** Runs one step of each replay. Returns how many replays run here. */
  async function stepAll(): Promise<number> {
    const replays = await store.claim(nowSecs(clock));
    for (const id of reached.keys()) if (!replays.some(({ replayId }) => replayId === id)) reached.delete(id);
    for (const replay of replays) {
      if (isStopped) break;
      await step(replay);
    }
    return replays.length;
  }

  async function match(window: EventWindow, after: number | undefined) {
    // The first replay loads the schema of subscriptions, which no delivery needs.
    const { matchWindow } = await import("./match-window.ts");
    return inTurn(() => matchWindow(deps, window, after));
  }

  async function step(replay: Replay): Promise<void> {
    const { replayId, webhookId } = replay;
    const count = (done: ReplayStep) => {
      if (typeof done !== "string" && done.queued > 0) onQueued(webhookId);
      return done;
    };
    if (replay.lastCreatedAt !== null) {
      const done = count(await store.requeueNext(replayId, clock.nowMs()));
      if (typeof done === "string" || done.more || done.queued > 0) return;
    }
    if (replay.scope === "failed") return store.end(replayId, null, nowSecs(clock));
    const webhook = await deps.webhooks.find(webhookId, nowSecs(clock));
    // The next claim of the replay notices that the webhook was deleted.
    const window = windowOf(replay, webhook);
    for (let scanned = 0; scanned < EVENTS_PER_STEP && !isStopped; ) {
      const slice = await match(window, reached.get(replayId));
      if (!slice.ok) return store.end(replayId, slice.error, nowSecs(clock));
      const { events, after } = slice.value;
      // Called even without events, so that the replay ends if its webhook is deleted.
      const done = count(await store.queueMissing(replayId, events, clock.nowMs()));
      if (typeof done === "string" || done.more) return;
      if (after === undefined) return store.end(replayId, null, nowSecs(clock));
      reached.set(replayId, after);
      if (done.queued > 0) return;
      scanned += slice.value.scanned;
    }
  }

  schedule(STEP_MS);
  return {
    /** Counts what a replay would send. The error is the reason why the matcher stopped. */
    async plan({ webhookId, scope, ...window }: ReplayPlanRequest): Promise<Result<ReplayPlan, string>> {
      const range = { fromSecs: window.fromAt, toSecs: window.toAt };
      const claim = { id: webhookId, ownerFid: window.ownerFid, nowSecs: nowSecs(clock) };
      const counts = await store.count(claim, range, MAX_COUNTED);
      const { failed = 0, dropped = 0, delivered = 0, queued = 0 } = counts;
      const ended = failed + dropped;
      if (scope === "failed")
        return ok({ matched: ended, alreadyDelivered: 0, toSend: ended, isPartial: ended >= MAX_COUNTED });
      const never = await countMissing(webhookId, window);
      if (!never.ok) return never;
      return ok({
        matched: ended + delivered + queued + never.value.count,
        alreadyDelivered: delivered,
        toSend: ended + never.value.count + (scope === "all" ? delivered : 0),
        isPartial: never.value.isPartial,
      });
    },

    /** Announces that a replay was started. */
    wake(): void {
      isWoken = true;
      if (!running) schedule(1);
    },

    async stop(): Promise<void> {
      isStopped = true;
      cancelTimer?.();
      await running;
    },
  };

  /** Counts the events of a time range that a webhook never received. */
  async function countMissing(
    webhookId: string,
    window: EventWindow,
  ): Promise<Result<{ readonly count: number; readonly isPartial: boolean }, string>> {
    const startMs = monotonicMs();
    let count = 0;
    let after: number | undefined;
    do {
      const slice = await match(window, after);
      if (!slice.ok) return err(slice.error);
      const ids = slice.value.events.map(({ eventId }) => messageIdOf(eventId, webhookId));
      const stored = await store.stored(ids);
      count += ids.filter((id) => !stored.has(id)).length;
      after = slice.value.after;
    } while (after !== undefined && monotonicMs() - startMs < PLAN_MS);
    return ok({ count, isPartial: after !== undefined });
  }
}

function windowOf({ ownerFid, fromAt, toAt }: Replay, webhook: Webhook | undefined): EventWindow {
  return { ownerFid, fromAt, toAt, subscription: webhook?.subscription ?? {} };
}
