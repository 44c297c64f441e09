import { RE2JS } from "re2js";

/**
 * What an automaton may keep of the states that it came through, in the order in which it is tried; with 0 there is no
 * automaton, and each character costs in proportion to the program. A list of words needs much to be fast; an expression
 * that never meets a state twice is fastest without.
 */
const MEMORY_BYTES = [64 * 1024, 1024 * 1024, 0] as const;
/** A way is tried for so many characters, and measured over the second half of them. */
const TRIAL_CHARS = 16_000;
/** The fastest way is kept for so many trials. */
const TRIALS_UNTIL_ANEW = 50;
/** An expression that takes no more time for a character, on average, costs others nothing to be matched with. */
const QUICK_MS_PER_CHAR = 0.0002;

/** Large automata that may exist at a time. */
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

/** A regular expression that is matched on its own, compiled when it is first needed. */
export class SingleExpression {
  readonly #source: string;
  readonly #large: LargeAutomata;
  #regex: RE2JS | undefined;
  /** The event that it was last matched against, and what came of it. */
  #event = 0;
  #isMatching = false;
  #way = 0;
  /** What the ways that were tried take for a character, ms. */
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

  /** Whether it matches one of the event's subjects. */
  isMatching(event: number, subjects: readonly string[]): boolean {
    if (this.#event === event) return this.#isMatching;
    this.#regex ??= compileWithin(MEMORY_BYTES[this.#way] ?? 0, this.#source);
    const regex = this.#regex;
    this.#event = event;
    this.#isMatching = subjects.some((subject) => regex.test(subject));
    return this.#isMatching;
  }

  /** Takes over what is known of an event. */
  know(event: number, isMatching: boolean): void {
    this.#event = event;
    this.#isMatching = isMatching;
  }

  /** Counts what a run took, which decides on the way in which the next ones are made. */
  count(tookMs: number, chars: number): void {
    this.#chars += chars;
    this.#spentMs += tookMs;
    if (this.#trialChars >= TRIAL_CHARS / 2) this.#trialMs += tookMs;
    this.#trialChars += chars;
    if (this.#trialChars >= TRIAL_CHARS) this.#endTrial(this.#trialMs / (TRIAL_CHARS / 2));
  }

  /** Whether the runs since the last question, over at least `minChars` characters, were quick; false before that. */
  isQuick(minChars: number): boolean {
    if (this.#chars < minChars) return false;
    const isQuick = this.#spentMs <= this.#chars * QUICK_MS_PER_CHAR;
    this.#chars = 0;
    this.#spentMs = 0;
    return isQuick;
  }

  /** Lets go of what it holds. */
  [Symbol.dispose](): void {
    this.#turnTo(0);
  }

  #endTrial(msPerChar: number): void {
    this.#trialChars = 0;
    this.#trialMs = 0;
    this.#trials += 1;
    if (this.#triedMsPerChar.length === MEMORY_BYTES.length) {
      if (this.#trials < TRIALS_UNTIL_ANEW) return;
      this.#triedMsPerChar = [];
      this.#turnTo(0);
      return;
    }
    if (this.#way === 0 && msPerChar <= QUICK_MS_PER_CHAR) return;
    this.#triedMsPerChar.push(msPerChar);
    const tried = this.#triedMsPerChar.length;
    if (tried < MEMORY_BYTES.length) this.#turnTo(tried);
    else this.#turnTo(this.#triedMsPerChar.indexOf(Math.min(...this.#triedMsPerChar)));
    this.#trials = 0;
  }

  #turnTo(way: number): void {
    if (this.#way === 1 && way !== 1) this.#large.giveBack();
    const isLargeRefused = way === 1 && this.#way !== 1 && !this.#large.take();
    this.#way = isLargeRefused ? 0 : way;
    this.#regex = undefined;
  }
}

/** The library gives each expression 8 MB, which is a lot for thousands of them, and has no option for it. */
function compileWithin(memoryBytes: number, source: string): RE2JS {
  const regex = RE2JS.compile(source);
  const { dfa } = regex.re2();
  dfa.stateBudget = memoryBytes;
  dfa.memBudget = memoryBytes;
  dfa.failed ||= memoryBytes === 0;
  return regex;
}
