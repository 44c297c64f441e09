import { setImmediate } from "node:timers/promises";
import {
  decodeKinds,
  type StoredAccount,
  storedAccount,
  storedAccountsAfter,
} from "../../../db/index/trie/account-roots.ts";
import { opaqueChildren } from "../../../db/index/trie/opaque.ts";
import { type KindRoot, nodeHash } from "../../../trust/trie/trie.ts";
import { ACCOUNT_BYTES, fidOfKey, REST_START } from "../../../trust/trie-key.ts";
import { encodeFields } from "../wire-bytes.ts";
import { type KeyedRecord, recordsOfKind, type SnapshotSource } from "./account-entries.ts";
import { type KeyRange, PageWalk } from "./page-ranges.ts";

/** The reference node's limit. */
const MAX_ENTRIES = 1000;
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Larger kinds of an account must be read by other calls, because their keys have to be sorted in memory. */
const MAX_KIND_KEYS = 20_000;
const ACCOUNTS_PER_READ = 16;
/** A handmade token may name a thousand of them. */
const RANGES_PER_TURN = 8;
/** Maximum number of keys in lists of large kinds that are kept for later pages. */
const MAX_KEPT_KEYS = 40_000;
const KEEP_FROM_KEYS = 500;

/** A page of a snapshot in wire form, or why there is none. */
export type PageResult =
  | { readonly kind: "page"; readonly bytes: Uint8Array }
  /** The index lacks a record of this account. */
  | { readonly kind: "unreadable"; readonly fid: number }
  | { readonly kind: "bad_token" };

/** A child of a node of the trie. `prefix` has one byte per nibble. */
export interface NodeChild {
  readonly prefix: Uint8Array;
  readonly keys: number;
  readonly root: Uint8Array;
}

/** Reads pages of one snapshot of the index. */
export class SnapshotReader {
  readonly #source: SnapshotSource;
  /** Lists that several pages need, by shard, account and kind. */
  readonly #kept = new Map<string, readonly KeyedRecord[]>();
  #keptKeys = 0;
  /** The list that was read last, because the next range of a page may need it too. */
  #last: { readonly name: string; readonly records: readonly KeyedRecord[] } | undefined;

  /** @param source a connection within a read transaction, so that its state does not change. */
  constructor(source: SnapshotSource) {
    this.#source = source;
  }

  /** Reads a page. Other work of the thread gets a turn after every few accounts and ranges. */
  async page(shard: number, virtualShard: number, token: string | undefined): Promise<PageResult> {
    const walk = PageWalk.at(virtualShard, token);
    if (!walk) return { kind: "bad_token" };
    const page = new Page();
    for (const [at, range] of walk.ranges().entries()) {
      if (at > 0 && at % RANGES_PER_TURN === 0) await setImmediate();
      for await (const account of this.#accountsIn(shard, range)) {
        const end = this.#addAccount(page, shard, account, range);
        if (end === "unreadable") return { kind: "unreadable", fid: fidOfKey(account.account) };
        if (end === "full") return page.result(walk.tokenAfter(page.last));
      }
    }
    return page.result(undefined);
  }

  /** Returns the children of an account: the subtrees of kinds with the same high nibble. */
  accountChildren(shard: number, account: Uint8Array): NodeChild[] {
    const stored = storedAccount(this.#source.db, shard, account);
    if (!stored) return [];
    const path = [...account].flatMap((byte) => [byte >> 4, byte & 15]);
    const opaque = opaqueChildren(this.#source.db, shard, account);
    const known = Map.groupBy(decodeKinds(stored.kinds), ({ kind }) => kind >> 4);
    const children = [...known]
      .filter(([nibble]) => !opaque.some((child) => child.nibble === nibble))
      .map(([nibble, kinds]) => ({ nibble, ...childOf(kinds) }));
    return [...children, ...opaque]
      .toSorted((a, b) => a.nibble - b.nibble)
      .map(({ nibble, root, keys }) => ({ prefix: Uint8Array.from([...path, nibble]), keys, root }));
  }

  async *#accountsIn(shard: number, { from, to }: KeyRange): AsyncGenerator<StoredAccount> {
    let after = before(from.slice(0, ACCOUNT_BYTES));
    for (;;) {
      const accounts = storedAccountsAfter(this.#source.db, shard, after, ACCOUNTS_PER_READ);
      for (const account of accounts) {
        if (Buffer.compare(account.account, to.subarray(0, ACCOUNT_BYTES)) > 0) return;
        if (Buffer.compare(account.account, from.subarray(0, ACCOUNT_BYTES)) >= 0) yield account;
      }
      const last = accounts.at(-1);
      if (!last || accounts.length < ACCOUNTS_PER_READ) return;
      after = last.account;
      await setImmediate();
    }
  }

  #addAccount(
    page: Page,
    shard: number,
    stored: StoredAccount,
    range: KeyRange,
  ): "unreadable" | "full" | "read" {
    const { db } = this.#source;
    const kinds = decodeKinds(stored.kinds);
    const opaque = opaqueChildren(db, shard, stored.account);
    const account = {
      fid: fidOfKey(stored.account),
      root: stored.root,
      keys: [...kinds, ...opaque].reduce((sum, { keys }) => sum + keys, 0),
    };
    const isWanted = (kind: number) =>
      Buffer.compare(keyOfKind(stored.account, kind, 255), range.from) >= 0 &&
      Buffer.compare(keyOfKind(stored.account, kind, 0).subarray(0, REST_START), range.to) <= 0;
    if (opaque.some(({ nibble }) => isWanted(nibble << 4) || isWanted((nibble << 4) | 15)))
      return "unreadable";
    for (const kind of kinds) {
      if (!isWanted(kind.kind)) continue;
      const records = this.#recordsOf(shard, stored.account, kind);
      if (!records) return "unreadable";
      for (let at = firstFrom(records, range.from); at < records.length; at++) {
        const record = records[at] as KeyedRecord;
        if (Buffer.compare(record.key, range.to) > 0) break;
        if (page.isFull) return "full";
        page.add(record, account);
      }
    }
    return "read";
  }

  #recordsOf(
    shard: number,
    account: Uint8Array,
    { kind, keys }: KindRoot,
  ): readonly KeyedRecord[] | undefined {
    if (keys > MAX_KIND_KEYS) return undefined;
    const name = `${shard}:${kind}:${Buffer.from(account).toString("hex")}`;
    const kept = this.#kept.get(name) ?? (this.#last?.name === name ? this.#last.records : undefined);
    if (kept) return kept;
    const records = recordsOfKind(this.#source, shard, account, kind);
    if (records?.length !== keys) return undefined;
    this.#last = { name, records };
    if (keys >= KEEP_FROM_KEYS) this.#keep(name, records);
    return records;
  }

  #keep(name: string, records: readonly KeyedRecord[]): void {
    this.#kept.set(name, records);
    this.#keptKeys += records.length;
    for (const [oldest, list] of this.#kept) {
      if (this.#keptKeys <= MAX_KEPT_KEYS) return;
      this.#kept.delete(oldest);
      this.#keptKeys -= list.length;
    }
  }
}

class Page {
  readonly #parts: { readonly field: number; readonly bytes: Uint8Array }[] = [];
  readonly #accounts = new Map<number, Uint8Array>();
  #entries = 0;
  #bytes = 0;
  #last: Uint8Array = new Uint8Array();

  get isFull(): boolean {
    return this.#entries >= MAX_ENTRIES || this.#bytes >= MAX_PAGE_BYTES;
  }

  get last(): Uint8Array {
    return this.#last;
  }

  add(record: KeyedRecord, { fid, root, keys }: { fid: number; root: Uint8Array; keys: number }): void {
    const bytes = record.encode();
    this.#parts.push({ field: 1, bytes });
    this.#entries += 1;
    this.#bytes += bytes.byteLength;
    this.#last = record.key;
    if (!this.#accounts.has(fid))
      this.#accounts.set(
        fid,
        encodeFields([
          { field: 1, value: fid },
          { field: 2, bytes: root },
          { field: 3, value: keys },
        ]),
      );
  }

  result(nextToken: string | undefined): PageResult {
    const accounts = [...this.#accounts.values()].map((bytes) => ({ field: 2, bytes }));
    const token = nextToken === undefined ? [] : [{ field: 3, bytes: Buffer.from(nextToken) }];
    return {
      kind: "page",
      bytes: encodeFields([...this.#parts, ...accounts, ...token]),
    };
  }
}

/** Returns the index of the first record whose key is not below a given one. */
function firstFrom(records: readonly KeyedRecord[], from: Uint8Array): number {
  let [low, high] = [0, records.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Buffer.compare((records[middle] as KeyedRecord).key, from) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the node above the subtrees of kinds with one high nibble. */
function childOf(kinds: readonly KindRoot[]): { readonly root: Uint8Array; readonly keys: number } {
  return {
    root: nodeHash(kinds.map(({ root }) => root)),
    keys: kinds.reduce((sum, { keys }) => sum + keys, 0),
  };
}

/** Returns the smallest or the greatest key of a kind. */
function keyOfKind(account: Uint8Array, kind: number, fill: number): Uint8Array {
  const key = new Uint8Array(64).fill(fill);
  key.set(account);
  key[ACCOUNT_BYTES] = kind;
  return key;
}

/** Returns the greatest byte string of the same length below this one; empty if there is none. */
function before(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (let at = copy.length - 1; at >= 0; at--) {
    if ((copy[at] as number) > 0) {
      copy[at] = (copy[at] as number) - 1;
      return copy;
    }
    copy[at] = 255;
  }
  return new Uint8Array();
}
