import { useState } from "preact/hooks";

function stored<T>(key: string): T | undefined {
  try {
    const text = sessionStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

/**
 * The unsent content of a form, stored for the tab: it survives a reload and an update of the node. Never of a secret. `discard` forgets
 * it, once it was sent.
 */
export function useDraft<T>(
  name: string,
  initial: () => T,
): { readonly value: T; set(value: T): void; discard(): void } {
  const key = `draft:${name}`;
  const [value, setValue] = useState<T>(() => stored<T>(key) ?? initial());
  return {
    value,
    set(next) {
      setValue(next);
      // At once: a reload may follow.
      store(key, next);
    },
    discard() {
      try {
        sessionStorage.removeItem(key);
      } catch {
        // Nothing was stored.
      }
    },
  };
}

/** Leaves a draft for a form of another page of this tab. Returns whether the browser stored it. */
export const leaveDraft = (name: string, value: unknown) => store(`draft:${name}`, value);

/** Returns whether the browser stored it; one that stores nothing forgets the draft with the page. */
function store(key: string, value: unknown): boolean {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
