import { err, ok, type Result } from "../lib/result.ts";
import type { SignedMessage } from "../protocol/message/signed-message.ts";
import type { MessageData } from "../protocol/wire/generated/message.ts";
import { needsOnChainKey, permits } from "./permissions.ts";
import type { RequestOrigin, SignerStates } from "./signer-states.ts";
import type { SignerStore } from "./store/signer-store.ts";
import type { Vault } from "./vault.ts";

/**
 * Why a signer does not sign. `not-on-chain`: the network takes such messages from keys on chain only, and this one is gasless. `unknown`: there is none for this owner, or it is another owner's. `locked`: the node does not
 * have the master key.
 */
export type SigningRefusal = "unknown" | "not-approved" | "out-of-scope" | "not-on-chain" | "locked";

/** A signer that its user has approved, for the owner that asked for it. */
export interface ApprovedSigner {
  readonly signerUuid: string;
  /** The user. */
  readonly fid: number;
  /** Why the signer does not sign messages of a type; undefined if it does. */
  refusalOf(type: number): SigningRefusal | undefined;
  /**
   * Encodes and signs message data of the user.
   *
   * @throws RangeError for data of another fid.
   */
  sign(data: MessageData): Result<SignedMessage, SigningRefusal>;
}

/** Signs for users, on the thread that has the vault. It checks each request by itself: owner, approval and permission. */
export interface Signing {
  /** Finds a signer that may sign now. */
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
