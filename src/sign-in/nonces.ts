import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { NoncePurpose, SignInNonceStore } from "./nonce-store.ts";

/** Seconds that a nonce counts. */
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
/** How long a thread keeps the key. A nonce of an older key is refused by the store. */
const KEY_AGE_MS = 10_000;

/** Nonces of sign-ins, which count once on all nodes of a state. */
export type SignInNonces = ReturnType<typeof createSignInNonces>;

/**
 * Creates the nonces: random bytes and a time, with a tag by a key of the state. A state that goes back in time has a new key, so
 * that nonces from before do not count.
 *
 * @param clock of the state: its jumps neither end nor revive a nonce.
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

  /** When a nonce expires; undefined unless it was made with the key and counts now. */
  function expiryOf(key: Uint8Array, purpose: NoncePurpose, nonce: string): number | undefined {
    const bytes = decode(nonce);
    if (!bytes) return undefined;
    const body = bytes.subarray(0, RANDOM_BYTES + TIME_BYTES);
    if (!timingSafeEqual(tagOf(key, purpose, body), bytes.subarray(body.length))) return undefined;
    const expiresAt = Buffer.from(body).readUIntBE(RANDOM_BYTES, TIME_BYTES);
    return expiresAt >= nowSecs(clock) ? expiresAt : undefined;
  }

  return {
    /** Creates a nonce of 32 alphanumerics. It is stored nowhere until it is spent. */
    async issue(purpose: NoncePurpose): Promise<string> {
      const key = await currentKey();
      const body = Buffer.alloc(RANDOM_BYTES + TIME_BYTES);
      randomBytes(RANDOM_BYTES).copy(body);
      body.writeUIntBE(nowSecs(clock) + NONCE_SECS, RANDOM_BYTES, TIME_BYTES);
      return encode(Buffer.concat([body, tagOf(key, purpose, body)]));
    },

    /** Whether the node has issued the nonce, and it has not expired. It may be spent. */
    isOurs: async (purpose: NoncePurpose, nonce: string): Promise<boolean> =>
      expiryOf(await currentKey(), purpose, nonce) !== undefined,

    /** Spends a nonce: true for exactly one of concurrent calls on all nodes, never after its time. */
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
