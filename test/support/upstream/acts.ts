import { CHANNEL_ACTS } from "./channel-acts.ts";
import { MESSAGE_ACTS } from "./message-acts.ts";
import { REGISTRY_ACTS } from "./registry-acts.ts";
import { type Action, type Draft, isOfShardZero, type Person } from "./script.ts";

/** An action of `who`; does nothing if it is not possible. */
export type Act = (draft: Draft, who: Person) => Action | Action[] | undefined;

/** How often an act is chosen, relative to the others. */
export type WeightedAct = readonly [weight: number, act: Act];

const ACTS: readonly WeightedAct[] = [...MESSAGE_ACTS, ...REGISTRY_ACTS];
const ACTS_WITH_CHANNELS: readonly WeightedAct[] = [...ACTS, ...CHANNEL_ACTS];
const MAX_ACTIONS = 9;

/** Plays one second. */
export function nextActions(draft: Draft, acts = ACTS): Action[] {
  const weights = acts.map(([weight]) => weight);
  return Array.from({ length: 1 + draft.random.below(MAX_ACTIONS) }, () => {
    const act = acts[draft.random.weighted(weights)]?.[1];
    return act?.(draft, draft.person()) ?? [];
  }).flat();
}

/**
 * Plays one second since engine V21. Lends and keys of shard 0 are left out: what data shards replay late would change what their
 * own messages meet.
 */
export function nextActionsWithChannels(draft: Draft): Action[] {
  return nextActions(draft, ACTS_WITH_CHANNELS).filter((action) => !isOfShardZero(action));
}
