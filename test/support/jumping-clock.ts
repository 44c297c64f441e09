import type { Clock } from "../../src/runtime/clock.ts";

/** A machine whose wall clock jumps while its monotonic time does not. */
export class JumpingClock implements Clock {
  #wallMs: number;
  #monotonicMs = 5_000;

  constructor(startUnixSecs: number) {
    this.#wallMs = startUnixSecs * 1000;
  }

  nowMs(): number {
    return this.#wallMs;
  }

  nowSecs(): number {
    return Math.floor(this.#wallMs / 1000);
  }

  readonly monotonicMs = (): number => this.#monotonicMs;

  /** Advances both. */
  pass(secs: number): void {
    this.#wallMs += secs * 1000;
    this.#monotonicMs += secs * 1000;
  }

  /** Sets the wall clock; no time passes. */
  jump(secs: number): void {
    this.#wallMs += secs * 1000;
  }
}
