import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { buildMessage, type Ed25519Key, ed25519KeyFromSeed } from "../protocol/build-message.ts";
import type { SignedMessage } from "../protocol/signed-message.ts";
import type { MessageData } from "../protocol/wire/generated/message.ts";
import type { ManagedSigner, SealedSeed, SignerStore } from "./store/signer-store.ts";

const MASTER_BYTES = 32;
const KEY_ID_BYTES = 8;

/** What a key that is derived from a master key is for. Keys of different purposes tell nothing of each other. */
export type KeyPurpose = "svc signer seed 1" | "svc approval token 1";

/** A master key with its id. */
export interface MasterKey {
  /** The first 8 bytes of a digest of the master key, hexadecimal. It is public. */
  readonly keyId: string;
  readonly bytes: Uint8Array;
}

/** Creates the text of a new master key: 64 hexadecimal digits. */
export function createMasterKeyText(): string {
  return randomBytes(MASTER_BYTES).toString("hex");
}

/** Reads a master key from 64 hexadecimal digits, which the settings have checked. */
export function readMasterKey(text: string): MasterKey {
  const bytes = new Uint8Array(Buffer.from(text, "hex"));
  if (bytes.length !== MASTER_BYTES) throw new RangeError(`a master key has ${MASTER_BYTES} bytes`);
  const digest = createHash("sha256").update("svc signer key id").update(bytes).digest();
  return { keyId: digest.subarray(0, KEY_ID_BYTES).toString("hex"), bytes };
}

/** Derives a key of 32 bytes from a master key. */
export function deriveKey({ bytes }: MasterKey, purpose: KeyPurpose): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", bytes, new Uint8Array(0), purpose, 32));
}

type Sealed = Pick<ManagedSigner, "signerUuid" | "publicKey" | "sealed" | "keyId">;
export type NewKey = SealedSeed & { readonly publicKey: Uint8Array };

/**
 * The private keys of managed signers. Only the thread that signs has one. A seed is open for as long as one call lasts, and is
 * zeroed after it; the runtime may hold copies of the parsed key until it collects them.
 */
export interface Vault {
  /** The id of the master key that new seeds are sealed under. */
  readonly keyId: string;
  /** Whether seeds under this master key can be opened. */
  knows(keyId: string): boolean;
  /** Creates a key pair for a signer. */
  create(signerUuid: string): NewKey;
  /** Seals a given seed of 32 bytes for a signer. The caller zeroes it. */
  seal(signerUuid: string, seed: Uint8Array): NewKey;
  /** Encodes and signs message data with a signer's key. */
  sign(signer: Sealed, data: MessageData): SignedMessage;
  /** Opens a seed. The caller zeroes it. */
  open(signer: Sealed): Uint8Array;
  /** Seals a seed again under the current master key. */
  reseal(signer: Sealed): SealedSeed;
}

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEED_BYTES = 32;
const SEALED_BYTES = NONCE_BYTES + SEED_BYTES + TAG_BYTES;

/**
 * Creates the vault. A seed is sealed with AES-256-GCM under a key that is derived from a master key, with a fresh nonce, bound
 * to the signer's id, its public key and the id of the master key: a sealed seed in the row of another signer does not open.
 *
 * @param keys the current master key, then former ones.
 */
export function createVault(keys: readonly [MasterKey, ...MasterKey[]]): Vault {
  const [current] = keys;
  const sealingKeys = new Map(keys.map((key) => [key.keyId, deriveKey(key, "svc signer seed 1")]));

  function sealingKey(keyId: string): Uint8Array {
    const key = sealingKeys.get(keyId);
    if (!key) throw new Error(`the master key ${keyId} is not known`);
    return key;
  }

  function seal(signerUuid: string, seed: Uint8Array): NewKey {
    const { publicKey } = ed25519KeyFromSeed(seed);
    return { publicKey, ...sealed(signerUuid, publicKey, seed) };
  }

  function sealed(signerUuid: string, publicKey: Uint8Array, seed: Uint8Array): SealedSeed {
    const { keyId } = current;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, sealingKey(keyId), nonce);
    cipher.setAAD(associatedData(signerUuid, publicKey, keyId));
    const ciphertext = Buffer.concat([cipher.update(seed), cipher.final()]);
    return { sealed: new Uint8Array(Buffer.concat([nonce, ciphertext, cipher.getAuthTag()])), keyId };
  }

  function open({ signerUuid, publicKey, sealed: box, keyId }: Sealed): Uint8Array {
    if (box.length !== SEALED_BYTES) throw new Error(`the seed of signer ${signerUuid} is damaged`);
    const decipher = createDecipheriv(ALGORITHM, sealingKey(keyId), box.subarray(0, NONCE_BYTES));
    decipher.setAAD(associatedData(signerUuid, publicKey, keyId));
    decipher.setAuthTag(box.subarray(-TAG_BYTES));
    const opened = decipher.update(box.subarray(NONCE_BYTES, -TAG_BYTES));
    try {
      decipher.final();
      return new Uint8Array(opened);
    } catch (cause) {
      throw new Error(`the seed of signer ${signerUuid} does not open under the master key ${keyId}`, {
        cause,
      });
    } finally {
      opened.fill(0);
    }
  }

  /** Runs `work` with a signer's key. */
  function withSeed<T>(signer: Sealed, work: (seed: Uint8Array) => T): T {
    const seed = open(signer);
    try {
      return work(seed);
    } finally {
      seed.fill(0);
    }
  }

  return {
    keyId: current.keyId,
    knows: (keyId) => sealingKeys.has(keyId),
    create(signerUuid) {
      const seed = new Uint8Array(randomBytes(SEED_BYTES));
      try {
        return seal(signerUuid, seed);
      } finally {
        seed.fill(0);
      }
    },
    seal,
    sign: (signer, data) =>
      withSeed(signer, (seed) => {
        const key: Ed25519Key = ed25519KeyFromSeed(seed);
        return buildMessage(data, key);
      }),
    open,
    reseal: (signer) => withSeed(signer, (seed) => sealed(signer.signerUuid, signer.publicKey, seed)),
  };
}

function associatedData(signerUuid: string, publicKey: Uint8Array, keyId: string): Uint8Array {
  return Buffer.concat([Buffer.from(`signer:${signerUuid}`), publicKey, Buffer.from(keyId, "hex")]);
}

interface RekeyDeps {
  readonly store: Pick<SignerStore, "keyUses" | "listByKeyId" | "reseal">;
  readonly vault: Vault;
  readonly signal: AbortSignal;
  /** Asked ahead of each slice: whether this process may seal. Default: always. */
  readonly mayReseal?: () => Promise<boolean>;
  /** Called for a seed that does not open. It stays as it is. */
  readonly onDamaged: (signerUuid: string, cause: unknown) => void;
}

/** Rows of a transaction. */
const SLICE = 500;

/**
 * Seals all seeds that the vault can open again under its current master key, in slices. A seed that changes meanwhile is left to
 * whatever changed it. Returns the number of seeds that were sealed again.
 */
export async function rekey(deps: RekeyDeps): Promise<number> {
  const { store, vault, signal, mayReseal, onDamaged } = deps;
  let count = 0;
  for (const { keyId } of await store.keyUses()) {
    if (keyId === vault.keyId || !vault.knows(keyId)) continue;
    for (let after = 0; !signal.aborted; ) {
      const signers = await store.listByKeyId(keyId, { after, limit: SLICE });
      if (signers.length === 0) break;
      if (mayReseal && !(await mayReseal())) return count;
      const reseals = signers.flatMap((signer) => {
        try {
          return [{ signerUuid: signer.signerUuid, before: signer.sealed, after: vault.reseal(signer) }];
        } catch (cause) {
          onDamaged(signer.signerUuid, cause);
          return [];
        }
      });
      count += await store.reseal(reseals);
      after = signers.at(-1)?.seq ?? after;
    }
  }
  return count;
}
