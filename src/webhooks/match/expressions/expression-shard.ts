import { RE2Set } from "re2js";

/** Limit of expressions in one automaton. */
const MAX_MEMBERS = 64;
/**
 * Limit of instructions in one automaton. One expression can keep the automaton from reusing a state; then each character costs time
 * proportional to the instructions of all members.
 */
const MAX_PROGRAM_SIZE = 256;
/** A larger expression is matched on its own. */
export const MAX_MEMBER_PROGRAM_SIZE = 64;
const ORDINARY_PROGRAM_SIZE = 16;
/** A shard whose average time per character exceeds this is slow; an ordinary one takes a hundredth. */
const SLOW_MS_PER_CHAR = 0.002;
const CHARS_UNTIL_RATED = 10_000;
/** During the first characters an automaton builds most of its states, which is slow for any expression. */
const WARM_UP_CHARS = 5_000;
/** A single run above both limits marks a shard as slow at once. */
const SLOW_RUN_MS_PER_CHAR = 0.005;
const SLOW_RUN_MS = 10;

/** A set of regular expressions that one automaton matches at once. */
export class Shard<Member extends { readonly source: string; readonly programSize: number }> {
  /** The number of the event of the last run, and the members that matched it. */
  event = 0;
  matched: readonly Member[] = [];
  readonly #members: Member[] = [];
  #programSize = 0;
  /** Compiled on demand; undefined after a change. */
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

  /** Whether a member has proved too slow to be matched together with others. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  /** Whether another ordinary expression does not fit. */
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
   * Finds the members that match one of the subjects. Compiles the automaton within `memoryBytes` if necessary.
   *
   * @returns the time to charge to the members, in ms; the cost of many runs is charged at once.
   */
  run(event: number, subjects: readonly string[], memoryBytes: number, nowMs: () => number): number {
    this.#set ??= this.#compile(memoryBytes);
    const set = this.#set;
    const startMs = nowMs();
    const found = new Set(subjects.flatMap((subject) => set.match(subject)));
    const tookMs = nowMs() - startMs;
    this.matched = found.size === 0 ? [] : this.#members.filter((_, at) => found.has(at));
    this.event = event;
    return this.#rate(subjects, tookMs);
  }

  #rate(subjects: readonly string[], tookMs: number): number {
    let chars = 0;
    for (const { length } of subjects) chars += length;
    // It is unknown which member is slow, so no owner is charged.
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
    if (this.#chars < CHARS_UNTIL_RATED) return 0;
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
