import { randomBytes } from "node:crypto";
import { buildMessage, type Ed25519Key, ed25519KeyFromSeed } from "../protocol/message/build-message.ts";
import type { SignedMessage } from "../protocol/message/signed-message.ts";
import type { MessageData } from "../protocol/wire/generated/message.ts";
import type { MasterKey } from "../vault/master-key.ts";
import { createSealer } from "../vault/sealer.ts";
import type { ManagedSigner, SealedSeed, SignerStore } from "./store/signer-store.ts";

type Sealed = Pick<ManagedSigner, "signerUuid" | "publicKey" | "sealed" | "keyId">;
export type NewKey = SealedSeed & { readonly publicKey: Uint8Array };

/**
 * The private keys of managed signers. Only the thread that signs has one. A seed is open for as long as one call lasts, and is
 * zeroed after it; the runtime may hold copies of the parsed key until it collects them.
 */
export type Vault = ReturnType<typeof createVault>;

const SEED_BYTES = 32;

/**
 * Creates the vault. A seed is bound to the signer's id, its public key and the id of the master key: a sealed seed in the row of
 * another signer does not open.
 *
 * @param keys the current master key, then previous ones.
 */
export function createVault(keys: readonly [MasterKey, ...MasterKey[]]) {
  const sealer = createSealer(keys, "svc signer seed 1");

  const sealed = (signerUuid: string, publicKey: Uint8Array, seed: Uint8Array): SealedSeed =>
    sealer.seal(holderOf(signerUuid, publicKey), seed);

  /** Seals a given seed of 32 bytes for a signer. The caller zeroes it. */
  function seal(signerUuid: string, seed: Uint8Array): NewKey {
    const { publicKey } = ed25519KeyFromSeed(seed);
    return { publicKey, ...sealed(signerUuid, publicKey, seed) };
  }

  /** Opens a seed. The caller zeroes it. */
  function open({ signerUuid, publicKey, ...box }: Sealed): Uint8Array {
    try {
      const seed = sealer.open(holderOf(signerUuid, publicKey), box);
      if (seed.length !== SEED_BYTES) throw new Error("a seed has another length");
      return seed;
    } catch (cause) {
      throw new Error(`the seed of signer ${signerUuid} does not open under the master key ${box.keyId}`, {
        cause,
      });
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
    /** The id of the master key that new seeds are sealed under. */
    keyId: sealer.keyId,
    /** Whether seeds under this master key can be opened. */
    knows: sealer.knows,
    /** Creates a key pair for a signer. */
    create(signerUuid: string): NewKey {
      const seed = new Uint8Array(randomBytes(SEED_BYTES));
      try {
        return seal(signerUuid, seed);
      } finally {
        seed.fill(0);
      }
    },
    seal,
    /** Encodes and signs message data with a signer's key. */
    sign: (signer: Sealed, data: MessageData): SignedMessage =>
      withSeed(signer, (seed) => {
        const key: Ed25519Key = ed25519KeyFromSeed(seed);
        return buildMessage(data, key);
      }),
    open,
    /** Seals a seed again under the current master key. */
    reseal: (signer: Sealed): SealedSeed =>
      withSeed(signer, (seed) => sealed(signer.signerUuid, signer.publicKey, seed)),
  };
}

function holderOf(signerUuid: string, publicKey: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`signer:${signerUuid}`), publicKey]);
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
