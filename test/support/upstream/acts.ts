import { MESSAGE_ACTS } from "./message-acts.ts";
import { REGISTRY_ACTS } from "./registry-acts.ts";
import type { Action, Draft, Person } from "./script.ts";

/** One thing that `who` may do; nothing when there is no occasion for it. */
export type Act = (draft: Draft, who: Person) => Action | Action[] | undefined;

/** How often an act is taken, beside what the others say. */
export type WeightedAct = readonly [weight: number, act: Act];

const ACTS: readonly WeightedAct[] = [...MESSAGE_ACTS, ...REGISTRY_ACTS];
const WEIGHTS = ACTS.map(([weight]) => weight);
const MAX_ACTIONS = 9;

/** What happens in one second. */
export function nextActions(draft: Draft): Action[] {
  return Array.from({ length: 1 + draft.random.below(MAX_ACTIONS) }, () => {
    const act = ACTS[draft.random.weighted(WEIGHTS)]?.[1];
    return act?.(draft, draft.person()) ?? [];
  }).flat();
}
