import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { TaggedBody } from "./exchange.ts";

/** A response as it is sent, without what belongs to one request. */
export interface CachedResponse extends TaggedBody {
  /** All but the request's id and what depends on its origin. Built once: a copy costs next to nothing. */
  readonly headers: Headers;
  /** Template of the route that made it. */
  readonly route: string;
}

/** Bodies in every coding and URLs together; the cache is emptied when it is full. */
const MAX_BYTES = 16 * 1024 * 1024;
/** What an entry takes beside its body and its URL, roughly. */
const ENTRY_BYTES = 512;
/** URLs that are remembered as requested before; a power of two. */
const REQUESTED_URLS = 16_384;

/** The generation of responses that are not stored. */
export const NOT_CACHED = 0;

/**
 * Responses by URL, valid until the index or the second changes. Every commit to the index, whoever makes it, ends all
 * entries, so a cached response is the one that would be made anew. Only routes that declare `cache: "shared"` store.
 */
export class ResponseCache {
  readonly #responses = new Map<string, CachedResponse>();
  /** Digests of requested URLs, each in the slot that it hashes to, until another URL takes the slot. */
  readonly #requested = new Uint32Array(REQUESTED_URLS);
  readonly #dataVersion: () => number;
  readonly #clock: Clock;
  #version = Number.NaN;
  #second = Number.NaN;
  #generation = NOT_CACHED + 1;
  #bytes = 0;

  /** @param dataVersion a number that changes with each commit to the data that responses show */
  constructor(options: { readonly dataVersion: () => number; readonly clock: Clock }) {
    this.#dataVersion = options.dataVersion;
    this.#clock = options.clock;
  }

  /**
   * The response to a URL, or the generation that a response made from now on belongs to. `NOT_CACHED` for a URL that
   * nobody requested before: most come once, and to store what nobody requests again costs more than to make a small
   * response.
   */
  lookUp(url: string): CachedResponse | number {
    const digest = Bun.hash.crc32(url);
    const slot = digest & (REQUESTED_URLS - 1);
    if (this.#requested[slot] !== digest) {
      this.#requested[slot] = digest;
      return NOT_CACHED;
    }
    this.#expire();
    return this.#responses.get(url) ?? this.#generation;
  }

  /** Stores a response whose making began in a generation that `lookUp` returned, unless that has ended. */
  store(url: string, response: CachedResponse, generation: number): void {
    if (generation !== this.#generation) return;
    const bytes = response.body.byteLength + codedSize(response) + url.length + ENTRY_BYTES;
    if (bytes > MAX_BYTES) return;
    if (this.#bytes + bytes > MAX_BYTES) this.clear();
    this.#bytes += bytes;
    this.#responses.set(url, response);
  }

  /** Calls `send` with a stored response, and counts the codings that it has got by that. */
  use<T>(response: CachedResponse, send: (response: CachedResponse) => T): T {
    const codings = response.coded.size;
    const before = codedSize(response);
    const result = send(response);
    if (response.coded.size !== codings) {
      this.#bytes += codedSize(response) - before;
      if (this.#bytes > MAX_BYTES) this.clear();
    }
    return result;
  }

  #expire(): void {
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
    this.#responses.clear();
  }
}

function codedSize({ coded }: TaggedBody): number {
  let bytes = 0;
  for (const { byteLength } of coded.values()) bytes += byteLength;
  return bytes;
}
