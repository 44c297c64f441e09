import { lastInvalidationSeq, readInvalidations } from "../../db/index/cache-invalidations.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import type { CommitSequence } from "../../db/index/log/commit-sequence.ts";
import { GenerationCache } from "../../lib/generation-cache.ts";
import { type Hash, loadCasts, loadCastsByHash, type StoredCast } from "./casts.ts";
import type { StoredChannel } from "./channels.ts";
import type { PersonText } from "./person-text.ts";
import type { ViewerTies } from "./relations.ts";
import type { ScorePolicy, UserState } from "./users.ts";

/**
 * Version numbers are unique across all caches of the thread, because a caller may present one of its own states with two of
 * them.
 */
let lastVersion = 0;

const MAX_USERS = 5_000;
const MAX_CASTS = 5_000;
const MAX_CHANNELS = 2_000;
/** A generation has room for everyone that one search reads: at most 7,000 people of 400 bytes each. */
const MAX_PEOPLE = 20_000;
/** Counts the lists and the replies in them. */
const MAX_REPLIES = 20_000;
/** Counts viewers and their ties. */
const MAX_TIES = 40_000;

/**
 * Caches object states as of the snapshot in which `sync` was last called. Each connection has one cache. Each read syncs it
 * first, within its own snapshot, so that a response never shows a state that a commit has replaced.
 */
export class HydrationCache {
  readonly users = new GenerationCache<number, UserState>(MAX_USERS / 2);
  /** The words of people as a search compares them. */
  readonly people = new GenerationCache<number, PersonText>(MAX_PEOPLE / 2);
  /** By id, because commits name the casts that they change by id. */
  readonly #casts = new GenerationCache<number, StoredCast>(MAX_CASTS / 2);
  /** The same states by hash. A state that is no longer in `#casts` may be outdated. */
  readonly #castsByHash = new GenerationCache<Hash, StoredCast>(MAX_CASTS / 2);
  readonly channels = new GenerationCache<string, StoredChannel>(MAX_CHANNELS / 2);
  /**
   * The ids of the oldest direct replies to casts. Adding or removing a reply changes the counts of the cast, which
   * invalidates it.
   */
  readonly replies = new GenerationCache<number, readonly number[]>(
    MAX_REPLIES / 2,
    (list) => 1 + list.length,
  );
  /** Links that hide accounts from viewers. A commit that changes such a link names both accounts. */
  readonly ties = new GenerationCache<number, ViewerTies>(MAX_TIES / 2, ({ byFid }) =>
    byFid === "many" ? 1 : 1 + byFid.size,
  );
  /** Number of the last commit that the cache reflects. */
  #seq: number | undefined;
  readonly #commits: CommitSequence | undefined;
  /** Number of the same commit in shared memory; undefined if it is not known. */
  #commit: number | undefined;
  #version = 0;
  #versionSecs: number | undefined;
  /** Policy of the scores that the users have; undefined while scores are off. */
  readonly scores: ScorePolicy | undefined;

  /** @param commits the writer's, if it is a thread of this process. */
  constructor(commits?: CommitSequence, scores?: ScorePolicy) {
    this.#commits = commits;
    this.scores = scores;
  }

  /**
   * Reports whether no commit became visible since the last `sync`. If it is true before and after some statements, they and
   * the cache show the same state.
   */
  isCurrent(): boolean {
    return this.#commit !== undefined && this.#commits?.read() === this.#commit;
  }

  /** Drops the states that commits changed since the last call. Call it within the snapshot of the read. */
  sync(db: IndexDatabase): void {
    this.#versionSecs = undefined;
    const before = this.#commits?.read();
    this.#sync(db);
    // The snapshot is open by now. If there was no commit in between, it shows the commit with this number.
    this.#commit = before === this.#commits?.read() ? before : undefined;
  }

  /**
   * Returns a number that identifies what the index shows at a time. Two reads get the same number only if there was no
   * `sync` between them and both are in the same second, so that nothing has changed or expired.
   */
  versionAt(nowSecs: number): number {
    if (nowSecs !== this.#versionSecs) {
      lastVersion += 1;
      this.#version = lastVersion;
      this.#versionSecs = nowSecs;
    }
    return this.#version;
  }

  #sync(db: IndexDatabase): void {
    if (this.#seq === undefined) {
      // The cache is empty, so the lists of earlier changes, which may be long, need not be read.
      this.#seq = lastInvalidationSeq(db);
      return;
    }
    const changes = readInvalidations(db, this.#seq);
    if (!changes) return;
    this.#seq = changes.seq;
    if (changes.everything) {
      this.clear();
      return;
    }
    for (const fid of changes.fids) {
      this.users.delete(fid);
      this.people.delete(fid);
      this.ties.delete(fid);
    }
    for (const id of changes.castIds) {
      this.#casts.delete(id);
      this.replies.delete(id);
    }
    for (const id of changes.channelIds) this.channels.delete(id);
  }

  /** Drops all states. */
  clear(): void {
    this.users.clear();
    this.people.clear();
    this.#casts.clear();
    this.#castsByHash.clear();
    this.channels.clear();
    this.replies.clear();
    this.ties.clear();
  }

  /** Returns the live casts among `ids` by id. Loads those that are not cached. */
  castsById(db: IndexDatabase, ids: Iterable<number>): Map<number, StoredCast> {
    const found = new Map<number, StoredCast>();
    let missing: Set<number> | undefined;
    for (const id of ids) {
      const cast = this.#casts.get(id);
      if (cast !== undefined) found.set(id, cast);
      else {
        missing ??= new Set();
        missing.add(id);
      }
    }
    if (!missing) return found;
    for (const cast of loadCasts(db, [...missing])) {
      found.set(cast.id, cast);
      this.#addCast(cast);
    }
    return found;
  }

  /** Returns the live casts among `hashes` by hash. Loads those that are not cached. */
  castsByHash(db: IndexDatabase, hashes: Iterable<Hash>): Map<Hash, StoredCast> {
    const found = new Map<Hash, StoredCast>();
    let missing: Set<Hash> | undefined;
    for (const hash of hashes) {
      const cast = this.#castsByHash.get(hash);
      if (cast !== undefined && this.#casts.get(cast.id) === cast) found.set(hash, cast);
      else {
        missing ??= new Set();
        missing.add(hash);
      }
    }
    if (!missing) return found;
    for (const loaded of loadCastsByHash(db, [...missing])) {
      // Presenters memoize what they build from a state, so a state that is cached by id must be kept.
      const cast = this.#casts.get(loaded.id) ?? loaded;
      found.set(cast.hash, cast);
      this.#addCast(cast);
    }
    return found;
  }

  #addCast(cast: StoredCast): void {
    this.#casts.set(cast.id, cast);
    this.#castsByHash.set(cast.hash, cast);
  }
}

/** Returns the states of `keys` from `cache`, loading and caching those that are missing. */
export function readThrough<Key extends string | number, State extends object>(
  cache: GenerationCache<Key, State>,
  keys: Iterable<Key>,
  load: (missing: readonly Key[]) => Iterable<readonly [Key, State]>,
): Map<Key, State> {
  const found = new Map<Key, State>();
  let missing: Set<Key> | undefined;
  for (const key of keys) {
    const state = cache.get(key);
    if (state !== undefined) found.set(key, state);
    else {
      missing ??= new Set();
      missing.add(key);
    }
  }
  if (!missing) return found;
  for (const [key, state] of load([...missing])) {
    found.set(key, state);
    cache.set(key, state);
  }
  return found;
}
