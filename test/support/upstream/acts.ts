import { MESSAGE_ACTS } from "./message-acts.ts";
import { REGISTRY_ACTS } from "./registry-acts.ts";
import type { Action, Draft, Person } from "./script.ts";

/** An action of `who`; does nothing if it is not possible. */
export type Act = (draft: Draft, who: Person) => Action | Action[] | undefined;

/** How often an act is chosen, relative to the others. */
export type WeightedAct = readonly [weight: number, act: Act];

const ACTS: readonly WeightedAct[] = [...MESSAGE_ACTS, ...REGISTRY_ACTS];
const WEIGHTS = ACTS.map(([weight]) => weight);
const MAX_ACTIONS = 9;

/** Plays one second. */
export function nextActions(draft: Draft): Action[] {
  return Array.from({ length: 1 + draft.random.below(MAX_ACTIONS) }, () => {
    const act = ACTS[draft.random.weighted(WEIGHTS)]?.[1];
    return act?.(draft, draft.person()) ?? [];
  }).flat();
}
