import type { Clock } from "../../src/runtime/clock.ts";

/** A machine whose clock jumps, and whose monotonic time does not. */
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

  /** Real time passes. */
  pass(secs: number): void {
    this.#wallMs += secs * 1000;
    this.#monotonicMs += secs * 1000;
  }

  /** Somebody sets the clock; no time passes. */
  jump(secs: number): void {
    this.#wallMs += secs * 1000;
  }
}
