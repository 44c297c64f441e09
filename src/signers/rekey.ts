import type { SignerStore } from "./signer-store.ts";
import type { Vault } from "./vault.ts";

export interface RekeyDeps {
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
