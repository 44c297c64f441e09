import { memoizeJson } from "../../lib/json-text.ts";

/**
 * Makes a presentation that remembers what it last made of a state, and answers it again while every other part that went
 * into it is the very same. States are replaced when what they hold changes, so the same state says the same. What is
 * answered is shared by answers, along with its JSON: nobody may change it.
 *
 * @param present pure; makes an object of the state and its parts.
 */
export function memoizePresenter<
  State extends object,
  Parts extends readonly unknown[],
  Shown extends object,
>(present: (state: State, ...parts: Parts) => Shown): (state: State, ...parts: Parts) => Shown {
  const last = new WeakMap<State, { readonly parts: Parts; readonly shown: Shown }>();
  return (state, ...parts) => {
    const kept = last.get(state);
    if (kept && areSame(kept.parts, parts)) return kept.shown;
    const shown = memoizeJson(present(state, ...parts));
    last.set(state, { parts, shown });
    return shown;
  };
}

/** Parts are compared by identity, lists of parts by that of their members. */
function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  if (some.length !== others.length) return false;
  for (let at = 0; at < some.length; at++) {
    const [a, b] = [some[at], others[at]];
    if (a !== b && !(Array.isArray(a) && Array.isArray(b) && areSame(a, b))) return false;
  }
  return true;
}
