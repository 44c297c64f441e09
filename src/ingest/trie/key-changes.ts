import type { IndexDatabase } from "../../db/index/database.ts";
import { markDirty } from "../../db/index/trie/account-roots.ts";
import { correction, setCorrection } from "../../db/index/trie/corrections.ts";
import { isOnAllShards } from "../../db/index/trie/derived-keys.ts";
import { areKeysKnown } from "../../db/index/trie/known-keys.ts";
import { isOpaque, type OpaqueAt, putOpaque } from "../../db/index/trie/opaque.ts";
import type { SignedMessage } from "../../protocol/message/signed-message.ts";
import { shardOfFid } from "../../protocol/network/shard.ts";
import { MessageType } from "../../protocol/wire/generated/message.ts";
import { ACCOUNT_BYTES, fidOfKey, keysOfMessage, REST_START, type TrieKey } from "../../trust/trie-key.ts";

/** Effect of one transaction on a key of a shard. */
interface KeyChange {
  readonly shard: number;
  readonly key: TrieKey;
  /** Whether the rows produced it before the transaction; undefined if they have not changed. */
  wasDerived?: boolean;
  /** Whether the rows produce it now; undefined if no operation concerns it. */
  isDerived?: boolean;
  /** Whether the network's trie has it now; undefined if no event says so. */
  isPresent?: boolean;
}

/** Whether a trie has a key, by the part of the key after the kind. */
export interface KeyPresence {
  readonly rest: Uint8Array;
  readonly isPresent: boolean;
}

/** A kind of an account whose root has changed. */
export interface ChangedKind {
  readonly shard: number;
  readonly account: Uint8Array;
  readonly kind: number;
  /** The keys that were inserted or deleted; undefined if only the rows and corrections say which keys there are. */
  keys?: KeyPresence[] | undefined;
}

/** Messages whose keys no row produces, because proofs and gasless keys are stored without their messages. */
const NOT_DERIVED: ReadonlySet<number> = new Set([
  MessageType.MESSAGE_TYPE_USERNAME_PROOF,
  MessageType.MESSAGE_TYPE_KEY_ADD,
  MessageType.MESSAGE_TYPE_KEY_REMOVE,
]);

/**
 * Tracks the changes of the network's tries in one transaction, along with those of the rows that produce most keys. Where
 * the two differ at the end, a correction is stored. The trie of a shard changes only by events of that shard: what another
 * shard decides first changes the rows, and the correction applies until the events arrive.
 */
export class KeyChanges {
  readonly #db: IndexDatabase;
  readonly #changes = new Map<string, KeyChange>();
  readonly #kinds = new Map<string, ChangedKind>();
  #shards = 0;
  #isReadingState = false;
  #areKeysKnown = false;
  /** The account in a shard that is being made equal to the network's, if any. */
  #healed: Pick<ChangedKind, "shard" | "account"> | undefined;
  readonly #refreshed: OpaqueAt[] = [];

  constructor(db: IndexDatabase) {
    this.#db = db;
  }

  /** Starts tracking a transaction. `shards` is the number of data shards. */
  start(shards: number): void {
    this.#shards = shards;
    this.#areKeysKnown = areKeysKnown(this.#db);
  }

  /** Discards the changes of a transaction that was not committed. */
  clear(): void {
    this.#changes.clear();
    this.#kinds.clear();
    this.#refreshed.length = 0;
    this.#healed = undefined;
    this.#shards = 0;
  }

  /** Limits what is read from the state to one account in one shard: the rest of the tries stays as it is. */
  healing(healed: Pick<ChangedKind, "shard" | "account">): void {
    this.#healed = healed;
  }

  /** Whether the rows are followed. They are not in a node that does not verify blocks. */
  get isOn(): boolean {
    return this.#shards > 0;
  }

  /**
   * Runs an operation that stores a part of the upstream's state. From then on, the trie matches the rows.
   *
   * @param isKnown whether an index that knows all keys knows those of the records. The trie then stays as it was.
   */
  readingState(operation: () => void, isKnown: boolean): void {
    this.#isReadingState = !(isKnown && this.#areKeysKnown);
    try {
      operation();
    } finally {
      this.#isReadingState = false;
    }
  }

  /** Records that the network inserts a key into a shard's trie, or deletes it. */
  network(shard: number, key: TrieKey, isPresent: boolean): void {
    this.#changeOf(shard, key).isPresent = isPresent;
  }

  /** Records whether the rows have a message. `hasChanged` is false if an operation left them unchanged. */
  message({ data, hash }: SignedMessage, isStored: boolean, hasChanged: boolean): void {
    if (!this.isOn || NOT_DERIVED.has(data.type)) return;
    const toFid = data.body?.$case === "lendStorageBody" ? data.body.value.toFid : undefined;
    for (const key of keysOfMessage({ fid: data.fid, type: data.type, hash, toFid }))
      this.derived(key, isStored, hasChanged);
  }

  /** Records that the network deletes a message because of another one, which its event does not say. */
  compacted({ data, hash }: SignedMessage): void {
    for (const key of keysOfMessage({ fid: data.fid, type: data.type, hash }))
      this.network(this.#homeOf(key), key, false);
  }

  /** Records whether the rows produce a key, in each trie that has such keys. */
  derived(key: TrieKey | undefined, isDerived: boolean, hasChanged: boolean): void {
    if (!this.isOn || !key) return;
    if (!isOnAllShards(key[ACCOUNT_BYTES] as number))
      this.#derive(this.#homeOf(key), key, isDerived, hasChanged);
    else for (let shard = 1; shard <= this.#shards; shard++) this.#derive(shard, key, isDerived, hasChanged);
  }

  /** Records that an opaque child of an account was read again. */
  refreshed(child: OpaqueAt): void {
    this.#refreshed.push(child);
  }

  /** Writes the corrections, in the transaction. Returns what has changed. */
  flush(): ChangedKind[] {
    for (const change of this.#changes.values()) {
      this.#store(change);
      this.#addChange(change);
    }
    // Until an opaque child is read again, the root of its account is unknown, and that of the shard is not compared.
    for (const { shard, account, kind } of this.#kinds.values())
      if (isOpaque(this.#db, shard, account, kind)) markDirty(this.#db, shard, account, kind);
    for (const child of this.#refreshed) {
      putOpaque(this.#db, child);
      this.#addKind(child.shard, Buffer.concat([child.account, Uint8Array.of(child.nibble << 4)]));
    }
    const kinds = [...this.#kinds.values()];
    this.clear();
    return kinds;
  }

  /**
   * Adds a change of a shard's keys. The network says what it inserts and deletes: rows that change by themselves leave the
   * trie as it was.
   */
  #addChange({ shard, key, isPresent }: KeyChange): void {
    const { keys } = this.#kindOf(shard, key);
    if (isPresent !== undefined) keys?.push({ rest: key.slice(REST_START), isPresent });
  }

  #addKind(shard: number, key: TrieKey): void {
    this.#kindOf(shard, key).keys = undefined;
  }

  #kindOf(shard: number, key: TrieKey): ChangedKind {
    const account = key.slice(0, ACCOUNT_BYTES);
    const kind = key[ACCOUNT_BYTES] as number;
    const name = `${shard} ${account.toHex()} ${kind}`;
    return this.#kinds.getOrInsertComputed(name, () => ({ shard, account, kind, keys: [] }));
  }

  #store({ shard, key, wasDerived, isDerived, isPresent }: KeyChange): void {
    const stored = correction(this.#db, shard, key);
    const wanted = correctionOf({ stored, wasDerived, isDerived, isPresent });
    if (wanted !== stored) setCorrection(this.#db, shard, key, wanted);
  }

  #derive(shard: number, key: TrieKey, isDerived: boolean, hasChanged: boolean): void {
    if (this.#isReadingState && this.#isUnknown(shard, key)) {
      setCorrection(this.#db, shard, key, undefined);
      this.#changes.delete(nameOf(shard, key));
      this.#addKind(shard, key);
      return;
    }
    const change = this.#changeOf(shard, key);
    if (hasChanged) change.wasDerived ??= !isDerived;
    change.isDerived = isDerived;
  }

  #isUnknown(shard: number, key: TrieKey): boolean {
    if (!this.#healed) return true;
    const { account } = this.#healed;
    return shard === this.#healed.shard && Buffer.compare(key.subarray(0, ACCOUNT_BYTES), account) === 0;
  }

  #changeOf(shard: number, key: TrieKey): KeyChange {
    return this.#changes.getOrInsertComputed(nameOf(shard, key), () => ({ shard, key }));
  }

  #homeOf(key: TrieKey): number {
    return shardOfFid(fidOfKey(key), this.#shards);
  }
}

function nameOf(shard: number, key: TrieKey): string {
  return `${shard} ${key.toHex()}`;
}

interface KeyFacts extends Omit<KeyChange, "shard" | "key"> {
  /** The correction before the transaction. */
  readonly stored: boolean | undefined;
}

/** Returns whether to store the key as present or absent; undefined if the rows decide. */
function correctionOf({ stored, wasDerived, isDerived, isPresent }: KeyFacts): boolean | undefined {
  if (isPresent !== undefined) {
    // No operation concerns the rows: either they differed before, or they never produce such a key.
    const derives = isDerived ?? (stored === undefined ? false : !stored);
    return isPresent === derives ? undefined : isPresent;
  }
  // The rows have changed by themselves; the trie has not.
  const present = stored ?? wasDerived;
  return present === isDerived ? undefined : present;
}
