import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { NoncePurpose, SignInNonceStore } from "./nonce-store.ts";

/** Lifetime of a nonce, in seconds. */
export const NONCE_SECS = 600;

const KEY_BYTES = 32;
const RANDOM_BYTES = 8;
const TIME_BYTES = 5;
const TAG_BYTES = 10;
const BYTES = RANDOM_BYTES + TIME_BYTES + TAG_BYTES;
const CHARS = 32;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = BigInt(ALPHABET.length);
const TEXT = /^[0-9A-Za-z]{32}$/;
/** How long a thread caches the key. The store rejects a nonce of an older key. */
const KEY_AGE_MS = 10_000;

/** Sign-in nonces, each of which can be used once across all nodes of a state. */
export type SignInNonces = ReturnType<typeof createSignInNonces>;

/**
 * Creates the nonces: random bytes and a time, authenticated with a key of the state. A state that was restored from a backup gets a new
 * key, which invalidates all earlier nonces.
 *
 * @param clock the clock of the state. Its jumps neither end nor revive a nonce.
 */
export function createSignInNonces({
  store,
  clock,
}: {
  readonly store: SignInNonceStore;
  readonly clock: Clock;
}) {
  let known: { readonly key: Uint8Array; readonly readAtMs: number } | undefined;

  async function currentKey(): Promise<Uint8Array> {
    if (known && performance.now() - known.readAtMs < KEY_AGE_MS) return known.key;
    const key = await store.key(new Uint8Array(randomBytes(KEY_BYTES)));
    known = { key, readAtMs: performance.now() };
    return key;
  }

  /** Returns when a nonce expires. Undefined unless it was made with the key and is valid now. */
  function expiryOf(key: Uint8Array, purpose: NoncePurpose, nonce: string): number | undefined {
    const bytes = decode(nonce);
    if (!bytes) return undefined;
    const body = bytes.subarray(0, RANDOM_BYTES + TIME_BYTES);
    if (!timingSafeEqual(tagOf(key, purpose, body), bytes.subarray(body.length))) return undefined;
    const expiresAt = Buffer.from(body).readUIntBE(RANDOM_BYTES, TIME_BYTES);
    return expiresAt >= nowSecs(clock) ? expiresAt : undefined;
  }

  return {
    /** Creates a nonce of 32 alphanumeric characters. It is not stored until it is spent. */
    async issue(purpose: NoncePurpose): Promise<string> {
      const key = await currentKey();
      const body = Buffer.alloc(RANDOM_BYTES + TIME_BYTES);
      randomBytes(RANDOM_BYTES).copy(body);
      body.writeUIntBE(nowSecs(clock) + NONCE_SECS, RANDOM_BYTES, TIME_BYTES);
      return encode(Buffer.concat([body, tagOf(key, purpose, body)]));
    },

    /** Reports whether this service issued the nonce and it has not expired. It may already be spent. */
    isOurs: async (purpose: NoncePurpose, nonce: string): Promise<boolean> =>
      expiryOf(await currentKey(), purpose, nonce) !== undefined,

    /** Spends a nonce. Returns true to exactly one of concurrent calls on all nodes, and always false after it has expired. */
    async spend(purpose: NoncePurpose, nonce: string): Promise<boolean> {
      const key = await currentKey();
      const expiresAt = expiryOf(key, purpose, nonce);
      if (expiresAt !== undefined && (await store.spend({ nonce, purpose, expiresAt }, key))) return true;
      // Another node may have replaced the key.
      known = undefined;
      return false;
    },
  };
}

function tagOf(key: Uint8Array, purpose: NoncePurpose, body: Uint8Array): Uint8Array {
  return createHmac("sha256", key).update(`${purpose}\0`).update(body).digest().subarray(0, TAG_BYTES);
}

function encode(bytes: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  let text = "";
  for (let at = 0; at < CHARS; at += 1) {
    text = `${ALPHABET[Number(rest % BASE)]}${text}`;
    rest /= BASE;
  }
  return text;
}

function decode(text: string): Uint8Array | undefined {
  if (!TEXT.test(text)) return undefined;
  let value = 0n;
  for (const char of text) value = value * BASE + BigInt(ALPHABET.indexOf(char));
  const hex = value.toString(16).padStart(BYTES * 2, "0");
  return hex.length === BYTES * 2 ? new Uint8Array(Buffer.from(hex, "hex")) : undefined;
}
