import { RE2JS } from "re2js";

/** What an automaton may keep of the states that it came through. */
const MEMORY_BYTES = 64 * 1024;

/** An expression that takes no more time for a character, on average, costs others nothing to be matched with. */
const QUICK_MS_PER_CHAR = 0.0002;

/** A regular expression that is matched on its own, compiled when it is first needed. */
export class SingleExpression {
  readonly #source: string;
  #regex: RE2JS | undefined;
  /** The event that it was last matched against, and what came of it. */
  #event = 0;
  #isMatching = false;

  #spentMs = 0;
  #chars = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Takes over what is known of an event. */
  know(event: number, isMatching: boolean): void {
    this.#event = event;
    this.#isMatching = isMatching;
  }

  /** Counts the time of a run; answers whether all so far, over at least `minChars` characters, were quick. */
  isQuick(tookMs: number, chars: number, minChars: number): boolean {
    this.#spentMs += tookMs;
    this.#chars += chars;
    if (this.#chars < minChars) return false;
    const isQuick = this.#spentMs <= this.#chars * QUICK_MS_PER_CHAR;
    this.#spentMs = 0;
    this.#chars = 0;
    return isQuick;
  }

  /** Whether it matches one of the event's subjects. */
  isMatching(event: number, subjects: readonly string[]): boolean {
    if (this.#event === event) return this.#isMatching;
    this.#regex ??= compileWithin(MEMORY_BYTES, this.#source);
    const regex = this.#regex;
    this.#event = event;
    this.#isMatching = subjects.some((subject) => regex.test(subject));
    return this.#isMatching;
  }
}

/** The library gives each expression 8 MB, which is a lot for thousands of them, and has no option for it. */
function compileWithin(memoryBytes: number, source: string): RE2JS {
  const regex = RE2JS.compile(source);
  const { dfa } = regex.re2();
  dfa.stateBudget = memoryBytes;
  dfa.memBudget = memoryBytes;
  return regex;
}
