import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { TaggedBody } from "./content-coding.ts";

/** A response without the parts that belong to one request. */
export interface CachedResponse extends TaggedBody {
  /** Template of the route that built the response. */
  readonly route: string;
}

/** Limit of all bodies, in every coding, and URLs together. The cache is cleared when it is full. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Approximate size of an entry without its body and its URL. */
const ENTRY_BYTES = 512;
/** Slots of the doorkeeper; a power of two. */
const DOORKEEPER_SLOTS = 16_384;

/** Returned by `lookUp` instead of a generation if the response must not be stored. */
export const NOT_CACHED = 0;

interface IndexVersion {
  /** Changes with each commit of any process. Reading it takes several system calls, a third of the time of a cached response. */
  dataVersion(): number;
}

interface Commits {
  /** Returns the number in memory of this process's last commit; undefined while one may become visible. */
  read(): number | undefined;
}

/**
 * Caches responses by URL until their data or the second changes. Every commit to the index invalidates all entries, so a cached response
 * is identical to a newly built one; a commit of another process does so by the next second. Only routes that declare `cache: "shared"`
 * store responses.
 */
export class ResponseCache {
  readonly #responses = new Map<string, CachedResponse>();
  /**
   * Doorkeeper: digests of requested URLs, each in the slot that it hashes to, until another URL overwrites the slot.
   */
  readonly #doorkeeper = new Uint32Array(DOORKEEPER_SLOTS);
  readonly #index: IndexVersion;
  readonly #commits: Commits | undefined;
  readonly #otherChanges: readonly (() => number)[];
  readonly #clock: Clock;
  #version = Number.NaN;
  /** The commit that `#version` includes; undefined if unknown. */
  #commit: number | undefined;
  #others = Number.NaN;
  #second = Number.NaN;
  #generation = NOT_CACHED + 1;
  #bytes = 0;

  /**
   * @param commits if omitted, the version of the index is read for each response
   * @param otherChanges for each kind of data outside the index that responses show, a number in memory that increases with each change
   */
  constructor(options: {
    readonly index: IndexVersion;
    readonly commits?: Commits;
    readonly otherChanges?: readonly (() => number)[];
    readonly clock: Clock;
  }) {
    this.#index = options.index;
    this.#commits = options.commits;
    this.#otherChanges = options.otherChanges ?? [];
    this.#clock = options.clock;
  }

  /**
   * Returns the cached response of a URL, or the generation in which to store a new one. Returns `NOT_CACHED` for the first request of a
   * URL: most URLs are requested only once, and storing such a response costs more than building a small one.
   */
  lookUp(url: string): CachedResponse | number {
    const digest = Bun.hash.crc32(url);
    const slot = digest & (DOORKEEPER_SLOTS - 1);
    if (this.#doorkeeper[slot] !== digest) {
      this.#doorkeeper[slot] = digest;
      return NOT_CACHED;
    }
    this.#expire();
    return this.#responses.get(url) ?? this.#generation;
  }

  /**
   * Stores a response that was started in a generation returned by `lookUp`. Does nothing if that generation is over.
   */
  store(url: string, response: CachedResponse, generation: number): void {
    if (generation !== this.#generation) return;
    const bytes = sizeOf([response.body, ...response.coded.values()]) + url.length + ENTRY_BYTES;
    if (bytes > MAX_BYTES) return;
    if (this.#bytes + bytes > MAX_BYTES) this.clear();
    this.#bytes += bytes;
    this.#responses.set(url, response);
  }

  /** Calls `send` with a stored response and adds the size of newly compressed bodies to the cache's size. */
  use<T>(response: CachedResponse, send: (response: CachedResponse) => T): T {
    const { coded } = response;
    const before = coded.size;
    const result = send(response);
    if (coded.size === before) return result;
    this.#bytes += sizeOf([...coded.values()].slice(before));
    if (this.#bytes > MAX_BYTES) this.clear();
    return result;
  }

  #expire(): void {
    const second = nowSecs(this.#clock);
    let others = 0;
    for (const changes of this.#otherChanges) others += changes();
    const isSameSecond = second === this.#second;
    // Read before the version, which then includes this commit.
    const commit = this.#commits?.read();
    const isSameCommit = isSameSecond && commit !== undefined && commit === this.#commit;
    const version = isSameCommit ? this.#version : this.#index.dataVersion();
    this.#commit = commit;
    if (isSameSecond && version === this.#version && others === this.#others) return;
    this.#version = version;
    this.#others = others;
    this.#second = second;
    this.clear();
  }

  clear(): void {
    this.#generation += 1;
    this.#bytes = 0;
    this.#responses.clear();
  }
}

function sizeOf(bodies: readonly Uint8Array[]): number {
  return bodies.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
