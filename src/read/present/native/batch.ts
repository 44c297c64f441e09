import { hex } from "../../hydrate/casts.ts";

/** Presents a follow for the batch reads. Its time is the only one of the native interface in ISO 8601. */
export function presentFollow({ fid, followedAt }: { readonly fid: number; readonly followedAt: number }) {
  return { fid, followed_at: new Date(followedAt * 1000).toISOString() };
}

export function presentReactionTarget(reaction: { readonly targetFid: number; readonly timestamp: number }) {
  return { target_fid: reaction.targetFid, timestamp: reaction.timestamp };
}

export function presentActiveSigner(signer: {
  readonly key: Uint8Array;
  readonly keyType: number;
  readonly metadataType: number;
  readonly addedAt: number;
}) {
  return {
    signer: hex(signer.key),
    created_at: signer.addedAt,
    key_type: signer.keyType,
    metadata_type: signer.metadataType,
  };
}
