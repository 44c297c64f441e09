import { err, ok, type Result } from "../lib/result.ts";
import type { SignedMessage } from "../protocol/message/signed-message.ts";
import type { MessageData } from "../protocol/wire/generated/message.ts";
import { needsOnChainKey, permits } from "./permissions.ts";
import type { RequestOrigin, SignerStates } from "./signer-states.ts";
import type { SignerStore } from "./store/signer-store.ts";
import type { Vault } from "./vault.ts";

/**
 * Reason why a signer does not sign. `not-on-chain`: the network accepts such messages only from keys on chain, and this key is gasless.
 * `unknown`: the signer does not exist or has another owner. `locked`: the node does not have the master key.
 */
export type SigningRefusal = "unknown" | "not-approved" | "out-of-scope" | "not-on-chain" | "locked";

/** A signer that its user has approved, for the owner that requested it. */
export interface ApprovedSigner {
  readonly signerUuid: string;
  /** The user who approved it. */
  readonly fid: number;
  /** Returns why the signer does not sign messages of a type; undefined if it does. */
  refusalOf(type: number): SigningRefusal | undefined;
  /**
   * Encodes and signs message data of the user.
   *
   * @throws RangeError if the data has another fid.
   */
  sign(data: MessageData): Result<SignedMessage, SigningRefusal>;
}

/** Signs for users on the thread that owns the vault. Checks owner, approval and permission of each request itself. */
export interface Signing {
  /** Returns a signer that may sign now. */
  find(
    request: { readonly signerUuid: string; readonly ownerFid: number } & RequestOrigin,
  ): Promise<Result<ApprovedSigner, SigningRefusal>>;
}

export function createSigning({
  store,
  states,
  vault,
}: {
  readonly store: Pick<SignerStore, "find">;
  readonly states: SignerStates;
  /** Undefined without a master key. */
  readonly vault: Vault | undefined;
}): Signing {
  return {
    async find({ signerUuid, ownerFid, ...origin }) {
      const stored = await store.find(signerUuid);
      if (stored?.ownerFid !== ownerFid) return err("unknown");
      const { signer, state } = await states.see(stored, origin);
      const { status, fid } = state;
      if (status !== "approved" || fid === null) return err("not-approved");
      if (!vault?.knows(signer.keyId)) return err("locked");
      const refusalOf = (type: number) => {
        if (!permits(signer.permissions, type)) return "out-of-scope";
        return needsOnChainKey(type) && state.expiresAt !== null ? "not-on-chain" : undefined;
      };
      return ok({
        signerUuid,
        fid,
        refusalOf,
        sign(data) {
          if (data.fid !== fid)
            throw new RangeError(`signer of fid ${fid} was asked to sign for fid ${data.fid}`);
          const refusal = refusalOf(data.type);
          return refusal ? err(refusal) : ok(vault.sign(signer, data));
        },
      });
    },
  };
}
