import type { SpooledPart } from "../../../db/index/bulk/spool-tables.ts";
import type { OpaqueAt } from "../../../db/index/trie/opaque.ts";
import type { RelayedOp } from "../../../ingest/relayed-op.ts";
import { packBytes } from "../../../lib/bytes.ts";
import type { SnapshotEntry, SnapshotPage } from "../../../protocol/wire/generated/snapshot.ts";
import {
  accountToken,
  decodePageToken,
  encodePageToken,
  KEYS_NIBBLE,
  type PageToken,
  restOfAccount,
  tokenAfter,
  tokensBetween,
} from "../../../trust/page-token.ts";
import { type PageRefusal, refusalOfUnsigned, SnapshotPages } from "../../../trust/snapshot-page.ts";
import type { OpaqueChild } from "../../../trust/trie/trie.ts";
import { accountPrefix, fidOfKey } from "../../../trust/trie-key.ts";
import type { UpstreamClient } from "../../calls/client.ts";
import { readChildren, unreadKeys } from "../../calls/trie-nodes.ts";
import { MAX_BYTES_OF_FID, type Portion } from "../spool-batcher.ts";
import { type EntryDeps, isHome, isKeyMessage, RefusedPageError, verifyEntries } from "./account-records.ts";
import type { ListedFids } from "./listed-fids.ts";
import { type PageCallDeps, type PageFault, readPage } from "./page-calls.ts";

/** Dependencies for reading virtual shards. */
export interface PartDeps extends EntryDeps, PageCallDeps {
  readonly client: PageCallDeps["client"] & Pick<UpstreamClient, "trieChildren" | "onChainEvents">;
  readonly listed: ListedFids;
  /** Returns the operations that store the gasless keys of an fid. */
  readonly readKeys: (fid: number) => Promise<readonly RelayedOp[]>;
  /** Writes complete accounts. Resolves when there is room for more. */
  readonly write: (portion: Portion) => Promise<void>;
  /** Counts the keys that were read for a shard. Returns whether its snapshots may have this many. */
  readonly mayHave: (shard: number, keys: number) => boolean;
  /** Whether to store the keys of the trie, because its root will be compared with signed ones. */
  readonly keepsKeys: boolean;
}

/**
 * Reads a virtual shard of a snapshot from the position of `part`. Complete accounts are written, each with the position
 * after it. Returns the position that was reached, which is not the end if the node no longer has the snapshot.
 *
 * @throws RefusedPageError for a page that is not of the network's state.
 */
export async function readPart(deps: PartDeps, part: SpooledPart): Promise<SpooledPart> {
  /** Accounts that snapshots do not provide. They are read by other calls. */
  const left = new Set<number>();
  const withKeys = new Set<number>();
  for (let from = part; ; ) {
    const { outcome, reached } = await new PartReading(deps, from, left, withKeys).run();
    if (outcome !== "again") return reached;
    from = reached;
  }
}

/** `again`: from now on some accounts are left out, or the token is. */
type Outcome = "done" | "gone" | "again";

/** A page to read. */
interface Step {
  readonly token: string | undefined;
  /** The token that leads to the page after a restart; undefined if it is the page's own. */
  readonly resume?: string | null;
}

class PartReading {
  readonly #deps: PartDeps;
  readonly #part: SpooledPart;
  readonly #left: Set<number>;
  /** The accounts among these for which `unreadKeys` was called. */
  readonly #withKeys: Set<number>;
  readonly #pages: SnapshotPages;
  /** In the order of the keys. */
  readonly #steps: Step[];
  /** Accounts that are read by pages of their own. */
  readonly #around = new Map<number, OpaqueChild>();
  /** Accounts that were left out, between what precedes and what follows them. */
  readonly #passed = new Set<number>();
  readonly #todo: number[] = [];
  /** Entries of the account whose end has not been read yet. */
  #entries: SnapshotEntry[] = [];
  #bytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #reached: SpooledPart;

  constructor(deps: PartDeps, part: SpooledPart, left: Set<number>, withKeys: Set<number>) {
    this.#deps = deps;
    this.#part = part;
    this.#left = left;
    this.#withKeys = withKeys;
    this.#reached = part;
    this.#steps = [{ token: part.token ?? undefined }];
    const isSkipped = (fid: number) => fid <= part.fid || left.has(fid);
    this.#pages = new SnapshotPages(part.virtualShard, { isSkipped, checkRecord: refusalOfUnsigned });
  }

  async run(): Promise<{ readonly outcome: Outcome; readonly reached: SpooledPart }> {
    try {
      const outcome = await this.#read();
      await this.#writing;
      return { outcome, reached: this.#reached };
    } finally {
      // Nothing may be written after this has ended.
      await this.#writing.catch(() => {});
    }
  }

  async #read(): Promise<Outcome> {
    for (let step = this.#steps.shift(); step; step = this.#steps.shift()) {
      const page = await readPage(this.#deps, { ...this.#part, token: step.token });
      if ("kind" in page) {
        const outcome = await this.#goAround(page, step);
        if (outcome) return outcome;
        continue;
      }
      const outcome = await this.#accept(page, resumeOf(step));
      if (outcome) return outcome;
      if (page.nextPageToken) this.#steps.unshift({ ...step, token: page.nextPageToken });
    }
    const ended = this.#pages.end();
    if (!ended.ok) return this.#refuse(ended.error);
    await this.#write(
      ended.value.map(({ prefix }) => fidOfKey(prefix)),
      { token: null, isDone: true },
    );
    return "done";
  }

  async #accept(page: SnapshotPage, resume: string | null): Promise<Outcome | undefined> {
    const accepted = this.#pages.accept(page);
    if (!accepted.ok) return this.#refuse(accepted.error);
    for (const entry of page.entries) {
      const fid = fidOfKey(entry.key);
      if (fid <= this.#part.fid || this.#left.has(fid)) continue;
      this.#entries.push(entry);
      this.#bytes += bytesOf(entry);
    }
    const ended = accepted.value.map(({ prefix }) => fidOfKey(prefix));
    // The unfinished account starts on this page.
    if (ended.length > 0) await this.#write(ended, { token: resume, isDone: false });
    const [first] = this.#entries;
    if (this.#bytes <= MAX_BYTES_OF_FID || !first) return undefined;
    this.#leave(fidOfKey(first.key));
    return "again";
  }

  /**
   * Handles a refusal. An account that was read around its keys has another root if they have changed since the snapshot.
   */
  #refuse(code: PageRefusal): Outcome {
    const fid = this.#entries[0] && fidOfKey(this.#entries[0].key);
    if (code !== "account_root" || fid === undefined || !this.#around.has(fid))
      throw new RefusedPageError(this.#part.shard, this.#part.virtualShard, code);
    this.#leave(fid);
    return "again";
  }

  #leave(fid: number): void {
    this.#left.add(fid);
  }

  /** Writes the completed accounts while the next page is being read. */
  async #write(ended: readonly number[], place: Pick<SpooledPart, "token" | "isDone">): Promise<void> {
    const last = ended.at(-1) ?? this.#reached.fid;
    const cut = this.#entries.findIndex(({ key }) => fidOfKey(key) > last);
    const entries = cut < 0 ? this.#entries : this.#entries.slice(0, cut);
    this.#entries = cut < 0 ? [] : this.#entries.slice(cut);
    this.#bytes = this.#entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
    const { shard, virtualShard, height } = this.#part;
    const reached = { shard, virtualShard, height, fid: last, ...place };
    await this.#writing;
    this.#writing = this.#writeAccounts(entries, ended, reached);
    this.#writing.catch(() => {});
  }

  async #writeAccounts(
    entries: readonly SnapshotEntry[],
    ended: readonly number[],
    reached: SpooledPart,
  ): Promise<void> {
    const { rules, readKeys, write, keepsKeys, mayHave } = this.#deps;
    const { shard, virtualShard } = this.#part;
    if (!mayHave(shard, entries.length)) throw new RefusedPageError(shard, virtualShard, "too_many_keys");
    const { ops, messages, ...trie } = await verifyEntries(this.#deps, this.#part, entries);
    const own = ended.filter((fid) => isHome(rules, shard, fid));
    const withKeys = new Set(entries.filter(isKeyMessage).map(({ key }) => fidOfKey(key)));
    const keys: RelayedOp[] = [];
    for (const fid of own)
      if (withKeys.has(fid) || this.#around.has(fid)) keys.push(...(await readKeys(fid)));
    const todo = [...this.#left, ...this.#todo.splice(0)];
    if (keepsKeys) trie.keys.push(...(await this.#unreadKeys(todo)));
    await write({
      ops: [...ops, ...keys],
      messages,
      spooledFids: own,
      spooledParts: [reached],
      snapshotKeys: keepsKeys
        ? [{ shard, keys: packBytes(trie.keys), keyAdds: trie.keyAdds, opaque: this.#opaqueOf(ended) }]
        : [],
      todo,
    });
    this.#reached = reached;
  }

  /** Returns keys of accounts that are read by other calls, except those that these calls return. */
  async #unreadKeys(fids: readonly number[]): Promise<Uint8Array[]> {
    const { client, rules } = this.#deps;
    const keys: Uint8Array[] = [];
    for (const fid of fids) {
      if (this.#withKeys.has(fid) || !isHome(rules, this.#part.shard, fid)) continue;
      this.#withKeys.add(fid);
      keys.push(...(await unreadKeys(client, fid)));
    }
    return keys;
  }

  #opaqueOf(fids: readonly number[]): OpaqueAt[] {
    return fids.flatMap((fid) => {
      const child = this.#around.get(fid);
      return child ? [{ shard: this.#part.shard, account: accountPrefix(fid), ...child }] : [];
    });
  }

  /** Replaces a page that cannot be read by what precedes and follows the account that makes it fail. */
  async #goAround(fault: PageFault, step: Step): Promise<Outcome | undefined> {
    const { listed, client } = this.#deps;
    const { shard, virtualShard } = this.#part;
    if (fault.kind === "gone") return "gone";
    if (fault.kind === "refused" && this.#part.token !== null && step.token === this.#part.token) {
      this.#reached = { ...this.#reached, token: null };
      return "again";
    }
    const fids = await listed.of(shard, virtualShard);
    const place = step.token === undefined ? undefined : decodePageToken(step.token);
    const isKnown = fault.kind === "unreadable" && fids.includes(fault.fid) && fault.fid > this.#part.fid;
    if (!isKnown || (step.token !== undefined && !place)) return this.#leaveRest(fids);
    const { fid } = fault;
    if (this.#around.has(fid)) {
      this.#leave(fid);
      return "again";
    }
    if (this.#left.has(fid)) {
      // No page requested since then contains the account, whatever the node says.
      if (this.#passed.has(fid)) return this.#leaveRest(fids);
      this.#passed.add(fid);
    }
    const around: PageToken[] = tokensBetween(place, fid, fids);
    if (!this.#left.has(fid)) {
      const children = await readChildren(client, shard, accountPrefix(fid));
      const nibbles = children.map(({ nibble }) => nibble);
      const child = children[nibbles.indexOf(KEYS_NIBBLE)];
      if (child) {
        this.#pages.expectOpaque(fid, child);
        const known = nibbles.filter((nibble) => nibble !== KEYS_NIBBLE);
        around.push(restOfAccount(place, fid) ?? accountToken(fid, known));
        this.#around.set(fid, child);
      } else {
        this.#leave(fid);
        return "again";
      }
    }
    const resume = resumeOf(step);
    this.#steps.unshift(
      ...around.filter(leadsOn).map((token) => ({ token: encodePageToken(token), resume })),
      ...[tokenAfter(fid, fids)].filter(leadsOn).map((token) => ({ token: encodePageToken(token) })),
    );
    return undefined;
  }

  /** Leaves the accounts that have not been written to other calls, and ends. */
  async #leaveRest(fids: readonly number[]): Promise<Outcome> {
    await this.#writing;
    this.#entries = [];
    this.#todo.push(...fids.filter((fid) => fid > this.#reached.fid));
    await this.#write([], { token: null, isDone: true });
    return "done";
  }
}

function bytesOf({ key, message, onChainEvent, fnameTransfer }: SnapshotEntry): number {
  const record = message ?? onChainEvent ?? fnameTransfer?.proof;
  return key.length + (record?.length ?? 0);
}

function resumeOf({ token, resume }: Step): string | null {
  return resume === undefined ? (token ?? null) : resume;
}

function leadsOn({ levels }: PageToken): boolean {
  return levels.some((level) => level.length > 0);
}
