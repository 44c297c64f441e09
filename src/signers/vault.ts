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
 * Private keys of managed signers. Only the thread that signs has a vault. A seed is open only during one call and is zeroed afterwards,
 * but the runtime may keep copies of the parsed key until it is garbage collected.
 */
export type Vault = ReturnType<typeof createVault>;

const SEED_BYTES = 32;

/**
 * Creates the vault. A seed is bound to the signer's id, its public key and the id of the master key, so a sealed seed does not open in the
 * row of another signer.
 *
 * @param keys the current master key, then previous ones.
 */
export function createVault(keys: readonly [MasterKey, ...MasterKey[]]) {
  const sealer = createSealer(keys, "svc signer seed 1");

  const sealed = (signerUuid: string, publicKey: Uint8Array, seed: Uint8Array): SealedSeed =>
    sealer.seal(holderOf(signerUuid, publicKey), seed);

  /** Seals a 32-byte seed for a signer. The caller zeroes the seed. */
  function seal(signerUuid: string, seed: Uint8Array): NewKey {
    const { publicKey } = ed25519KeyFromSeed(seed);
    return { publicKey, ...sealed(signerUuid, publicKey, seed) };
  }

  /** Opens a seed. The caller zeroes it. */
  function open({ signerUuid, publicKey, ...box }: Sealed): Uint8Array {
    try {
      const seed = sealer.open(holderOf(signerUuid, publicKey), box);
      if (seed.length !== SEED_BYTES) throw new Error("a seed has the wrong length");
      return seed;
    } catch (cause) {
      throw new Error(`the seed of signer ${signerUuid} does not open under the master key ${box.keyId}`, {
        cause,
      });
    }
  }

  /** Runs `work` with the seed of a signer. */
  function withSeed<T>(signer: Sealed, work: (seed: Uint8Array) => T): T {
    const seed = open(signer);
    try {
      return work(seed);
    } finally {
      seed.fill(0);
    }
  }

  return {
    /** Id of the master key that new seeds are sealed under. */
    keyId: sealer.keyId,
    /** Reports whether seeds under this master key can be opened. */
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
    /** Reseals a seed under the current master key. */
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
  /** Called before each slice to ask whether this process may reseal. Default: always. */
  readonly mayReseal?: () => Promise<boolean>;
  /** Called for a seed that does not open. The seed stays as it is. */
  readonly onDamaged: (signerUuid: string, cause: unknown) => void;
}

/** Rows per transaction. */
const SLICE = 500;

/**
 * Reseals all seeds that the vault can open under its current master key, in slices. Skips a seed that changes in the meantime. Returns
 * the number of resealed seeds.
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
