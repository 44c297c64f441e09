import { CALL_SECONDS, type DurationStats } from "../../runtime/figures/call-durations.ts";
import type { PgFault } from "./faults.ts";

/**
 * Outcome of a decision: done, given up as `StateUnavailable`, or failed with an error that does not concern availability.
 */
export type PgOutcome = (typeof OUTCOMES)[number];

const OUTCOMES = ["done", "unavailable", "failed"] as const;
const FAULTS = ["not_sent", "undone", "unknown"] as const satisfies readonly PgFault[];

/** Counts since the start of the process. */
export interface PgStatsSnapshot {
  /** Decisions by outcome. */
  readonly outcomes: Readonly<Record<PgOutcome, number>>;
  /** Repetitions, by the class of the fault that preceded them. */
  readonly retries: Readonly<Record<PgFault, number>>;
  /** Pools whose connections were abandoned. */
  readonly replaced: number;
  /** Calls that use a connection, and calls that wait for one, at present. */
  readonly inUse: number;
  readonly waiting: number;
  readonly durations: DurationStats;
}

const REPLACED = OUTCOMES.length + FAULTS.length;
const IN_USE = REPLACED + 1;
const WAITING = IN_USE + 1;
const MICROSECONDS = WAITING + 1;
const BUCKETS = MICROSECONDS + 1;
const AWAY = BUCKETS + CALL_SECONDS.length + 1;
const COUNTS = AWAY + 1;

/** Counters of the pools of all threads of a node, in memory that the threads share. */
export class PgStats {
  readonly shared: SharedArrayBuffer;
  readonly #counts: BigInt64Array<SharedArrayBuffer>;

  /** @param shared memory of another thread's counters; omitted in the thread that creates it. */
  constructor(shared = new SharedArrayBuffer(COUNTS * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#counts = new BigInt64Array(shared);
  }

  /**
   * Time in Unix milliseconds since which a thread has found PostgreSQL unresponsive, so that no other thread has to wait to
   * find out.
   */
  get awaySinceMs(): number | undefined {
    return this.#at(AWAY) || undefined;
  }

  set awaySinceMs(sinceMs: number | undefined) {
    Atomics.store(this.#counts, AWAY, BigInt(sinceMs ?? 0));
  }

  /** Counts a decision. */
  count(outcome: PgOutcome, durationMs: number): void {
    this.#add(OUTCOMES.indexOf(outcome));
    this.#add(MICROSECONDS, Math.round(durationMs * 1000));
    const bucket = CALL_SECONDS.findIndex((bound) => durationMs / 1000 <= bound);
    this.#add(BUCKETS + (bucket === -1 ? CALL_SECONDS.length : bucket));
  }

  countRetry(fault: PgFault): void {
    this.#add(OUTCOMES.length + FAULTS.indexOf(fault));
  }

  countReplaced(): void {
    this.#add(REPLACED);
  }

  /** Changes the number of calls on connections. */
  addInUse(change: number): void {
    this.#add(IN_USE, change);
  }

  /** Changes the number of calls that wait for a connection. */
  addWaiting(change: number): void {
    this.#add(WAITING, change);
  }

  snapshot(): PgStatsSnapshot {
    let cumulative = 0;
    const byDuration = Array.from({ length: CALL_SECONDS.length + 1 }, (_, at) => {
      cumulative += this.#at(BUCKETS + at);
      return cumulative;
    });
    const named = <Name extends string>(names: readonly Name[], from: number) =>
      Object.fromEntries(names.map((name, at) => [name, this.#at(from + at)])) as Record<Name, number>;
    return {
      outcomes: named(OUTCOMES, 0),
      retries: named(FAULTS, OUTCOMES.length),
      replaced: this.#at(REPLACED),
      inUse: this.#at(IN_USE),
      waiting: this.#at(WAITING),
      durations: { byDuration, secondsSum: this.#at(MICROSECONDS) / 1e6 },
    };
  }

  #at(index: number): number {
    return Number(Atomics.load(this.#counts, index));
  }

  #add(index: number, change = 1): void {
    Atomics.add(this.#counts, index, BigInt(change));
  }
}
