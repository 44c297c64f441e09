import { setImmediate } from "node:timers";
import type { Shortage } from "./budget.ts";
import { WAITING_REQUESTS } from "./budgets.ts";

type MaybePromise<T> = T | Promise<T>;

export interface FairOrderDeps<Task, Result> {
  /** Does a task. What it does before it returns is what counts. */
  readonly run: (task: Task) => MaybePromise<Result>;
  readonly clientOf: (task: Task) => string;
  /** Called before a task has to wait. Returns the bound that has no room for what it holds meanwhile. */
  readonly hold?: (task: Task, client: string) => Shortage | undefined;
  /** The result of a task for which the queue has no room. */
  readonly refuse: (task: Task, shortage: Shortage) => Result;
  /** Monotonic, ms. Default: the clock of the process. */
  readonly nowMs?: () => number;
}

interface Waiting<Task, Result> {
  readonly task: Task;
  readonly done: PromiseWithResolvers<Result>;
}

interface Client<Task, Result> {
  readonly queue: Waiting<Task, Result>[];
  /** Its virtual time, ms: what its tasks have taken, and at least as much as of those that were served before it came. */
  usedMs: number;
}

/** A thread that has worked for so long without a pause is busy. */
const BUSY_MS = 2;
/** A pause between two tasks. */
const PAUSE_MS = 0.25;
/** So long tasks run before the event loop reads the sockets again. */
const SLICE_MS = 0.5;
/** While all tasks of a busy thread are one client's, a task looks up its own once in half of this time; at random, so that no rhythm escapes. */
const LOOK_UP_MS = 1;
/** So long after it had tasks of two clients the thread keeps an order. */
const MIXED_MS = 1_000;

/**
 * The order of the tasks of a thread. While the thread is not busy, or works for one client, each runs when it comes. Otherwise they wait, and
 * the next is always one of the client whose tasks have taken the least time: a client that asks for much waits for itself. A task is not
 * interrupted, so others wait for at most one of its tasks.
 */
export class FairOrder<Task, Result> {
  readonly #deps: FairOrderDeps<Task, Result>;
  readonly #nowMs: () => number;
  readonly #clients = new Map<string, Client<Task, Result>>();
  #waiting = 0;
  #isScheduled = false;
  /** Since when the thread works without a pause, and until when it has worked. */
  #busySinceMs = 0;
  #workedUntilMs = 0;
  #lookUpAtMs = Number.NEGATIVE_INFINITY;
  #lastClient: string | undefined;
  #mixedUntilMs = Number.NEGATIVE_INFINITY;
  /** The virtual time of the client that was served last. */
  #usedMs = 0;

  constructor(deps: FairOrderDeps<Task, Result>) {
    this.#deps = deps;
    this.#nowMs = deps.nowMs ?? (() => performance.now());
  }

  /** Runs a task now or in its turn. */
  run(task: Task): MaybePromise<Result> {
    const nowMs = this.#nowMs();
    if (this.#waiting === 0 && nowMs - this.#workedUntilMs > PAUSE_MS) this.#busySinceMs = nowMs;
    if (this.#waiting > 0 || (nowMs - this.#busySinceMs > BUSY_MS && this.#isMixed(task, nowMs)))
      return this.#wait(task);
    const result = this.#deps.run(task);
    this.#workedUntilMs = this.#nowMs();
    return result;
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
    if (shortage !== undefined) return this.#deps.refuse(task, shortage);
    if (client === undefined) {
      client = { queue: [], usedMs: this.#usedMs };
      this.#clients.set(name, client);
    }
    const done = Promise.withResolvers<Result>();
    client.queue.push({ task, done });
    this.#waiting += 1;
    this.#schedule();
    return done.promise;
  }

  #shortageFor(client: Client<Task, Result> | undefined): Shortage | undefined {
    const { total, perClient } = WAITING_REQUESTS;
    if ((client?.queue.length ?? 0) >= perClient) return "client";
    return this.#waiting >= total ? "total" : undefined;
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
    let nowMs = startedMs;
    while (this.#waiting > 0 && nowMs - startedMs < SLICE_MS) nowMs = this.#runNext(nowMs);
    this.#workedUntilMs = nowMs;
    if (this.#waiting > 0) this.#schedule();
  }

  /** @returns the time after the task. */
  #runNext(startedMs: number): number {
    let next: readonly [string, Client<Task, Result>] | undefined;
    for (const each of this.#clients) if (next === undefined || each[1].usedMs < next[1].usedMs) next = each;
    if (next === undefined) return startedMs;
    const [name, client] = next;
    const waiting = client.queue.shift();
    if (client.queue.length === 0) this.#clients.delete(name);
    if (waiting === undefined) return startedMs;
    this.#waiting -= 1;
    this.#usedMs = client.usedMs;
    try {
      waiting.done.resolve(this.#deps.run(waiting.task));
    } catch (error) {
      waiting.done.reject(error);
    }
    const endedMs = this.#nowMs();
    client.usedMs += endedMs - startedMs;
    return endedMs;
  }
}
