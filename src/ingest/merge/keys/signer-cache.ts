import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { KEY_TYPE_ED25519 } from "../../../protocol/validate/chain/gasless-key.ts";
import { SignerEventType } from "../../../protocol/wire/generated/on-chain.ts";

const MAX_CACHED_KEYS = 20_000;

/** The state of a key in the index, as far as the writer has read it. */
interface KnownSigner {
  /** The registered fid for which it is an active on-chain key. */
  activeFid?: number;
  isNotGasless?: boolean;
}

/**
 * Keys that the writer found to be active on-chain keys of registered fids, and keys that are not gasless. Both are
 * discarded when an on-chain event or a gasless key is merged or removed.
 */
export class SignerCache {
  readonly #signers = new Map<string, KnownSigner>();
  /** One message looks up its signer several times. */
  #lastKey: Uint8Array | undefined;
  #last: KnownSigner = {};

  /** Reports whether the key is known to be an active on-chain key of this registered fid. */
  isActive(fid: number, key: Uint8Array): boolean {
    return this.#of(key).activeFid === fid;
  }

  addActive(fid: number, key: Uint8Array): void {
    this.#of(key).activeFid = fid;
  }

  /** Reports whether the key is known not to be a gasless key. */
  isNotGasless(key: Uint8Array): boolean {
    return this.#of(key).isNotGasless === true;
  }

  addNotGasless(key: Uint8Array): void {
    this.#of(key).isNotGasless = true;
  }

  clear(): void {
    this.#signers.clear();
    this.#lastKey = undefined;
  }

  #of(key: Uint8Array): KnownSigner {
    if (key === this.#lastKey) return this.#last;
    const name = Buffer.prototype.latin1Slice.call(key);
    let signer = this.#signers.get(name);
    if (!signer) {
      if (this.#signers.size >= MAX_CACHED_KEYS) this.#signers.clear();
      signer = {};
      this.#signers.set(name, signer);
    }
    this.#lastKey = key;
    this.#last = signer;
    return signer;
  }
}

const signerOf = statement<{ state: number; keyType: number }, [fid: number, key: Uint8Array]>(
  "on-chain-keys.signer-of",
  "SELECT state, key_type AS keyType FROM signers WHERE fid = ? AND key = ?",
);

/**
 * Reports whether an on-chain key may sign messages of `fid`: its latest event is an add. After an admin reset the reference
 * node finds the key's add again, so the key is active as before. A removed key is not active.
 */
export function isActiveOnChainKey(db: IndexDatabase, fid: number, key: Uint8Array): boolean {
  const signer = db.get(signerOf, fid, key);
  // The type is that of its add: a key that was never added has none.
  return (
    signer?.keyType === KEY_TYPE_ED25519 &&
    (signer.state === SignerEventType.SIGNER_EVENT_TYPE_ADD ||
      signer.state === SignerEventType.SIGNER_EVENT_TYPE_ADMIN_RESET)
  );
}
