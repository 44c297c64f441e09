import type { DatabaseName } from "../db/sqlite/storage-error.ts";
import type { SendPermission } from "../push/fan-out/slots.ts";
import { createGate, type Gate } from "../runtime/gate.ts";
import { PAUSABLE, type Pausable } from "./switch-store.ts";

const DATABASE_BITS: Readonly<Record<DatabaseName, number>> = { index: 1, state: 2 };
const BYTES = 80;
const NS_PER_MS = 1_000_000n;

/** A point in the history of a PostgreSQL state. */
export interface StateMark {
  /** The node's beat. */
  readonly beat: number;
  /** Decimal. */
  readonly systemIdentifier: string;
  /** Eight hexadecimal digits. */
  readonly timeline: string;
}

/**
 * What every thread of a node must know at any moment, in memory that the threads share: what is paused, whether the node may act, and
 * the time of the state. The main thread writes it.
 */
export class NodeSignals {
  readonly shared: SharedArrayBuffer;
  /**
   * 0: the paused parts, one bit each. 1: whether the state's time is known. 2: the number of the lease. 3: the epoch of keys. 4: the
   * damaged databases, one bit each. 5: whether the index is behind the followed node.
   */
  readonly #words: Int32Array<SharedArrayBuffer>;
  /**
   * 0: until when the node may act; 0 means forever. 1: the time of the last tick. 2: the clock's offset in ms. 3 to 5: the last beat,
   * and the system identifier and timeline of its server; 0 before the first. 6: the difference between the state's time and the main
   * thread's monotonic clock, ns.
   */
  readonly #times: BigInt64Array<SharedArrayBuffer>;
  /** A lower bound of the difference between the main thread's monotonic clock and this thread's, which start at different times. */
  #toMainNs: bigint | undefined;

  /** @param shared that of another thread; omitted in the thread that creates it. */
  constructor(shared = new SharedArrayBuffer(BYTES)) {
    this.shared = shared;
    this.#times = new BigInt64Array(shared, 0, 7);
    this.#words = new Int32Array(shared, 56, 6);
  }

  isPaused(name: Pausable): boolean {
    return (Atomics.load(this.#words, 0) & bitOf(name)) !== 0;
  }

  setPaused(names: readonly Pausable[]): void {
    Atomics.store(
      this.#words,
      0,
      names.reduce((bits, name) => bits | bitOf(name), 0),
    );
  }

  /** Reports whether a thread has found damage in the database. Nothing is written to it then. */
  isDamaged(database: DatabaseName): boolean {
    return (Atomics.load(this.#words, 4) & DATABASE_BITS[database]) !== 0;
  }

  setDamaged(database: DatabaseName): void {
    Atomics.or(this.#words, 4, DATABASE_BITS[database]);
  }

  /** Reports whether owners and keys in the index may be out of date, because it lags behind the followed node. */
  get isBehind(): boolean {
    return Atomics.load(this.#words, 5) !== 0;
  }

  set isBehind(isBehind: boolean) {
    Atomics.store(this.#words, 5, isBehind ? 1 : 0);
  }

  /**
   * Reports whether the node has not renewed its lease for too long, so that another one may have taken over its work. It then starts no
   * call, post or claim.
   */
  isFenced(): boolean {
    const until = Atomics.load(this.#times, 0);
    if (until === 0n) return false;
    return this.#mainNs() >= until;
  }

  /** Returns a lower bound of the main thread's monotonic clock, ns. */
  #mainNs(): bigint {
    const ownNs = process.hrtime.bigint();
    // A tick is in the past, so each reading gives a lower bound. The highest bound is late by less than the interval of ticks.
    const bound = Atomics.load(this.#times, 1) - ownNs;
    if (this.#toMainNs === undefined || bound > this.#toMainNs) this.#toMainNs = bound;
    return ownNs + this.#toMainNs;
  }

  /**
   * The number of the node's lease. It increases when a lease has ended and the node has a new one: in between, others may have taken
   * what was claimed under the previous one. If it is read after `isFenced()` was false, it is the number of the lease that was held
   * then.
   */
  get leaseNumber(): number {
    return Atomics.load(this.#words, 2);
  }

  /** Counts a new lease. Called before `actFor`, so that nothing of the previous lease continues under this one. */
  countLease(): void {
    Atomics.add(this.#words, 2, 1);
  }

  /** See `KeyMemory`. */
  get keyEpoch(): number {
    return Atomics.load(this.#words, 3);
  }

  /** Makes all threads drop their cached API keys. */
  forgetKeys(): void {
    Atomics.add(this.#words, 3, 1);
  }

  /** Lets the node act for `ms` from `since` on, which is a time of `process.hrtime.bigint()` in the main thread. */
  actFor(ms: number, since: bigint): void {
    this.tick();
    Atomics.store(this.#times, 0, since + BigInt(ms) * NS_PER_MS);
  }

  /** Lets other threads compare their clocks. The main thread calls this several times a second. */
  tick(): void {
    Atomics.store(this.#times, 1, process.hrtime.bigint());
  }

  /** What the last beat has found; undefined before the first beat, and without PostgreSQL. */
  get stateMark(): StateMark | undefined {
    const beat = Atomics.load(this.#times, 3);
    if (beat === 0n) return undefined;
    return {
      beat: Number(beat),
      systemIdentifier: `${BigInt.asUintN(64, Atomics.load(this.#times, 4))}`,
      timeline: Atomics.load(this.#times, 5).toString(16).toUpperCase().padStart(8, "0"),
    };
  }

  /** Called once requests are refused that an earlier version of the state does not know. */
  markState({ beat, systemIdentifier, timeline }: StateMark): void {
    Atomics.store(this.#times, 3, BigInt(beat));
    Atomics.store(this.#times, 4, BigInt.asIntN(64, BigInt(systemIdentifier)));
    Atomics.store(this.#times, 5, BigInt(`0x${timeline}`));
  }

  /** The difference between the clock of the state and this machine's, ms. */
  get clockOffsetMs(): number {
    return Number(Atomics.load(this.#times, 2));
  }

  set clockOffsetMs(ms: number) {
    Atomics.store(this.#times, 2, BigInt(Math.round(ms)));
  }

  /**
   * The time of the state, unix ms; undefined before the main thread has set it. It follows only monotonic time, so that setting this
   * machine's clock does not move it. In a thread that has just started it may be late by less than the interval of ticks.
   */
  get stateTimeMs(): number | undefined {
    if (Atomics.load(this.#words, 1) === 0) return undefined;
    return Number((this.#mainNs() + Atomics.load(this.#times, 6)) / NS_PER_MS);
  }

  /** Sets the current time of the state. The main thread calls this. */
  setStateTime(ms: number): void {
    this.tick();
    Atomics.store(this.#times, 6, BigInt(Math.round(ms)) * NS_PER_MS - process.hrtime.bigint());
    Atomics.store(this.#words, 1, 1);
  }
}

/** Returns a gate that is open while deliveries are not paused and the node may act. */
export function deliveryGate(signals: NodeSignals): Gate {
  return createGate(() => !signals.isPaused("deliveries") && !signals.isFenced());
}

/** Returns a function for whether the node may start calls of campaigns. */
export function sendPermissionOf(signals: NodeSignals): () => SendPermission {
  return () => {
    if (signals.isPaused("sends")) return "paused";
    return signals.isFenced() ? "isolated" : "granted";
  };
}

function bitOf(name: Pausable): number {
  return 1 << PAUSABLE.indexOf(name);
}
