import { RE2JS } from "re2js";

/** What an automaton may keep of the states that it came through. */
const MEMORY_BYTES = 64 * 1024;

/** A regular expression that is matched on its own, compiled when it is first needed. */
export class SingleExpression {
  readonly #source: string;
  #regex: RE2JS | undefined;
  /** The event that it was last matched against, and what came of it. */
  #event = 0;
  #isMatching = false;

  constructor(source: string) {
    this.#source = source;
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
