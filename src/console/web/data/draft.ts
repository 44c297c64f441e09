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
 * The unsent content of a form, stored for the tab, so that it survives a reload and an update of the node. Must not contain secrets.
 * `discard` deletes it after it was sent.
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
      // Stored immediately, because a reload may follow.
      store(key, next);
    },
    discard() {
      try {
        sessionStorage.removeItem(key);
      } catch {
        // Nothing had been stored.
      }
    },
  };
}

/** Stores a draft for a form on another page of this tab. Returns whether the browser stored it. */
export const leaveDraft = (name: string, value: unknown) => store(`draft:${name}`, value);

/** Returns whether the browser stored it; otherwise the draft is lost with the page. */
function store(key: string, value: unknown): boolean {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
