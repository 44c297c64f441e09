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
  #generation = 0;
  #bytes = 0;

  /** @param dataVersion a number that changes with each commit to what answers are made of */
  constructor(options: { readonly dataVersion: () => number; readonly clock: Clock }) {
    this.#dataVersion = options.dataVersion;
    this.#clock = options.clock;
  }

  /** What an answer that is made from now on belongs to; `keep` wants it. Forgets what is no longer so. */
  generation(): number {
    const version = this.#dataVersion();
    const second = nowSecs(this.#clock);
    if (version !== this.#version || second !== this.#second) {
      this.#version = version;
      this.#second = second;
      this.clear();
    }
    return this.#generation;
  }

  /** The answer of the generation that was asked for last. */
  get(url: string): KeptAnswer | undefined {
    return this.#answers.get(url);
  }

  /**
   * Whether it pays to keep the answer to this URL: it was asked for before, in this second or some time ago. Most questions
   * come once, and to keep what nobody asks for again costs more than to make a small answer.
   */
  comesAgain(url: string): boolean {
    const digest = Bun.hash.crc32(url);
    const place = digest & (ASKED - 1);
    if (this.#asked[place] === digest) return true;
    this.#asked[place] = digest;
    return false;
  }

  /** Keeps an answer whose making began in `generation`, unless that is over. */
  keep(url: string, answer: KeptAnswer, generation: number): void {
    if (generation !== this.#generation) return;
    const bytes = answer.body.byteLength + url.length + ENTRY_BYTES;
    if (bytes > MAX_BYTES) return;
    if (this.#bytes + bytes > MAX_BYTES) this.clear();
    this.#bytes += bytes;
    this.#answers.set(url, answer);
  }

  clear(): void {
    this.#generation += 1;
    this.#bytes = 0;
    this.#answers.clear();
  }
}
