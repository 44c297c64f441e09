import { type Clock, nowSecs } from "../process/clock.ts";

/** An answer to a read as it is sent, but for what belongs to one request. */
export interface KeptAnswer {
  readonly body: Uint8Array;
  readonly etag: string;
  /** All but the request's id and what depends on its origin. Built once: handing them on costs next to nothing. */
  readonly headers: Headers;
  /** Template of the route that made it. */
  readonly route: string;
}

/** All that is kept at a time, bodies and URLs; when it is full, it starts with nothing. */
const MAX_BYTES = 16 * 1024 * 1024;
/** What an entry takes beside its body and its URL, roughly. */
const ENTRY_BYTES = 512;
/** URLs that are remembered as asked; a power of two. */
const ASKED = 16_384;

/** The generation of answers that are not kept. */
export const NOT_KEPT = 0;

/**
 * Answers by their URL, for as long as nothing that they are made of has changed: the index, and the second that decides
 * what has expired. Whatever is written to the index, by whomever, ends them all, so a kept answer is the one that would
 * be made anew.
 */
export class KeptAnswers {
  readonly #answers = new Map<string, KeptAnswer>();
  /** Digests of URLs that were asked for, each in the place that it points to, until another one takes it. */
  readonly #asked = new Uint32Array(ASKED);
  readonly #dataVersion: () => number;
  readonly #clock: Clock;
  #version = Number.NaN;
  #second = Number.NaN;
  #generation = NOT_KEPT + 1;
  #bytes = 0;

  /** @param dataVersion a number that changes with each commit to what answers are made of */
  constructor(options: { readonly dataVersion: () => number; readonly clock: Clock }) {
    this.#dataVersion = options.dataVersion;
    this.#clock = options.clock;
  }

  /**
   * The answer to a question, or the generation that one which is made from now on belongs to. `NOT_KEPT` to a question
   * that nobody asked before: most come once, and to keep what nobody asks for again costs more than to make a small
   * answer.
   */
  ask(url: string): KeptAnswer | number {
    const digest = Bun.hash.crc32(url);
    const place = digest & (ASKED - 1);
    if (this.#asked[place] !== digest) {
      this.#asked[place] = digest;
      return NOT_KEPT;
    }
    this.#forgetWhatIsOver();
    return this.#answers.get(url) ?? this.#generation;
  }

  /** Keeps an answer whose making began in a generation that `ask` told, unless that is over. */
  keep(url: string, answer: KeptAnswer, generation: number): void {
    if (generation !== this.#generation) return;
    const bytes = answer.body.byteLength + url.length + ENTRY_BYTES;
    if (bytes > MAX_BYTES) return;
    if (this.#bytes + bytes > MAX_BYTES) this.clear();
    this.#bytes += bytes;
    this.#answers.set(url, answer);
  }

  #forgetWhatIsOver(): void {
    const version = this.#dataVersion();
    const second = nowSecs(this.#clock);
    if (version === this.#version && second === this.#second) return;
    this.#version = version;
    this.#second = second;
    this.clear();
  }

  clear(): void {
    this.#generation += 1;
    this.#bytes = 0;
    this.#answers.clear();
  }
}
