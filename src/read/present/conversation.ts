import type { Hash } from "../hydrate/casts.ts";
import type { Hydration } from "../hydrate/hydrate.ts";
import { type Cast, presentCast } from "./cast.ts";

/** A cast and the replies below it. */
export interface CastWithReplies {
  readonly cast: Cast;
  readonly replies: CastWithReplies[];
}

/** A cast as a conversation shows it, before its replies are put in; undefined for one that is not live. */
export function presentCastWithoutReplies(hash: Hash, hydration: Hydration): CastWithReplies | undefined {
  const cast = presentCast(hash, hydration);
  return cast && { cast, replies: [] };
}
