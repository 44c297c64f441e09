import { memoizeJson } from "../../lib/json-text.ts";

/**
 * Memoizes a presenter: caches the last object that it built from a state, and returns it while all other parts are
 * identical. A state object is replaced when its contents change, so an identical state has identical contents. Responses
 * share the returned object and its JSON, so it must not be modified.
 *
 * Nothing that depends on a viewer may be a part: each viewer would replace the object of all others.
 *
 * @param present a pure function that builds an object from the state and its parts.
 */
export function memoizePresenter<
  State extends object,
  Parts extends readonly unknown[],
  Shown extends object,
>(present: (state: State, ...parts: Parts) => Shown): (state: State, ...parts: Parts) => Shown {
  const last = new WeakMap<State, { readonly parts: Parts; readonly shown: Shown }>();
  return (state, ...parts) => {
    const cached = last.get(state);
    if (cached && areSame(cached.parts, parts)) return cached.shown;
    const shown = memoizeJson(present(state, ...parts));
    last.set(state, { parts, shown });
    return shown;
  };
}

/**
 * Returns `present` with its last result for each state, valid for hydrations of the same version: most reads follow no
 * commit, and then the parts of what is shown need not even be compared. The result must depend on the state, the index and
 * the time alone: not on a viewer, and not on what else the read has loaded.
 */
export function oncePerVersion<State extends object, Versioned extends { readonly version: number }, Shown>(
  present: (state: State, hydration: Versioned) => Shown,
): (state: State, hydration: Versioned) => Shown {
  const last = new WeakMap<State, { readonly version: number; readonly shown: Shown }>();
  return (state, hydration) => {
    const cached = last.get(state);
    if (cached?.version === hydration.version) return cached.shown;
    const shown = present(state, hydration);
    last.set(state, { version: hydration.version, shown });
    return shown;
  };
}

/** Compares parts by identity, and lists of parts by the identity of their members. */
function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  if (some.length !== others.length) return false;
  for (let at = 0; at < some.length; at++) {
    const [a, b] = [some[at], others[at]];
    if (a !== b && !(Array.isArray(a) && Array.isArray(b) && areSame(a, b))) return false;
  }
  return true;
}
