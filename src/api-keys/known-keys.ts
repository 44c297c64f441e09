import { timingSafeEqual } from "node:crypto";
import type { ApiKeyCaller } from "../http/caller.ts";
import type { ApiKey } from "./api-key-store.ts";

/** The cache is cleared when it is full. */
const MAX_KEYS = 4_096;

/** What the store said of a key. */
export interface KnownKey {
  readonly caller: ApiKeyCaller;
  readonly key: Pick<ApiKey, "active" | "custody" | "ownerFid">;
  /** When the key or its secret expires, unix seconds; null for never. */
  readonly expiresAt: number | null;
  /** Before the store was asked. */
  readonly epoch: number;
  /** The same, monotonic, ms. */
  readonly askedAtMs: number;
}

/** Valid keys by their text. */
export class KnownKeys {
  readonly #keys = new Map<bigint | number, KnownKey & { readonly text: Buffer }>();
  /** No client can choose texts that share an entry. */
  readonly #seed = crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n;

  /** The entry of a text, if the store was asked in this epoch. */
  find(text: string, epoch: number): KnownKey | undefined {
    const known = this.#keys.get(Bun.hash(text, this.#seed));
    if (known === undefined || known.epoch !== epoch) return undefined;
    const bytes = Buffer.from(text);
    return bytes.byteLength === known.text.byteLength && timingSafeEqual(bytes, known.text)
      ? known
      : undefined;
  }

  add(text: string, known: KnownKey): void {
    if (this.#keys.size >= MAX_KEYS) this.#keys.clear();
    this.#keys.set(Bun.hash(text, this.#seed), { ...known, text: Buffer.from(text) });
  }

  delete(text: string): void {
    this.#keys.delete(Bun.hash(text, this.#seed));
  }
}
