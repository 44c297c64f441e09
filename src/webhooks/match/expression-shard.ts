import { RE2Set } from "re2js";

/** Expressions that one automaton matches at once. */
const MAX_MEMBERS = 64;
/**
 * Instructions of all of them together. One expression can keep the automaton from ever meeting a state twice; then the
 * instructions of all members count for each character.
 */
const MAX_PROGRAM_SIZE = 256;
/** A larger expression is matched on its own. */
export const MAX_MEMBER_PROGRAM_SIZE = 64;
const ORDINARY_PROGRAM_SIZE = 16;
/** A shard that takes more time for a character, on average of so many of them, is slow. An ordinary one takes a hundredth. */
const SLOW_MS_PER_CHAR = 0.002;
const CHARS_UNTIL_JUDGED = 10_000;
/** Over so many characters a new automaton meets most of its states for the first time, which is slow for any. */
const WARM_UP_CHARS = 5_000;
/** A single run that takes more than both is slow at once. */
const SLOW_RUN_MS_PER_CHAR = 0.005;
const SLOW_RUN_MS = 10;

/** Regular expressions that one automaton matches at once. */
export class Shard<Member extends { readonly source: string; readonly programSize: number }> {
  /** The event that it was last run on, and what matched it. */
  event = 0;
  matched: readonly Member[] = [];
  readonly #members: Member[] = [];
  #programSize = 0;
  /** Undefined after a change, until it is needed. */
  #set: RE2Set | undefined;
  #spentMs = 0;
  #chars = 0;
  #isSlow = false;
  #isNew = true;

  get members(): readonly Member[] {
    return this.#members;
  }

  get programSize(): number {
    return this.#programSize;
  }

  /** Whether it turned out that one of its members is not fit to be matched together with others. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  /** Whether there is no room for most of those that it could take. */
  get isFull(): boolean {
    return (
      this.#members.length === MAX_MEMBERS || this.#programSize > MAX_PROGRAM_SIZE - ORDINARY_PROGRAM_SIZE
    );
  }

  hasRoomFor(member: Member): boolean {
    return this.#members.length < MAX_MEMBERS && this.#programSize + member.programSize <= MAX_PROGRAM_SIZE;
  }

  add(member: Member): void {
    this.#members.push(member);
    this.#programSize += member.programSize;
    this.#set = undefined;
  }

  remove(member: Member): void {
    this.#members.splice(this.#members.indexOf(member), 1);
    this.#programSize -= member.programSize;
    this.#set = undefined;
  }

  /**
   * Finds out which members match one of the subjects. The automaton is made within so much memory if there is none.
   *
   * @returns the time that members are to be charged for by now, ms: now and then that of many runs.
   */
  run(event: number, subjects: readonly string[], memoryBytes: number, nowMs: () => number): number {
    this.#set ??= this.#compile(memoryBytes);
    const set = this.#set;
    const startMs = nowMs();
    const found = new Set(subjects.flatMap((subject) => set.match(subject)));
    const tookMs = nowMs() - startMs;
    this.matched = found.size === 0 ? [] : this.#members.filter((_, at) => found.has(at));
    this.event = event;
    return this.#judge(subjects, tookMs);
  }

  #judge(subjects: readonly string[], tookMs: number): number {
    let chars = 0;
    for (const { length } of subjects) chars += length;
    // Nobody can tell which member it was, so no owner pays for it.
    if (tookMs > Math.max(SLOW_RUN_MS, chars * SLOW_RUN_MS_PER_CHAR)) {
      this.#isSlow = true;
      return 0;
    }
    this.#spentMs += tookMs;
    this.#chars += chars;
    if (this.#isNew) {
      if (this.#chars < WARM_UP_CHARS) return 0;
      this.#isNew = false;
      return this.#settle();
    }
    if (this.#chars < CHARS_UNTIL_JUDGED) return 0;
    this.#isSlow = this.#spentMs > this.#chars * SLOW_MS_PER_CHAR;
    return this.#settle();
  }

  #settle(): number {
    const spentMs = this.#spentMs;
    this.#spentMs = 0;
    this.#chars = 0;
    return spentMs;
  }

  #compile(memoryBytes: number): RE2Set {
    const set = new RE2Set(RE2Set.UNANCHORED, 0, memoryBytes);
    for (const { source } of this.#members) set.add(source);
    set.compile();
    this.#isNew = true;
    return set;
  }
}
