import { useEffect, useState } from "preact/hooks";

const SAVE_AFTER_MS = 300;

function stored<T>(key: string): T | undefined {
  try {
    const text = sessionStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

/**
 * The unsent content of a form, kept for the tab: it survives a reload and an update of the node. Never of a secret. `discard` forgets
 * it, once it was sent.
 */
export function useDraft<T>(
  name: string,
  initial: () => T,
): { readonly value: T; set(value: T): void; discard(): void } {
  const key = `draft:${name}`;
  const [value, set] = useState<T>(() => stored<T>(key) ?? initial());
  const [isTouched, setTouched] = useState(false);
  useEffect(() => {
    if (!isTouched) return;
    const timer = setTimeout(() => {
      try {
        sessionStorage.setItem(key, JSON.stringify(value));
      } catch {
        // A browser that stores nothing forgets the draft with the page.
      }
    }, SAVE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [key, value, isTouched]);
  return {
    value,
    set(next) {
      setTouched(true);
      set(next);
    },
    discard() {
      setTouched(false);
      try {
        sessionStorage.removeItem(key);
      } catch {
        // Nothing was stored.
      }
    },
  };
}

/** Leaves a draft for a form of another page of this tab. Returns whether the browser kept it. */
export function leaveDraft(name: string, value: unknown): boolean {
  try {
    sessionStorage.setItem(`draft:${name}`, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
