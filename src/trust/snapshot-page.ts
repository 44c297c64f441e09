import { err, ok, type Result } from "../lib/result.ts";
import { messageHash } from "../protocol/message/message-hash.ts";
import { decodeMessage, type SignedMessage } from "../protocol/message/signed-message.ts";
import { verifyEd25519 } from "../protocol/validate/ed25519.ts";
import type { SnapshotEntry, SnapshotPage } from "../protocol/wire/generated/snapshot.ts";
import { isEqual } from "./certificate.ts";
import { type AccountRoot, AccountTrie, type OpaqueChild } from "./trie/trie.ts";
import {
  ACCOUNT_BYTES,
  fidOfKey,
  fnameKey,
  keysOfSigned,
  MESSAGE_KEY_BYTES,
  onChainKey,
  type TrieKey,
} from "./trie-key.ts";

/** Why a page is refused. */
export type PageRefusal =
  | "too_many_entries"
  /** Keys are not ascending, or not above those of the previous page. */
  | "order"
  | "other_virtual_shard"
  /** The page is empty but not the last one. */
  | "no_progress"
  /** The entry has no record, or one that cannot have a key. */
  | "no_message"
  /** The record does not belong to this key. */
  | "key_mismatch"
  | "bad_message"
  /** An account does not have the root or the number of keys that the page states. */
  | "account_root"
  /** The snapshot has more keys than its node announced. */
  | "too_many_keys";

const MAX_ENTRIES = 1000;

/**
 * Verifies the pages of one virtual shard of a snapshot, in order. An account is complete when the next one starts, or the
 * pages end. A complete account is proven only once the roots of all accounts combine to the root that the validators
 * signed.
 */
export class SnapshotPages {
  readonly #virtualShard: number;
  readonly #isSkipped: (fid: number) => boolean;
  readonly #refusalOfRecord: typeof refusalOfRecord;
  readonly #trie = new AccountTrie();
  #last: TrieKey | undefined;
  readonly #opaque = new Map<number, OpaqueChild>();
  #claimed: { readonly root: Uint8Array; readonly keys: number } | undefined;
  /** Number of keys of the unfinished account. */
  #keys = 0;

  /**
   * @param options.isSkipped reports which accounts' keys are ignored. Default: none.
   * @param options.checkRecord checks the record of an entry against its key. Default: all of it, including the signature of
   * a message.
   */
  constructor(
    virtualShard: number,
    { isSkipped = (_fid: number): boolean => false, checkRecord = refusalOfRecord } = {},
  ) {
    this.#virtualShard = virtualShard;
    this.#isSkipped = isSkipped;
    this.#refusalOfRecord = checkRecord;
  }

  /** Declares that no page will have the keys of a child of an account. */
  expectOpaque(fid: number, child: OpaqueChild): void {
    this.#opaque.set(fid, child);
  }

  /** Verifies a page. Returns the accounts that it completes. */
  accept({ entries, accounts, nextPageToken }: SnapshotPage): Result<readonly AccountRoot[], PageRefusal> {
    if (entries.length > MAX_ENTRIES) return err("too_many_entries");
    if (entries.length === 0 && nextPageToken) return err("no_progress");
    const claims = new Map(accounts.map((account) => [account.fid, account]));
    const complete: AccountRoot[] = [];
    for (const entry of entries) {
      const refusal = this.#refusalOf(entry);
      if (refusal) return err(refusal);
      if (this.#last && fidOfKey(this.#last) !== fidOfKey(entry.key)) {
        const account = this.#complete();
        if (!account.ok) return account;
        complete.push(...account.value);
      }
      this.#last = entry.key;
      if (this.#isSkipped(fidOfKey(entry.key))) continue;
      const claimed = claims.get(fidOfKey(entry.key));
      // The first page of an account binds the others, so that an account must end.
      if (claimed && this.#claimed && claimed.keys !== this.#claimed.keys) return err("account_root");
      this.#claimed ??= claimed;
      this.#keys += 1;
      if (this.#claimed && this.#keys > this.#claimed.keys) return err("account_root");
      this.#trie.add(entry.key);
    }
    return ok(complete);
  }

  /** Returns the last account, after the last page. */
  end(): Result<readonly AccountRoot[], PageRefusal> {
    return this.#complete();
  }

  #refusalOf(entry: SnapshotEntry): PageRefusal | undefined {
    const { key } = entry;
    if (this.#last && Buffer.compare(key, this.#last) <= 0) return "order";
    if (key[0] !== this.#virtualShard) return "other_virtual_shard";
    return this.#refusalOfRecord(entry);
  }

  #complete(): Result<readonly AccountRoot[], PageRefusal> {
    if (!this.#last) return ok([]);
    const opaque = this.#opaque.get(fidOfKey(this.#last));
    const computed = this.#trie.root(opaque && [opaque]);
    if (!computed) return ok([]);
    const { root, keys } = computed;
    const claimed = this.#claimed;
    if (!claimed || claimed.keys !== keys || !isEqual(claimed.root, root)) return err("account_root");
    this.#trie.clear();
    this.#claimed = undefined;
    this.#keys = 0;
    return ok([{ prefix: this.#last.slice(0, ACCOUNT_BYTES), root, keys }]);
  }
}

/** Verifies that the record of an entry has its key, and that a message is signed. */
export function refusalOfRecord(entry: SnapshotEntry): PageRefusal | undefined {
  const keys = keysOf(entry);
  if (typeof keys === "string") return keys;
  return keys.some((one) => isEqual(one, entry.key)) ? undefined : "key_mismatch";
}

/** Verifies as much of an entry's record as possible without hashing, because messages are verified elsewhere. */
export function refusalOfUnsigned(entry: SnapshotEntry): PageRefusal | undefined {
  if (!entry.message) return refusalOfRecord(entry);
  return entry.key.length === MESSAGE_KEY_BYTES ? undefined : "key_mismatch";
}

/** Returns the keys of a record; a lend has two. */
function keysOf({ message, onChainEvent, fnameTransfer }: SnapshotEntry): TrieKey[] | PageRefusal {
  if (message) return keysOfBytes(message);
  const key = onChainEvent ? onChainKey(onChainEvent) : fnameTransfer && fnameKey(fnameTransfer.proof);
  return key ? [key] : "no_message";
}

function keysOfBytes(bytes: Uint8Array): TrieKey[] | PageRefusal {
  const message = decodeMessage(bytes);
  return message.ok && isSigned(message.value) ? keysOfSigned(message.value) : "bad_message";
}

/** Reports whether a message has the hash of its data, and its signer's signature. */
export function isSigned({ dataBytes, hash, signer, signature }: SignedMessage): boolean {
  return isEqual(hash, messageHash(dataBytes)) && verifyEd25519(signer, hash, signature);
}
