import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deriveKey, type KeyPurpose, type MasterKey } from "./master-key.ts";

/** A secret, sealed under a master key. */
export interface SealedBytes {
  readonly sealed: Uint8Array;
  /** The id of the master key. */
  readonly keyId: string;
}

/** Seals secrets of one purpose. */
export type Sealer = ReturnType<typeof createSealer>;

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Creates the sealer of a purpose: AES-256-GCM under a key derived from a master key, with a fresh nonce, bound to the holder and the id
 * of the master key.
 *
 * @param keys the current master key, then previous ones.
 */
export function createSealer(keys: readonly [MasterKey, ...MasterKey[]], purpose: KeyPurpose) {
  const [current] = keys;
  const sealingKeys = new Map(keys.map((key) => [key.keyId, deriveKey(key, purpose)]));

  function sealingKey(keyId: string): Uint8Array {
    const key = sealingKeys.get(keyId);
    if (!key) throw new Error(`the master key ${keyId} is not known`);
    return key;
  }

  return {
    /** The id of the master key that seals new secrets. */
    keyId: current.keyId,
    /** Reports whether secrets under this master key can be opened. */
    knows: (keyId: string): boolean => sealingKeys.has(keyId),

    /** Seals a secret for its holder. It can be opened only for the same holder. */
    seal(holder: Uint8Array, secret: Uint8Array): SealedBytes {
      const { keyId } = current;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, sealingKey(keyId), nonce);
      cipher.setAAD(associatedData(holder, keyId));
      const ciphertext = Buffer.concat([cipher.update(secret), cipher.final()]);
      return { sealed: new Uint8Array(Buffer.concat([nonce, ciphertext, cipher.getAuthTag()])), keyId };
    },

    /**
     * Opens a secret. The caller must zero it after use.
     *
     * @throws Error for a damaged secret, one of another holder, and one under an unknown master key.
     */
    open(holder: Uint8Array, { sealed, keyId }: SealedBytes): Uint8Array {
      if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error("a sealed secret is damaged");
      const decipher = createDecipheriv(ALGORITHM, sealingKey(keyId), sealed.subarray(0, NONCE_BYTES));
      decipher.setAAD(associatedData(holder, keyId));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const opened = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
      try {
        decipher.final();
        return new Uint8Array(opened);
      } finally {
        opened.fill(0);
      }
    },
  };
}

function associatedData(holder: Uint8Array, keyId: string): Uint8Array {
  return Buffer.concat([holder, Buffer.from(keyId, "hex")]);
}
