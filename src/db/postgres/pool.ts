import type { LockClass } from "../state/state-db.ts";
import { StateUnavailable } from "../state/unavailable.ts";
import type { Breaker } from "./breaker.ts";
import type { PgDriver, PgRunner } from "./driver.ts";
import { faultOf, isReadOnlyServer, isStatementTimeout, type PgFault } from "./faults.ts";
import { lockKey, takeLock, takeSharedLock } from "./locks.ts";
import type { PgStats } from "./pool-stats.ts";
import type { PgStatement, PgValue } from "./statement.ts";

/** Runs statements on one connection. bigint columns arrive as numbers, bytea as Uint8Array, booleans as boolean. */
export interface PgQueries {
  all<Row, P extends readonly PgValue[]>(statement: PgStatement<Row, P>, ...params: P): Promise<Row[]>;
  get<Row, P extends readonly PgValue[]>(
    statement: PgStatement<Row, P>,
    ...params: P
  ): Promise<Row | undefined>;
  /** Returns the number of affected rows. */
  run<P extends readonly PgValue[]>(statement: PgStatement<unknown, P>, ...params: P): Promise<number>;
}

/** A READ COMMITTED transaction: each statement sees what was committed before it started. */
export interface PgTransaction extends PgQueries {
  /**
   * Takes an advisory lock until the end of the transaction, ahead of the reads that it guards.
   *
   * @param name omitted if the class is a single lock.
   */
  lock(lockClass: LockClass, name?: string): Promise<void>;
  lockShared(lockClass: LockClass, name?: string): Promise<void>;
}

/**
 * Connections with one durability. A call that the database fails is repeated according to the class of its fault, within a
 * deadline. If it fails with `StateUnavailable` in the end, the decision may or may not have been committed.
 */
export interface PgPool extends PgQueries, AsyncDisposable {
  /**
   * Runs one decision in one transaction. The body may run more than once, even after a run that was committed but whose
   * response was lost: a decision recognises its earlier run by its own id.
   */
  transaction<T>(body: (tx: PgTransaction) => Promise<T>): Promise<T>;
}

export interface PgPoolDeps {
  openDriver(): PgDriver;
  /** Number of connections of the driver. */
  readonly connections: number;
  /** How long a caller waits at most, including all repetitions. */
  readonly deadlineMs: number;
  readonly breaker: Breaker;
  readonly stats: PgStats;
}

const MAX_WAITING = 4_096;
const MAX_UNDONE_TRIES = 3;
/** Pause after a try that was undone. */
const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 50;
/** Pause after a try that was not sent; doubled each time. */
const MAX_CONNECT_PAUSE_MS = 400;

/** A driver and its calls. It is replaced when it does not respond, because its promises are not trusted to settle. */
interface Generation {
  readonly driver: PgDriver;
  inUse: number;
}

interface Waiter {
  readonly untilMs: number;
  start(): void;
  reject(cause: unknown): void;
}

/** Opens a pool. It connects with its first call. */
export function openPgPool({ openDriver, connections, deadlineMs, breaker, stats }: PgPoolDeps): PgPool {
  let current: Generation = { driver: openDriver(), inUse: 0 };
  let waiters: Waiter[] = [];
  let closed = false;

  /** Starts waiting calls while there are free connections. */
  function startWaiters(): void {
    while (current.inUse < connections) {
      const next = waiters.shift();
      if (!next) return;
      next.start();
    }
  }

  function replace(generation: Generation): void {
    if (generation !== current || closed) return;
    stats.countReplaced();
    // Its calls may never settle.
    stats.addInUse(-generation.inUse);
    current = { driver: openDriver(), inUse: 0 };
    generation.driver.close();
    startWaiters();
  }

  breaker.onTrip(() => {
    const refused = waiters;
    waiters = [];
    for (const { reject } of refused) reject(notSent("PostgreSQL does not respond"));
    replace(current);
  });

  /** Waits for a free connection. */
  function slot(untilMs: number): Promise<Generation> {
    return new Promise((resolve, reject) => {
      const start = () => {
        current.inUse += 1;
        stats.addInUse(1);
        resolve(current);
      };
      if (current.inUse < connections) return start();
      if (waiters.length >= MAX_WAITING) return reject(notSent("too many calls wait for PostgreSQL"));
      const timer = setTimeout(() => {
        waiters = waiters.filter((waiting) => waiting !== waiter);
        waiter.reject(notSent("no connection to PostgreSQL became free in time"));
      }, untilMs - performance.now());
      const settled =
        <A extends unknown[]>(then: (...args: A) => void) =>
        (...args: A) => {
          clearTimeout(timer);
          stats.addWaiting(-1);
          then(...args);
        };
      const waiter: Waiter = { untilMs, start: settled(start), reject: settled(reject) };
      waiters.push(waiter);
      stats.addWaiting(1);
    });
  }

  /** Runs one try. Rejects at `untilMs`. Replaces a driver that has not responded within the whole deadline. */
  async function attempt<T>(work: (driver: PgDriver) => Promise<T>, untilMs: number): Promise<T> {
    const generation = await slot(untilMs);
    const startedMs = performance.now();
    return new Promise<T>((resolve, reject) => {
      let watchdog: ReturnType<typeof setTimeout> | undefined;
      let isLate = false;
      const deadline = setTimeout(
        () => {
          isLate = true;
          reject(new NoResponse());
          const absent = () => {
            breaker.trip(NO_ANSWER);
            replace(generation);
          };
          // A try that waited for a connection has not had its full time yet: that is load, not an outage.
          const leftMs = startedMs + deadlineMs - performance.now();
          if (leftMs <= 1) absent();
          else watchdog = setTimeout(absent, leftMs);
        },
        Math.max(untilMs - startedMs, 0),
      );
      const settled =
        <A>(then: (outcome: A) => void) =>
        (outcome: A) => {
          clearTimeout(deadline);
          clearTimeout(watchdog);
          generation.inUse -= 1;
          if (generation === current) {
            stats.addInUse(-1);
            startWaiters();
          }
          then(outcome);
        };
      const fail = settled(reject);
      work(generation.driver).then(settled(resolve), (cause) => {
        // The caller does not repeat this try, so its failure shows that no connection can be made.
        if (isLate && !closed && faultOf(cause) === "not_sent") breaker.trip(messageOf(cause));
        fail(cause);
      });
    });
  }

  /** Runs a decision until it succeeds, fails permanently, or runs out of time. */
  async function perform<T>(work: (driver: PgDriver) => Promise<T>): Promise<T> {
    const startedMs = performance.now();
    const untilMs = startedMs + deadlineMs;
    const tries = { not_sent: 0, undone: 0, unknown: 0 };
    for (;;) {
      try {
        if (closed) throw new StateUnavailable("the connections to PostgreSQL are closed");
        breaker.check();
        const result = await attempt(work, untilMs);
        stats.count("done", performance.now() - startedMs);
        return result;
      } catch (cause) {
        const fault = cause instanceof NoResponse ? "unknown" : faultOf(cause);
        if (cause instanceof StateUnavailable || !fault) {
          const isAway = cause instanceof StateUnavailable;
          stats.count(isAway ? "unavailable" : "failed", performance.now() - startedMs);
          // An earlier try may have been committed.
          throw isAway && tries.unknown > 0 ? new StateUnavailable(cause.message, { cause }) : cause;
        }
        tries[fault] += 1;
        if (isReadOnlyServer(cause)) replace(current);
        const pauseMs = pauseAfter(cause, fault, tries[fault]);
        if (pauseMs === undefined || performance.now() + pauseMs >= untilMs) {
          stats.count("unavailable", performance.now() - startedMs);
          throw unavailable(cause, fault, tries);
        }
        stats.countRetry(fault);
        await Bun.sleep(pauseMs);
      }
    }
  }

  /**
   * Returns the error of a decision that is not tried again. Everything but a refused transaction means that the server is
   * away.
   */
  function unavailable(
    cause: unknown,
    fault: PgFault,
    tries: Readonly<Record<PgFault, number>>,
  ): StateUnavailable {
    const reason = messageOf(cause);
    const isAway = fault !== "undone" || isReadOnlyServer(cause);
    // A missing response counts only if the try had enough time, unless no connection could be made before.
    if (!closed && isAway && (!(cause instanceof NoResponse) || tries.not_sent > 0)) breaker.trip(reason);
    return new StateUnavailable(reason, { cause, mayHaveHappened: tries.unknown > 0 });
  }

  const once = queriesOf({
    run: (statement, params) => perform((driver) => driver.run(statement, params)),
  });
  return {
    ...once,
    transaction: (body) => perform((driver) => driver.begin((runner) => body(transactionOf(runner)))),
    async [Symbol.asyncDispose]() {
      closed = true;
      current.driver.close();
      for (const { reject } of waiters.splice(0)) reject(new StateUnavailable("the node is shutting down"));
    },
  };
}

function notSent(message: string): StateUnavailable {
  return new StateUnavailable(message, { mayHaveHappened: false });
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

const NO_ANSWER = "PostgreSQL did not respond in time";

/** The caller's deadline passed. The outcome is unknown. */
class NoResponse extends Error {
  constructor() {
    super(NO_ANSWER);
  }
}

/** Returns how long to wait before a repetition; undefined if the decision is not repeated. */
function pauseAfter(cause: unknown, fault: PgFault, tries: number): number | undefined {
  switch (fault) {
    case "not_sent":
      return Math.min(MIN_PAUSE_MS * 2 ** tries, MAX_CONNECT_PAUSE_MS);
    case "undone":
      if (tries >= MAX_UNDONE_TRIES || isStatementTimeout(cause)) return undefined;
      return MIN_PAUSE_MS + Math.random() * (MAX_PAUSE_MS - MIN_PAUSE_MS);
    case "unknown":
      return tries > 1 ? undefined : MIN_PAUSE_MS;
  }
}

function queriesOf({ run }: Pick<PgRunner, "run">): PgQueries {
  return {
    all: async (statement, ...params) => (await run(statement, params)).rows,
    get: async (statement, ...params) => (await run(statement, params)).rows[0],
    run: async (statement, ...params) => (await run(statement, params)).count,
  };
}

function transactionOf(runner: PgRunner): PgTransaction {
  const queries = queriesOf(runner);
  return {
    ...queries,
    async lock(lockClass, name = "") {
      await queries.run(takeLock, lockKey(lockClass), name);
    },
    async lockShared(lockClass, name = "") {
      await queries.run(takeSharedLock, lockKey(lockClass), name);
    },
  };
}
