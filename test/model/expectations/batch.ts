import { type Batch, type ExpectationContext, fidOf } from "../expectation.ts";
import { ascending, newestFirst, type View } from "../view.ts";
import { idRegistrations } from "./registry.ts";

/** Section 4.11. */
export function batchExpectations({ view, fids }: ExpectationContext): Batch[] {
  const numbers = fids.map(fidOf).filter((fid) => fid > 0);
  const batch = (
    path: string,
    of: (view: View, fid: number) => unknown,
    requested: readonly number[],
  ): Batch => ({
    kind: "batch",
    path: `/batch/${path}`,
    fids: requested,
    body: Object.fromEntries(requested.map((fid) => [String(fid), of(view, fid)])),
  });
  return [numbers, numbers.slice(0, 1), [], [...numbers, ...numbers]].flatMap((requested) => [
    batch("following", following, requested),
    batch("reactions", reactions, requested),
    batch("cast-interactions", castInteractions, requested),
    batch("signers", signers, requested),
    batch("id-registrations", idRegistrations, requested),
  ]);
}

function following(view: View, fid: number) {
  return view.links
    .filter((link) => link.fid === fid && link.type === "follow")
    .sort((a, b) => b.at - a.at || b.target - a.target)
    .map(({ target, at }) => ({ fid: target, followed_at: new Date(at * 1000).toISOString() }));
}

/** The authors of the live casts that the fid liked or recasted. */
function reactions(view: View, fid: number) {
  return view.reactions
    .filter((reaction) => reaction.fid === fid && view.castOf(reaction.target))
    .sort((a, b) => newestFirst(a, b))
    .map(({ target, at }) => ({ target_fid: target?.fid, timestamp: at }));
}

/** Live casts of others that the fid liked, recasted or replied to, sorted by the newest act on each. */
function castInteractions(view: View, fid: number) {
  return view.casts
    .filter((cast) => cast.fid !== fid)
    .flatMap((cast) => {
      const reacted = view.reactionsTo(cast).filter((reaction) => reaction.fid === fid);
      const replies = view.repliesTo(cast).filter((reply) => reply.fid === fid);
      const acts = [...reacted, ...replies];
      if (acts.length === 0) return [];
      const entry = {
        hash: cast.hash,
        liked: reacted.some(({ type }) => type === "like"),
        recasted: reacted.some(({ type }) => type === "recast"),
        replied: replies.length > 0,
      };
      return acts
        .sort((a, b) => newestFirst(a, b))
        .slice(0, 1)
        .map((newest) => ({ newest, entry }));
    })
    .sort((a, b) => newestFirst(a.newest, b.newest))
    .map(({ entry }) => entry);
}

/** Keys whose latest event is an add, oldest first. */
function signers(view: View, fid: number) {
  return view.network
    .keysOf(fid)
    .filter(({ isReset }) => !isReset)
    .map(({ key, add, keyType, metadataType }) => ({
      signer: key,
      created_at: add.blockTimestamp,
      key_type: keyType,
      metadata_type: metadataType,
    }))
    .sort((a, b) => a.created_at - b.created_at || ascending(a.signer, b.signer));
}
