import type { RE2JS } from "re2js";
import { compileRegex } from "./regex-program.ts";

/**
 * Memory for the cached states of an automaton, in the order of the trials. With 0 there is no automaton, and each character costs time
 * proportional to the program. A word list needs much memory to be fast (120 words: 337 ns per character with 64 KB, 3 with 1 MB); an
 * expression that never reuses a state is fastest without any (`[a-z].{120}[0-9]`: 2,770 ns with 64 KB, 484 with none). No single choice
 * suits both, so trials choose.
 */
const MEMORY_BYTES = [64 * 1024, 1024 * 1024, 0] as const;
/** Characters of one trial; the second half is measured. */
const TRIAL_CHARS = 16_000;
/** The fastest strategy is used for this many trials; then all are tried again. */
const TRIALS_UNTIL_RETRY = 50;
/** Average time per character up to which an expression does not slow down a shard. */
const QUICK_MS_PER_CHAR = 0.0002;

/** Counts the large automata, whose number is limited. */
export class LargeAutomata {
  #left = 64;

  take(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }

  giveBack(): void {
    this.#left += 1;
  }
}

/** A regular expression that is matched on its own, compiled on first use. */
export class SingleExpression {
  readonly #source: string;
  readonly #large: LargeAutomata;
  #regex: RE2JS | undefined;
  /** The number of the event of the last run, and the result. */
  #event = 0;
  #isMatching = false;
  #strategy = 0;
  /** Time per character of the strategies that were tried, ms. */
  #triedMsPerChar: number[] = [];
  #trialChars = 0;
  #trialMs = 0;
  #trials = 0;
  #chars = 0;
  #spentMs = 0;

  constructor(source: string, large: LargeAutomata) {
    this.#source = source;
    this.#large = large;
  }

  /** Returns whether it matches one of the event's subjects. */
  isMatching(event: number, subjects: readonly string[]): boolean {
    if (this.#event === event) return this.#isMatching;
    this.#regex ??= compileWithin(MEMORY_BYTES[this.#strategy] ?? 0, this.#source);
    const regex = this.#regex;
    this.#event = event;
    this.#isMatching = subjects.some((subject) => regex.test(subject));
    return this.#isMatching;
  }

  /** Sets the known result for an event. */
  setResult(event: number, isMatching: boolean): void {
    this.#event = event;
    this.#isMatching = isMatching;
  }

  /** Counts the time of a run; the measurements choose the strategy of later runs. */
  count(tookMs: number, chars: number): void {
    this.#chars += chars;
    this.#spentMs += tookMs;
    if (this.#trialChars >= TRIAL_CHARS / 2) this.#trialMs += tookMs;
    this.#trialChars += chars;
    if (this.#trialChars >= TRIAL_CHARS) this.#endTrial(this.#trialMs / (TRIAL_CHARS / 2));
  }

  /** Returns whether the runs since the last call were quick; false before `minChars` characters. */
  isQuick(minChars: number): boolean {
    if (this.#chars < minChars) return false;
    const isQuick = this.#spentMs <= this.#chars * QUICK_MS_PER_CHAR;
    this.#chars = 0;
    this.#spentMs = 0;
    return isQuick;
  }

  /** Releases the large automaton, if it has one. */
  [Symbol.dispose](): void {
    this.#useStrategy(0);
  }

  #endTrial(msPerChar: number): void {
    this.#trialChars = 0;
    this.#trialMs = 0;
    this.#trials += 1;
    if (this.#triedMsPerChar.length === MEMORY_BYTES.length) {
      if (this.#trials < TRIALS_UNTIL_RETRY) return;
      this.#triedMsPerChar = [];
      this.#useStrategy(0);
      return;
    }
    if (this.#strategy === 0 && msPerChar <= QUICK_MS_PER_CHAR) return;
    this.#triedMsPerChar.push(msPerChar);
    const tried = this.#triedMsPerChar.length;
    if (tried < MEMORY_BYTES.length) this.#useStrategy(tried);
    else this.#useStrategy(this.#triedMsPerChar.indexOf(Math.min(...this.#triedMsPerChar)));
    this.#trials = 0;
  }

  #useStrategy(strategy: number): void {
    if (this.#strategy === 1 && strategy !== 1) this.#large.giveBack();
    const isLargeRefused = strategy === 1 && this.#strategy !== 1 && !this.#large.take();
    this.#strategy = isLargeRefused ? 0 : strategy;
    this.#regex = undefined;
  }
}

/** Compiles with a memory limit. The library's default is 8 MB per expression, and it has no option for this. */
function compileWithin(memoryBytes: number, source: string): RE2JS {
  const regex = compileRegex(source);
  const { dfa } = regex.re2();
  dfa.stateBudget = memoryBytes;
  dfa.memBudget = memoryBytes;
  dfa.failed ||= memoryBytes === 0;
  return regex;
}
