import { setImmediate } from "node:timers";
import type { Shortage } from "./budget.ts";
import { roomFor, WAITING_REQUESTS } from "./budgets.ts";

type MaybePromise<T> = T | Promise<T>;

export interface FairOrderDeps<Task, Result> {
  /** Runs a task. Only the time it takes in this turn of the event loop counts. */
  readonly run: (task: Task) => MaybePromise<Result>;
  readonly clientOf: (task: Task) => string;
  /** Called before a task has to wait. Returns the bound that holding the waiting task would exceed. */
  readonly hold?: (task: Task, client: string) => Shortage | undefined;
  /** Returns the result of a task for which the queue has no room. Called in its client's turn, before the tasks that wait. */
  readonly refuse: (task: Task, shortage: Shortage) => Result;
  /** Monotonic clock, ms. Default: that of the process. */
  readonly nowMs?: () => number;
}

interface Waiting<Task, Result> {
  readonly task: Task;
  readonly done: PromiseWithResolvers<Result>;
  /** Why it will be refused in its turn; undefined if it will run. */
  readonly shortage: Shortage | undefined;
}

interface Client<Task, Result> {
  readonly queue: Waiting<Task, Result>[];
  /** Tasks to refuse. Each holds a connection, and the number of connections is bounded. */
  readonly refused: Waiting<Task, Result>[];
  /** Its virtual time, ms: what its tasks have taken, but at least that of the client served last when it arrived. */
  usedMs: number;
}

/** A thread that has worked this long without a pause is busy. */
const BUSY_MS = 2;
/** The shortest gap between two tasks that counts as a pause. */
const PAUSE_MS = 0.25;
/** How long tasks of several clients run before the event loop reads the sockets again. */
const SLICE_MS = 0.5;
/** How long tasks run if all are of one client: another client waits no longer than this. A turn costs as much as a cheap read. */
const TURN_MS = 4;
/** How much of the longest recent time after a promise still counts, per later task. */
const ASYNC_DECAY = 0.9;
/**
 * While all tasks of a busy thread are one client's, a task looks up its client on average once per half of this time. The moment is
 * random, so no rhythm can evade it.
 */
const LOOK_UP_MS = 1;
/** How often a busy thread checks whether the event loop turns. */
const TURN_CHECK_MS = 1;
/** How long a thread keeps the order after it had tasks of two clients. */
const MIXED_MS = 1_000;

/**
 * Orders the tasks of a thread. While the thread is not busy, or works for one client, each task runs when it arrives. Otherwise tasks
 * wait, and the next is always one of the client whose tasks have taken the least time, so a client that asks for much waits for itself.
 * Tasks are not interrupted, so other clients wait for at most one of its tasks.
 *
 * No response, not even a refusal, is sent in a turn of the event loop that has taken too long. Bun accepts connections until none is
 * left and calls the server for each at once, so clients that reconnect after each response would otherwise prevent the loop from ever
 * turning.
 */
export class FairOrder<Task, Result> {
  readonly #deps: FairOrderDeps<Task, Result>;
  readonly #nowMs: () => number;
  readonly #clients = new Map<string, Client<Task, Result>>();
  #waiting = 0;
  #refused = 0;
  #isScheduled = false;
  /** Since when the thread has worked without a pause, and until when. */
  #busySinceMs = 0;
  #workedUntilMs = 0;
  #lookUpAtMs = Number.NEGATIVE_INFINITY;
  #checkTurnAtMs = Number.NEGATIVE_INFINITY;
  #lastClient: string | undefined;
  #mixedUntilMs = Number.NEGATIVE_INFINITY;
  /** The virtual time of the client that was served last. */
  #usedMs = 0;
  /** The start of the first task in this turn of the event loop that took more than a moment; undefined if there was none. */
  #turnSinceMs: number | undefined;
  /** How long a task may work after it has returned a promise: the maximum of recent ones. */
  #asyncMs = SLICE_MS;
  /** Until when the work of this turn is charged. */
  #chargedUntilMs = 0;

  constructor(deps: FairOrderDeps<Task, Result>) {
    this.#deps = deps;
    this.#nowMs = deps.nowMs ?? (() => performance.now());
  }

  /** Runs a task now, or later in its turn. */
  run(task: Task): MaybePromise<Result> {
    const nowMs = this.#nowMs();
    const isPause = this.#turnSinceMs === undefined && nowMs - this.#workedUntilMs > PAUSE_MS;
    if (!this.#isBacklogged && isPause) this.#busySinceMs = nowMs;
    const isLate = this.#turnSinceMs !== undefined && nowMs - this.#turnSinceMs > TURN_MS;
    const isBusy = nowMs - this.#busySinceMs > BUSY_MS;
    if (this.#isBacklogged || isLate || (isBusy && this.#isMixed(task, nowMs))) return this.#wait(task);
    if (isBusy) this.#checkTurn(nowMs);
    const result = this.#deps.run(task);
    this.#noteWork(result, nowMs);
    return result;
  }

  get #isBacklogged(): boolean {
    return this.#waiting + this.#refused > 0;
  }

  /** Notes that a task has run. If it returned a promise, or sends much, its work continues before the next task of the same turn. */
  #noteWork(result: MaybePromise<Result>, startedMs: number): void {
    this.#workedUntilMs = this.#nowMs();
    if (this.#turnSinceMs !== undefined) return;
    if (!(result instanceof Promise) && this.#workedUntilMs - startedMs < PAUSE_MS) return;
    this.#beginTurn(startedMs);
  }

  /** Notes that the turn continues, so that cheap tasks count as late in it, too. */
  #checkTurn(nowMs: number): void {
    if (this.#turnSinceMs !== undefined || nowMs < this.#checkTurnAtMs) return;
    this.#checkTurnAtMs = nowMs + TURN_CHECK_MS;
    this.#beginTurn(nowMs);
  }

  #beginTurn(nowMs: number): void {
    this.#turnSinceMs = nowMs;
    setImmediate(() => {
      this.#turnSinceMs = undefined;
      this.#workedUntilMs = this.#nowMs();
    });
  }

  #isMixed(task: Task, nowMs: number): boolean {
    if (nowMs < this.#mixedUntilMs) return true;
    if (nowMs < this.#lookUpAtMs) return false;
    this.#lookUpAtMs = nowMs + Math.random() * LOOK_UP_MS;
    this.#noteClient(this.#deps.clientOf(task), nowMs);
    return nowMs < this.#mixedUntilMs;
  }

  #noteClient(name: string, nowMs: number): void {
    if (this.#lastClient !== undefined && name !== this.#lastClient) this.#mixedUntilMs = nowMs + MIXED_MS;
    this.#lastClient = name;
  }

  #wait(task: Task): MaybePromise<Result> {
    const name = this.#deps.clientOf(task);
    this.#noteClient(name, this.#nowMs());
    let client = this.#clients.get(name);
    const shortage = this.#shortageFor(client) ?? this.#deps.hold?.(task, name);
    if (client === undefined) {
      client = { queue: [], refused: [], usedMs: this.#usedMs };
      this.#clients.set(name, client);
    }
    const done = Promise.withResolvers<Result>();
    if (shortage === undefined) this.#waiting += 1;
    else this.#refused += 1;
    (shortage === undefined ? client.queue : client.refused).push({ task, done, shortage });
    this.#schedule();
    return done.promise;
  }

  #shortageFor(client: Client<Task, Result> | undefined): Shortage | undefined {
    const { perClient } = WAITING_REQUESTS;
    const own = client?.queue.length ?? 0;
    if (own >= perClient) return "client";
    return this.#waiting >= roomFor(own + 1, WAITING_REQUESTS) ? "total" : undefined;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#runSlice();
    });
  }

  #runSlice(): void {
    const startedMs = this.#nowMs();
    const limitMs = startedMs < this.#mixedUntilMs ? SLICE_MS : TURN_MS;
    let laterMs = 0;
    do if (this.#runNext()) laterMs += this.#asyncMs;
    while (this.#isBacklogged && this.#workedUntilMs - startedMs + laterMs < limitMs);
    if (this.#isBacklogged) this.#schedule();
  }

  /** @returns whether the task has work left for the end of this turn. */
  #runNext(): boolean {
    let next: readonly [string, Client<Task, Result>] | undefined;
    for (const each of this.#clients) if (next === undefined || each[1].usedMs < next[1].usedMs) next = each;
    const [name, client] = next ?? [];
    const waiting = client?.refused.shift() ?? client?.queue.shift();
    if (name === undefined || client === undefined || waiting === undefined) return false;
    if (client.queue.length + client.refused.length === 0) this.#clients.delete(name);
    const { task, shortage, done } = waiting;
    if (shortage === undefined) this.#waiting -= 1;
    else this.#refused -= 1;
    this.#usedMs = client.usedMs;
    const startedMs = this.#nowMs();
    let isAsync = false;
    try {
      const result = shortage === undefined ? this.#deps.run(task) : this.#deps.refuse(task, shortage);
      done.resolve(result);
      this.#noteWork(result, startedMs);
      isAsync = result instanceof Promise;
      if (result instanceof Promise) this.#chargeAfter(result, client);
    } catch (error) {
      done.reject(error);
    }
    client.usedMs += this.#nowMs() - startedMs;
    return isAsync;
  }

  /** Charges a client for the work that follows its task in the same turn. That work begins when the work of earlier tasks has ended. */
  #chargeAfter(result: Promise<Result>, client: Client<Task, Result>): void {
    const turn = this.#turnSinceMs;
    const startedMs = this.#nowMs();
    const charge = () => {
      if (this.#turnSinceMs !== turn) return;
      const nowMs = this.#nowMs();
      const tookMs = nowMs - Math.max(startedMs, this.#chargedUntilMs);
      this.#chargedUntilMs = nowMs;
      client.usedMs += tookMs;
      this.#asyncMs = Math.max(tookMs, this.#asyncMs * ASYNC_DECAY);
    };
    result.then(charge, charge);
  }
}
