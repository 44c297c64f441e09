import { lastInvalidationSeq, readInvalidations } from "../../db/index/cache-invalidations.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { GenerationCache } from "../../lib/generation-cache.ts";
import type { CastState, Hash, Reply } from "./casts.ts";
import type { ChannelState } from "./channels.ts";
import type { UserState } from "./users.ts";

const MAX_USERS = 10_000;
const MAX_CASTS = 10_000;
const MAX_CHANNELS = 2_000;
/** Of replies in lists, and of lists. */
const MAX_REPLIES = 20_000;

/**
 * States of objects as they stand in the snapshot that `sync` was last called in. One belongs to one connection; each
 * answer syncs it first, in its own snapshot, so that it never shows what a commit has changed since.
 */
export class HydrationCache {
  readonly users = new GenerationCache<number, UserState>(MAX_USERS / 2);
  readonly casts = new GenerationCache<Hash, CastState>(MAX_CASTS / 2);
  readonly channels = new GenerationCache<string, ChannelState>(MAX_CHANNELS / 2);
  /** The oldest direct replies of casts. Whatever comes or goes among them changes the counts of the cast. */
  readonly replies = new GenerationCache<Hash, readonly Reply[]>(MAX_REPLIES / 2, (list) => 1 + list.length);
  /** Number of the last commit that this has heard of. */
  #seq: number | undefined;

  /** Drops what was changed since the last call; within the snapshot that the answer is read in. */
  sync(db: IndexDatabase): void {
    if (this.#seq === undefined) {
      // Nothing is kept yet: the lists of what was changed before, which may be long, are of no use.
      this.#seq = lastInvalidationSeq(db);
      return;
    }
    const touched = readInvalidations(db, this.#seq);
    if (!touched) return;
    this.#seq = touched.seq;
    if (touched.everything) {
      this.users.clear();
      this.casts.clear();
      this.channels.clear();
      this.replies.clear();
      return;
    }
    for (const fid of touched.fids) this.users.delete(fid);
    for (const hex of touched.hashes) {
      const hash: Hash = `0x${hex}`;
      this.casts.delete(hash);
      this.replies.delete(hash);
    }
    for (const id of touched.channelIds) this.channels.delete(id);
  }
}

/** Takes what is kept out of `cache` and loads the rest, which is kept from then on. */
export function readThrough<Key, State extends object>(
  cache: GenerationCache<Key, State>,
  keys: Iterable<Key>,
  load: (missing: readonly Key[]) => Iterable<readonly [Key, State]>,
): Map<Key, State> {
  const found = new Map<Key, State>();
  const missing = new Set<Key>();
  for (const key of keys) {
    const state = cache.get(key);
    if (state !== undefined) found.set(key, state);
    else missing.add(key);
  }
  if (missing.size === 0) return found;
  for (const [key, state] of load([...missing])) {
    found.set(key, state);
    cache.set(key, state);
  }
  return found;
}
