import { KeptKind, type KindKeys } from "../../trust/trie/kept-kind.ts";
import type { KindRoot } from "../../trust/trie/trie.ts";
import type { ChangedKind } from "./key-changes.ts";

const MAX_BYTES = 32 * 2 ** 20;
/** After this time, a root is computed from the rows again, so that rows lost by the disk are detected. */
const MAX_AGE_SECS = 3600;

interface Kept {
  readonly keys: KeptKind;
  /** The root of the keys, with their number. */
  of: Omit<KindRoot, "kind">;
  readonly readAtSecs: number;
}

/**
 * Keeps the keys of recently changed kinds in memory. Active accounts change again, and their rows need not be read for the
 * next root. Kept keys are used only if the index still has the root that they gave, so they are never ahead of a
 * rolled-back transaction, and never miss one that changed rows in another way.
 */
export class KeptKinds {
  /** In the order of their last use. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;
  readonly #maxBytes: number;
  readonly #maxBytesEach: number;

  /** @param maxBytes memory of all keys together; those of one kind may take an eighth. */
  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
    this.#maxBytesEach = maxBytes / 8;
  }

  /** Keeps the keys of a kind as read from the rows. */
  keep(changed: ChangedKind, keys: KindKeys, of: KindRoot, nowSecs: number): void {
    this.#drop(nameOf(changed));
    this.#put(nameOf(changed), { keys: new KeptKind(keys), of, readAtSecs: nowSecs });
  }

  /**
   * Applies the changes of a kind to its keys. Returns its new root, with no keys if all were removed; undefined if the keys
   * are not kept, or if they are older than an hour and `mayRead` is set.
   */
  apply(
    changed: ChangedKind,
    before: KindRoot | undefined,
    nowSecs: number,
    mayRead: () => boolean,
  ): Omit<KindRoot, "kind"> | "empty" | undefined {
    const name = nameOf(changed);
    const kept = this.#kept.get(name);
    if (!kept) return undefined;
    this.#drop(name);
    if (!changed.keys || !isSame(kept.of, before)) return undefined;
    if (nowSecs - kept.readAtSecs > MAX_AGE_SECS && mayRead()) return undefined;
    for (const { rest, isPresent } of changed.keys) kept.keys.set(rest, isPresent);
    const of = kept.keys.root();
    if (!of) return "empty";
    kept.of = of;
    this.#put(name, kept);
    return of;
  }

  #put(name: string, kept: Kept): void {
    if (kept.keys.size > this.#maxBytesEach || kept.keys.isOutgrown) return;
    this.#kept.set(name, kept);
    this.#bytes += kept.keys.size;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    const kept = this.#kept.get(name);
    if (!kept) return;
    this.#kept.delete(name);
    this.#bytes -= kept.keys.size;
  }
}

function isSame(kept: Kept["of"], stored: KindRoot | undefined): boolean {
  return stored !== undefined && kept.keys === stored.keys && Buffer.compare(kept.root, stored.root) === 0;
}

function nameOf({ shard, account, kind }: ChangedKind): string {
  return `${shard} ${account.toHex()} ${kind}`;
}
