import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Commits, SignedBlock, SignedChunk } from "../../protocol/wire/generated/certificate.ts";
import { isEqual } from "../../trust/certificate.ts";
import type { VerifiedHead } from "../../trust/verify-block.ts";
import { BLOCK_SHARD } from "../positions.ts";
import { type Timings, wait } from "../timings.ts";

/** The subject of a certificate, with its signatures: a block or chunk without its contents, which the header binds. */
export interface SignedHeader {
  readonly header?: unknown;
  readonly hash: Uint8Array;
  readonly commits?: Commits | undefined;
}

/** Two different blocks that validators signed for one shard and height. */
export interface Fork {
  readonly shard: number;
  readonly height: number;
}

/** Number of blocks per shard whose hashes are kept for comparison with those of other nodes. */
const REMEMBERED_HEIGHTS = 512;
/** A shard stops at its first fork, so this limits the directory. */
const MAX_FORKS = 64;
const FILE = /^shard-(\d{1,10})-block-(\d{1,16})-[0-9a-f]{16}\.bin$/;

export interface ForksDeps {
  /** Directory for the certificates; undefined keeps none, and a restart then loses them. */
  readonly dir: string | undefined;
  readonly timings: Pick<Timings, "headPollMs">;
  readonly onFork: (fork: Fork) => void;
}

/**
 * Detects two valid certificates for one shard and height: the validators, or someone with their keys, signed two histories.
 * No rule says which one is the network's, so nothing more of the shard is applied until the operator has decided. Both
 * certificates are kept in `forks/` of the data directory. The shard is followed again once they are moved away, and a
 * restart does not change that.
 */
export class Forks {
  readonly #deps: ForksDeps;
  readonly #known = new Map<number, Map<number, { readonly hash: Uint8Array; readonly bytes: Uint8Array }>>();
  #stopped = new Map<number, Fork>();

  constructor(deps: ForksDeps) {
    this.#deps = deps;
    this.#stopped = this.#read();
  }

  /** Compares a block whose certificate is valid with what other nodes sent for its height. */
  observe({ shard, height, hash }: VerifiedHead, signed: SignedHeader): void {
    const ofShard = this.#known.getOrInsertComputed(shard, () => new Map());
    const known = ofShard.get(height);
    if (known && isEqual(known.hash, hash)) return;
    const bytes = encoded(shard, signed);
    if (known) {
      this.#stop({ shard, height }, [known, { hash, bytes }]);
      return;
    }
    ofShard.set(height, { hash, bytes });
    const [oldest] = ofShard.size > REMEMBERED_HEIGHTS ? ofShard.keys() : [];
    if (oldest !== undefined) ofShard.delete(oldest);
  }

  /** Returns the fork at which a shard has stopped; undefined while it is followed. */
  of(shard: number): Fork | undefined {
    return this.#stopped.get(shard);
  }

  all(): readonly Fork[] {
    return [...this.#stopped.values()];
  }

  /** Waits until the certificates of a stopped shard are moved away, or `signal` aborts. Returns whether it had to wait. */
  async untilClear(shard: number, signal: AbortSignal): Promise<boolean> {
    let hasWaited = false;
    while (this.of(shard) && !signal.aborted) {
      hasWaited = true;
      await wait(this.#deps.timings.headPollMs, signal);
      if (this.#deps.dir === undefined) continue;
      const left = this.#read();
      for (const stopped of this.#stopped.keys()) if (!left.has(stopped)) this.#known.delete(stopped);
      this.#stopped = left;
    }
    return hasWaited;
  }

  #stop(
    fork: Fork,
    certificates: readonly { readonly hash: Uint8Array; readonly bytes: Uint8Array }[],
  ): void {
    if (this.#stopped.has(fork.shard)) return;
    const { dir, onFork } = this.#deps;
    if (dir !== undefined) {
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      for (const { hash, bytes } of certificates) {
        const name = `shard-${fork.shard}-block-${fork.height}-${hash.toHex().slice(0, 16)}.bin`;
        writeFileSync(join(dir, name), bytes, { mode: 0o600 });
      }
    }
    this.#stopped.set(fork.shard, fork);
    onFork(fork);
  }

  #read(): Map<number, Fork> {
    const found = new Map<number, Fork>();
    for (const name of this.#names()) {
      const [, shard, height] = FILE.exec(name) ?? [];
      if (shard !== undefined && found.size < MAX_FORKS)
        found.set(Number(shard), { shard: Number(shard), height: Number(height) });
    }
    return found;
  }

  #names(): readonly string[] {
    const { dir } = this.#deps;
    if (dir === undefined) return [];
    try {
      return readdirSync(dir);
    } catch (cause) {
      if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return [];
      throw cause;
    }
  }
}

function encoded(shard: number, { header, hash, commits }: SignedHeader): Uint8Array {
  return shard === BLOCK_SHARD
    ? SignedBlock.encode(
        SignedBlock.fromPartial({ header: header as SignedBlock["header"], hash, commits, events: [] }),
      ).finish()
    : SignedChunk.encode(
        SignedChunk.fromPartial({ header: header as SignedChunk["header"], hash, commits, transactions: [] }),
      ).finish();
}
