import type { Clock } from "../../src/runtime/clock.ts";

/** A clock that a test advances. */
export class ManualClock implements Clock {
  #nowMs: number;

  constructor(startUnixSecs: number) {
    this.#nowMs = startUnixSecs * 1000;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  setMs(unixMs: number): void {
    this.#nowMs = unixMs;
  }

  setSecs(unixSecs: number): void {
    this.setMs(unixSecs * 1000);
  }

  advanceSecs(secs: number): void {
    this.#nowMs += secs * 1000;
  }
}
