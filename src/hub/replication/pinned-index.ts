import { shardCount } from "../../db/index/counts/totals.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { isAnyDirty } from "../../db/index/trie/account-roots.ts";
import { areRootsKept, shardProof } from "../../db/index/trie/shard-proofs.ts";
import { type ChainHead, chainHeadOf } from "../../db/index/upstream-work.ts";
import type { SignedChunk } from "../../protocol/wire/generated/certificate.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { SnapshotReader } from "../../read/hub/snapshot/snapshot-pages.ts";
import { UpstreamPositions } from "../../upstream/positions.ts";

/** How long one state is served. Meanwhile, the log of the index cannot be written back. */
const MAX_AGE_MS = 1_800_000;
/** Without a call for this long, the state is released. */
const MAX_IDLE_MS = 120_000;
/** Pause between two states, so that the log can be written back. */
const PAUSE_MS = 60_000;
/** A longer log ends the state. */
const MAX_LOG_BYTES = 1024 * 1024 * 1024;
const LOOK_MS = 10_000;
/** Number of tries to prove the state, between commits that change it. */
const MAX_TRIES = 20;
const TRY_MS = 100;

/** One state of the index, whose root in each data shard the validators signed. */
export interface PinnedState {
  readonly heads: ReadonlyMap<number, ChainHead>;
  /** The block of each head, with its certificate. */
  readonly chunks: ReadonlyMap<number, SignedChunk>;
  readonly reader: SnapshotReader;
}

export interface PinDeps {
  /** Opens a separate connection. */
  readonly open: () => IndexDatabase;
  readonly network: FarcasterNetwork;
  /** Reads a block from the followed node. */
  readonly chunkOf: (shard: number, height: number) => Promise<SignedChunk | undefined>;
  /** Returns the size of the index's log in bytes. */
  readonly logBytes: () => number;
  readonly onFault: (cause: unknown) => void;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
  readonly waitMs?: (ms: number) => Promise<void>;
}

interface Pin {
  readonly db: IndexDatabase;
  readonly state: PinnedState;
  readonly sinceMs: number;
  usedAtMs: number;
  users: number;
}

/**
 * Keeps one proven state of the index for readers of snapshots, in a read transaction. It is created on request, and ends by
 * age, without calls, or when it lets the log of the index grow; readers then continue with the next one.
 */
export class PinnedIndex {
  readonly #deps: PinDeps;
  readonly #nowMs: () => number;
  readonly #timer: ReturnType<typeof setInterval>;
  #pin: Pin | undefined;
  #pinning: Promise<Pin | undefined> | undefined;
  #endedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(deps: PinDeps) {
    this.#deps = deps;
    this.#nowMs = deps.nowMs ?? (() => performance.now());
    this.#timer = setInterval(() => this.letGo(), LOOK_MS);
    this.#timer.unref();
  }

  /** Runs work on the current state; undefined while there is none. The state lasts at least as long as the work. */
  async use<T>(work: (state: PinnedState) => T | Promise<T>): Promise<T | undefined> {
    this.letGo();
    this.#pinning ??= this.#current().finally(() => {
      this.#pinning = undefined;
    });
    const pin = await this.#pinning;
    // It may have ended while this waited for its turn.
    if (!pin || pin !== this.#pin || this.#isClosed) return undefined;
    pin.users += 1;
    pin.usedAtMs = this.#nowMs();
    try {
      return await work(pin.state);
    } finally {
      pin.users -= 1;
      if (pin !== this.#pin && pin.users === 0) end(pin);
    }
  }

  /** Ends a state that has lasted too long. */
  letGo(): void {
    const pin = this.#pin;
    if (!pin) return;
    const nowMs = this.#nowMs();
    const isOver =
      nowMs - pin.sinceMs > MAX_AGE_MS ||
      nowMs - pin.usedAtMs > MAX_IDLE_MS ||
      this.#deps.logBytes() > MAX_LOG_BYTES;
    if (isOver) this.#drop(pin);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    if (this.#pin) this.#drop(this.#pin);
  }

  #drop(pin: Pin): void {
    this.#pin = undefined;
    this.#endedAtMs = this.#nowMs();
    if (pin.users === 0) end(pin);
  }

  async #current(): Promise<Pin | undefined> {
    if (this.#pin) return this.#pin;
    if (this.#isClosed || this.#nowMs() - this.#endedAtMs < PAUSE_MS) return undefined;
    const { open, network, onFault } = this.#deps;
    const waitMs = this.#deps.waitMs ?? Bun.sleep;
    let db: IndexDatabase | undefined;
    let pin: Pin | undefined;
    try {
      db = open();
      for (let tries = 0; tries < MAX_TRIES && !this.#isClosed; tries++) {
        db.sqlite.exec("BEGIN");
        const heads = provenHeads(db);
        const chunks = heads && (await this.#chunksOf(heads));
        if (heads && chunks && !this.#isClosed) {
          const reader = new SnapshotReader({ db, network, shards: heads.size });
          const nowMs = this.#nowMs();
          pin = { db, state: { heads, chunks, reader }, sinceMs: nowMs, usedAtMs: nowMs, users: 0 };
          this.#pin = pin;
          return pin;
        }
        db.sqlite.exec("ROLLBACK");
        await waitMs(TRY_MS);
      }
    } catch (cause) {
      onFault(cause);
    } finally {
      if (!pin) {
        this.#endedAtMs = this.#nowMs();
        db?.[Symbol.dispose]();
      }
    }
    return undefined;
  }

  async #chunksOf(heads: ReadonlyMap<number, ChainHead>): Promise<Map<number, SignedChunk> | undefined> {
    const chunks = new Map<number, SignedChunk>();
    for (const [shard, { height, hash }] of heads) {
      const chunk = await this.#deps.chunkOf(shard, height);
      if (!chunk || Buffer.compare(chunk.hash, hash) !== 0) return undefined;
      chunks.set(shard, chunk);
    }
    return chunks;
  }
}

/** Returns the heads of the data shards, if the index has exactly the state that each of them signs. */
function provenHeads(db: IndexDatabase): Map<number, ChainHead> | undefined {
  if (!areRootsKept(db)) return undefined;
  const positions = new UpstreamPositions(db);
  const heads = new Map<number, ChainHead>();
  for (let shard = 1; shard <= shardCount(db); shard++) {
    const head = chainHeadOf(db, shard);
    const { provenHeight, mismatchHeight } = shardProof(db, shard);
    const isProven =
      head !== undefined &&
      head.certified === head.height &&
      provenHeight === head.height &&
      mismatchHeight === null &&
      positions.applied(shard) === head.height &&
      !isAnyDirty(db, shard);
    if (!isProven) return undefined;
    heads.set(shard, head);
  }
  return heads.size > 0 ? heads : undefined;
}

function end({ db }: Pin): void {
  db.sqlite.exec("ROLLBACK");
  db[Symbol.dispose]();
}
