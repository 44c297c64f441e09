import { timingSafeEqual } from "node:crypto";
import type { ApiKeyCaller } from "../http/caller.ts";

/** How long a read may use a key without asking the store. */
export const FRESH_MS = 2_000;
/** How long a read may use it while the store does not answer. */
const USABLE_MS = 300_000;
/** The cache is cleared when it is full. */
const MAX_KEYS = 4_096;

interface KnownKey {
  readonly text: Buffer;
  readonly caller: ApiKeyCaller;
  readonly epoch: number;
  readonly foundAtMs: number;
}

/** Valid keys by their text. Times are monotonic, ms. */
export class KnownKeys {
  readonly #keys = new Map<bigint | number, KnownKey>();
  /** No client can choose texts that share an entry. */
  readonly #seed = crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n;

  /** The entry of a text that was found in this epoch. */
  #find(text: string, epoch: number): KnownKey | undefined {
    const known = this.#keys.get(Bun.hash(text, this.#seed));
    if (known === undefined || known.epoch !== epoch) return undefined;
    const bytes = Buffer.from(text);
    return bytes.byteLength === known.text.byteLength && timingSafeEqual(bytes, known.text)
      ? known
      : undefined;
  }

  /** Who sends the key, if that is known well enough for a read. */
  fresh(text: string, { epoch, nowMs }: { readonly epoch: number; readonly nowMs: number }) {
    const known = this.#find(text, epoch);
    return known !== undefined && nowMs - known.foundAtMs < FRESH_MS ? known.caller : undefined;
  }

  /** The same while the store does not answer. */
  usable(text: string, { epoch, nowMs }: { readonly epoch: number; readonly nowMs: number }) {
    const known = this.#find(text, epoch);
    return known !== undefined && nowMs - known.foundAtMs < USABLE_MS ? known.caller : undefined;
  }

  /** @param at the epoch and the time before the store was asked. */
  add(text: string, caller: ApiKeyCaller, at: { readonly epoch: number; readonly nowMs: number }): void {
    if (this.#keys.size >= MAX_KEYS) this.#keys.clear();
    this.#keys.set(Bun.hash(text, this.#seed), {
      text: Buffer.from(text),
      caller,
      epoch: at.epoch,
      foundAtMs: at.nowMs,
    });
  }

  delete(text: string): void {
    this.#keys.delete(Bun.hash(text, this.#seed));
  }
}
