import { RE2Set } from "re2js";

/**
 * A shard that takes more time for a character, on average of so many of them, is cut in two. An ordinary one takes a
 * hundredth of it. A single expression can keep an automaton from ever meeting a state twice, and must not cost the
 * others more than a few cuts.
 */
const SLOW_MS_PER_CHAR = 0.001;
const CHARS_UNTIL_JUDGED = 50_000;

/** Regular expressions that one automaton matches at once. */
export class Shard<Member extends { readonly source: string }> {
  readonly capacity: number;
  /** The event that it was last run on, and what matched it. */
  event = 0;
  matched: readonly Member[] = [];
  readonly #members: Member[];
  /** Undefined after a change, until it is needed. */
  #set: RE2Set | undefined;
  #spentMs = 0;
  #chars = 0;
  #isSlow = false;

  constructor(members: readonly Member[], capacity: number) {
    this.#members = [...members];
    this.capacity = capacity;
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  add(member: Member): void {
    this.#members.push(member);
    this.#set = undefined;
  }

  remove(member: Member): void {
    this.#members.splice(this.#members.indexOf(member), 1);
    this.#set = undefined;
  }

  /** Finds out which members match one of the subjects. The automaton is made within so much memory if there is none. */
  run(event: number, subjects: readonly string[], memoryBytes: number, nowMs: () => number): void {
    this.#set ??= this.#compile(memoryBytes);
    const set = this.#set;
    const startedAt = this.#isCuttable ? nowMs() : 0;
    const found = new Set(subjects.flatMap((subject) => set.match(subject)));
    if (this.#isCuttable) this.#judge(subjects, nowMs() - startedAt);
    this.matched = found.size === 0 ? [] : this.#members.filter((_, at) => found.has(at));
    this.event = event;
  }

  /**
   * Its two halves, which take no more members than they have and know what matched the last event; undefined unless it
   * turned out to be slow.
   */
  cutIfSlow(): Shard<Member>[] | undefined {
    if (!this.#isSlow || !this.#isCuttable) return undefined;
    const middle = Math.ceil(this.#members.length / 2);
    return [this.#members.slice(0, middle), this.#members.slice(middle)].map((members) => {
      const half = new Shard(members, members.length);
      half.event = this.event;
      half.matched = this.matched.filter((member) => members.includes(member));
      return half;
    });
  }

  get #isCuttable(): boolean {
    return this.#members.length > 1;
  }

  #judge(subjects: readonly string[], tookMs: number): void {
    this.#spentMs += tookMs;
    for (const { length } of subjects) this.#chars += length;
    if (this.#chars < CHARS_UNTIL_JUDGED) return;
    this.#isSlow = this.#spentMs > this.#chars * SLOW_MS_PER_CHAR;
    this.#spentMs = 0;
    this.#chars = 0;
  }

  #compile(memoryBytes: number): RE2Set {
    const set = new RE2Set(RE2Set.UNANCHORED, 0, memoryBytes);
    for (const { source } of this.#members) set.add(source);
    set.compile();
    return set;
  }
}
